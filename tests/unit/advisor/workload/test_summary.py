"""What is in a workload, summed up: the longest is the longest, whether or not values are shown."""

from pathlib import Path

import pytest

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
