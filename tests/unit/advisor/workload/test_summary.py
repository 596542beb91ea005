"""What is in a workload, summed up: the longest is the longest, whether or not values are shown."""

from pathlib import Path

import pytest

from myisam_advisor.workload.document import as_text
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file import read_workload
from myisam_advisor.workload.file_format import FIRST_MOMENT, Header
from myisam_advisor.workload.file_writer import WorkloadWriter
from myisam_advisor.workload.summary import summed_up


@pytest.mark.parametrize("literals", [False, True])
@pytest.mark.parametrize(
    ("durations", "seconds", "example"),
    [([1_000, 5_000_000, 2_000], 5.0, "SELECT 1"), ([0, 0], 0.0, "SELECT 0"), ([None, None], None, "SELECT 0"), ([None, 7_000_000, None], 7.0, "SELECT 1")],
)  # fmt: skip
def test_the_longest_is_that_of_all(tmp_path: Path, literals: bool, durations: list[int | None], seconds: float | None, example: str) -> None:
    with WorkloadWriter(tmp_path / "a", Header("slow_log", "", "", FIRST_MOMENT, 1)) as writer:
        for number, duration in enumerate(durations):
            writer.write(Event(1, FIRST_MOMENT + number, duration, None, b"SELECT %d" % number))
    (kind,) = summed_up(read_workload(tmp_path / "a"), literals).kinds
    assert (kind.count, kind.longest_seconds) == (len(durations), seconds)
    assert kind.example == (example if literals else None)


def test_what_no_time_is_told_of_takes_no_time_and_has_no_share_rather_than_none(tmp_path: Path) -> None:
    with WorkloadWriter(tmp_path / "a", Header("probe", "", "", FIRST_MOMENT, 1)) as writer:
        for number, (duration, text) in enumerate([(2_000, b"INSERT INTO t VALUES (1)"), (None, b"INSERT INTO t VALUES (2)"), (None, b"SELECT 1")] * 3):
            writer.write(Event(1, FIRST_MOMENT + number, duration, None, text))
    summary = summed_up(read_workload(tmp_path / "a"))
    insert, select = summary.kinds
    assert (insert.count, insert.timed, insert.seconds, insert.share) == (6, 3, 0.006, 1.0)
    assert (select.count, select.timed, select.seconds, select.share) == (3, 0, None, None)
    lines = as_text(summary, "a", None).splitlines()
    assert any(line.split()[:5] == ["100", "%", "6", "6.0", "ms"] and "2.0 ms" in line for line in lines)
    assert any(line.split()[:3] == ["-", "3", "-"] for line in lines)
    assert "have no time" in lines[-1]


def test_a_brief_statement_takes_some_time_and_the_server_has_its_name(tmp_path: Path) -> None:
    """0.04 ms was told as 0.0 ms, and MariaDB as mariadb ...-MariaDB."""
    with WorkloadWriter(tmp_path / "a", Header("probe", "10.11.19-MariaDB-log", "mariadb", FIRST_MOMENT, 1)) as writer:
        writer.write(Event(1, FIRST_MOMENT, 40, None, b"SELECT 1"))
    text = as_text(summed_up(read_workload(tmp_path / "a")), "a", None)
    assert "<0.1 ms" in text
    assert "0.0 ms" not in text
    assert "(MariaDB 10.11.19-log)" in text
