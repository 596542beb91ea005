"""What a proof is told of a recording."""

from pathlib import Path

import pytest

from myisam_advisor.cli.surveyed_workloads import surveyed
from myisam_advisor.workload.file_format import Header
from myisam_advisor.workload.file_writer import WorkloadWriter
from tests.support.workloads import BEGAN, event


def test_a_general_log_tells_when_statements_began_and_not_how_long_they_took(tmp_path: Path) -> None:
    for name, duration in (("general_log", None), ("slow_log", 100)):
        path = tmp_path / name
        with WorkloadWriter(path, Header(name, "8.0.36", "mysql", BEGAN)) as writer:
            writer.write(event(1, 0, b"INSERT INTO log VALUES (1)")._replace(duration_microseconds=duration))
        assert surveyed(path).recording.knows_moments == (duration is not None)


def test_what_the_recorder_left_out_is_told_but_our_own(tmp_path: Path) -> None:
    with WorkloadWriter(tmp_path / "w", Header("probe", "8.0.36", "mysql", BEGAN)) as writer:
        writer.write(event(1, 0, b"INSERT INTO log VALUES (1)"))
        writer.left_out.update({"our own": 9, "LOAD DATA": 1_083, "longer than 65536 bytes": 1})
    described = surveyed(tmp_path / "w").described
    assert described["not_recorded"] == "1,083 (LOAD DATA), 1 (longer than 65536 bytes)"


@pytest.mark.parametrize("note", ["sampled", "threshold", "partly"])
def test_a_recording_of_a_part_says_so_to_proofs_and_in_reports(tmp_path: Path, note: str) -> None:
    with WorkloadWriter(tmp_path / "w", Header("live", "10.11.6", "mariadb", BEGAN, note={"connections": "9 were there before"})) as writer:
        writer.write(event(1, 0, b"INSERT INTO log VALUES (1)"))
        writer.note.update({"load": "5 statements a second before", note: "it is a part"})
    workload = surveyed(tmp_path / "w")
    assert workload.recording.sampled == "it is a part"
    assert workload.described["notes"] == f"connections: 9 were there before; {note}: it is a part"


@pytest.mark.parametrize(("left_out", "said"), [({"LOAD DATA": 2}, "2 were left out, and 1 are in it"), ({"LOAD DATA": 1, "our own": 9, "administrator command": 9}, "")])
def test_of_more_that_was_left_out_than_is_in_it_nothing_is_proved(tmp_path: Path, left_out: dict[str, int], said: str) -> None:
    with WorkloadWriter(tmp_path / "w", Header("performance_schema", "8.0.36", "mysql", BEGAN)) as writer:
        writer.write(event(1, 0, b"INSERT INTO log VALUES (1)"))
        writer.left_out.update(left_out)
    assert surveyed(tmp_path / "w").recording.sampled == said
