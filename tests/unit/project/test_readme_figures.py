"""README's figures: how often advice is right stands between its marks and nowhere else, and what is counted is as many."""

import re
from pathlib import Path

import pytest

from tools.documentation import ADVICE_BEGINS, ADVICE_ENDS, with_advice, with_counts

ROOT = Path(__file__).parents[3]


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


def test_rules_and_published_reports_are_as_many_as_it_says() -> None:
    readme = (ROOT / "README.md").read_text()
    assert with_counts(readme) == readme, "script/generate-docs"
    outdated = re.sub(r"\[\d+ rules\]", "[1 rules]", re.sub(r"\d+(?= published)", "2", readme))
    assert outdated != readme
    assert with_counts(outdated) == readme


def test_a_readme_that_counts_nothing_is_told_of() -> None:
    with pytest.raises(ValueError, match="in one place"):
        with_counts("Many rules agree.")
