"""What a proof is told of a recording."""

from pathlib import Path

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
