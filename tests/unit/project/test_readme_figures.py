"""README's figures of how often advice is right are put where its marks are, and nowhere else."""

import pytest

from tools.documentation import ADVICE_BEGINS, ADVICE_ENDS, with_advice


def test_the_figures_stand_between_the_marks_and_the_rest_stays() -> None:
    readme = f"before\n{ADVICE_BEGINS}old\n{ADVICE_ENDS}after\n"
    text = with_advice(readme)
    assert text.startswith(f"before\n{ADVICE_BEGINS}\n|")
    assert text.endswith(f"|\n\n{ADVICE_ENDS}after\n")
    assert "| myisam-advisor |" in text
    assert with_advice(text) == text


@pytest.mark.parametrize("readme", ["none", f"{ADVICE_BEGINS}no end", f"no begin{ADVICE_ENDS}", f"{ADVICE_BEGINS}{ADVICE_ENDS}{ADVICE_BEGINS}{ADVICE_ENDS}"])
def test_without_its_marks_nothing_of_it_is_lost(readme: str) -> None:
    with pytest.raises(ValueError, match="once each"):
        with_advice(readme)
