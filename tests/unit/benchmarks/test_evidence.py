"""What is measured again takes its own place on the page, and nobody else's; files that cannot be written are named."""

from pathlib import Path

import pytest

from benchmarks import evidence
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.experiments.base import experiment_named, experiment_names

FIRST, SECOND, THIRD = (experiment_named(name).title for name in experiment_names()[:3])
PAGE = f"# Evidence\n\nWords.\n\n## {FIRST}\n\nold\n\n## {THIRD}\n\nkept\n\n## Rebuilding\n\n| a |\n"


def test_a_section_takes_the_place_of_the_one_of_its_title() -> None:
    again = evidence.with_section(PAGE, FIRST, [f"## {FIRST}", "", "new", ""])
    assert again == PAGE.replace("old", "new")
    assert evidence.with_section(again, FIRST, [f"## {FIRST}", "", "new", ""]) == again


def test_a_section_that_was_not_there_comes_where_its_experiment_belongs() -> None:
    found = evidence.with_section(PAGE, SECOND, [f"## {SECOND}", "", "new", ""])
    assert found == PAGE.replace(f"## {THIRD}", f"## {SECOND}\n\nnew\n\n## {THIRD}")


def test_a_file_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "PAGE", Path("/dev/full"))
    with pytest.raises(TrialError, match=r"^/dev/full cannot be written: No space left on device"):
        evidence._put("page", {})
