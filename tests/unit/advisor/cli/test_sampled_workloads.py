"""A recording of a log in which the server left statements out proves nothing."""

from pathlib import Path

from myisam_advisor.cli.surveyed_workloads import surveyed
from myisam_advisor.workload.file_format import Header
from myisam_advisor.workload.file_writer import WorkloadWriter
from myisam_advisor.workload.recording import SAMPLED
from tests.support.workloads import BEGAN, event


def test_the_note_of_a_sampled_log_comes_to_the_proof(tmp_path: Path) -> None:
    for name, note in (("whole", {}), ("part", {SAMPLED: "one in 10"})):
        path = tmp_path / name
        with WorkloadWriter(path, Header("slow_log", "8.0.36", "mysql", BEGAN)) as writer:
            writer.write(event(1, 0, b"INSERT INTO log VALUES (1)"))
            writer.note.update(note)
        assert surveyed(path).recording.sampled == note.get(SAMPLED, "")
