"""The processors that the server may use, on a recorded machine."""

from myisam_exporter.facts.unknown import Unknown
from tests.support.recorded import RecordedLook


def test_the_recorded_server_may_use_all_of_its_machine(look: RecordedLook) -> None:
    assert look.rows("processors", "mysqld") == [{"usable_cpu_count": 2}]


def test_without_a_server_nothing_is_asked(look: RecordedLook) -> None:
    gone = Unknown("no server")
    assert look.collected("processors", server=gone) is gone
