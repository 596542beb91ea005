"""What is measured again takes its own place on the page, and nobody else's; files that cannot be written are named."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks import evidence
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.experiments.base import experiment_named, experiment_names
from myisam_advisor.trial.results import TrialResult, WorkloadResult
from myisam_exporter.errors import UserError

FIRST, SECOND, THIRD = (experiment_named(name).title for name in experiment_names()[:3])
PAGE = f"# Evidence\n\nWords.\n\n## {FIRST}\n\nold\n\n## {THIRD}\n\nkept\n\n## Rebuilding\n\n| a |\n"


def test_a_section_takes_the_place_of_the_one_of_its_title() -> None:
    again = evidence.with_section(PAGE, FIRST, [f"## {FIRST}", "", "new", ""])
    assert again == PAGE.replace("old", "new")
    assert evidence.with_section(again, FIRST, [f"## {FIRST}", "", "new", ""]) == again


def test_a_section_that_was_not_there_comes_where_its_experiment_belongs() -> None:
    found = evidence.with_section(PAGE, SECOND, [f"## {SECOND}", "", "new", ""])
    assert found == PAGE.replace(f"## {THIRD}", f"## {SECOND}\n\nnew\n\n## {THIRD}")


def test_where_a_file_cannot_be_written_it_is_named_and_what_stood_there_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page, data = tmp_path / "evidence.md", tmp_path / "evidence.json"
    page.write_text("old", "utf-8")
    monkeypatch.setattr(evidence, "PAGE", page)
    monkeypatch.setattr(evidence, "DATA", data)
    with pytest.raises(UserError, match=rf"^cannot write {page}: File too large. Make room"), full_after(0):
        evidence._put("new", {})
    assert page.read_text("utf-8") == "old"
    evidence._put("new", {"a": 1})
    assert (page.read_text("utf-8"), data.read_text("utf-8")) == ("new", '{\n "a": 1\n}\n')


@contextmanager
def full_after(size: int) -> Iterator[None]:
    """No file takes more bytes, as on a full disk: setrlimit(2)."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_is_not_there_is_named_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(evidence, "PAGE", tmp_path / "nosuch.md")
    with pytest.raises(TrialError, match=r"nosuch\.md cannot be read: No such file"):
        evidence.run_again(["io"])


@pytest.mark.parametrize(("holds", "says"), [(b"\xff", "it is no UTF-8"), (b'{"measured": [', "is no JSON")])
def test_a_damaged_file_is_named_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, holds: bytes, says: str) -> None:
    damaged = tmp_path / "evidence.json"
    damaged.write_bytes(holds)
    monkeypatch.setattr(evidence, "DATA", damaged)
    with pytest.raises(TrialError, match=rf"evidence\.json .*{says}"):
        evidence.run_again(["mmap"])


def test_each_measurement_tells_its_own_day_cores_and_version() -> None:
    """Those that it may use, whatever the machine has."""
    runs = {"before": [Run(10, 1.0)] * 6, "after": [Run(20, 1.0)] * 6}
    result = TrialResult("io", "MariaDB", "10.11.19-MariaDB-log", "made up", (), [WorkloadResult("reads", "rows", runs)], "Faster.", binaries="mariadb-10.11", taken_at="2026-11-26 10:00")
    (entry,) = evidence._entries([result])
    assert (entry["server"], entry["server_version"], entry["taken_at"]) == ("mariadb-10.11", "10.11.19", "2026-11-26")
    usable = os.sched_getaffinity(0)
    assert entry["cores"] == len(usable)
    os.sched_setaffinity(0, {min(usable)})
    try:
        assert evidence._entries([result])[0]["cores"] == 1
    finally:
        os.sched_setaffinity(0, usable)


def test_rates_are_of_a_version_where_an_experiment_has_told_it() -> None:
    """The page is written after each experiment: the first may have run on one server of several."""
    result = TrialResult("io", "MariaDB", "10.11.19-MariaDB", "made up", (), (), "Faster.", binaries="mariadb-10.11", taken_at="2026-11-26 10:00")
    page = evidence.evidence_page([result], {"mariadb-10.11": {"ALTER": 1 << 20}, "mysql-9.7": {"ALTER": 1 << 21}})
    assert "| mariadb-10.11 (10.11.19) | 1 MiB/s |" in page
    assert "| mysql-9.7 | 2 MiB/s |" in page
