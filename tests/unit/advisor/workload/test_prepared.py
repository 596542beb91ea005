"""What is prepared by name: without its text, neither it nor what is done with it can be sent again."""

from pathlib import Path

from myisam_advisor.workload import prepared
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file import read_workload
from myisam_advisor.workload.recording import record_log, source_named

ENTRY = b"# Time: 2026-11-22T20:00:00.00000%dZ\n# User@Host: a[a] @ localhost []  Id:     %d\n# Query_time: 0.000123  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 3\nSET timestamp=1795377600;\n%b;\n"


def refused(*statements: tuple[int, bytes]) -> list[str | None]:
    known = prepared.Prepared()
    return [known.refused(Event(connection, 0, 0, None, statement)) for connection, statement in statements]


def test_without_a_text_neither_it_nor_what_uses_it_is_sent() -> None:
    told = refused((8, b"PREPARE st FROM..."), (8, b"EXECUTE st USING @a"), (8, b"deallocate prepare `ST`"), (8, b"DROP PREPARE st"))
    assert told == ["PREPARE without its text", "EXECUTE of a PREPARE that is not recorded", *["DEALLOCATE of a PREPARE that is not recorded"] * 2]


def test_with_its_text_it_is_sent_and_used_by_its_own_connection_until_it_ends() -> None:
    told = refused((8, b"PREPARE st FROM 'SELECT ...'"), (8, b"EXECUTE st"), (9, b"EXECUTE st"), (8, b"DEALLOCATE PREPARE st"), (8, b"EXECUTE st"), (8, b"DROP TABLE prepare_"), (8, b"SELECT 1"))
    gone = "EXECUTE of a PREPARE that is not recorded"
    assert told == [None, None, gone, None, gone, None, None]


def test_a_comment_before_them_hides_none_of_them() -> None:
    """As programs write that mark their statements: /* application */."""
    told = refused((8, b"/* a */ PREPARE st FROM..."), (8, b"# a\nEXECUTE st"), (8, b"/* a */ -- b\n DROP PREPARE st"), (8, b"/* a */ SELECT 1"))
    assert told == ["PREPARE without its text", "EXECUTE of a PREPARE that is not recorded", "DEALLOCATE of a PREPARE that is not recorded", None]


def test_what_is_executed_immediately_is_kept_as_what_it_ran_or_with_its_text() -> None:
    sent = (b"EXECUTE IMMEDIATE 'SELECT 1'", b"execute\n immediate @text USING 5", b"EXECUTE immediately")
    not_prepared = "EXECUTE of a PREPARE that is not recorded"
    assert refused(*((8, statement) for statement in sent)) == [*["EXECUTE, kept as what it ran"] * 2, not_prepared]
    by_a_probe = prepared.Prepared("probe")
    assert [by_a_probe.refused(Event(8, 0, 0, None, statement)) for statement in sent] == [None, None, not_prepared]


def test_a_text_that_is_lost_replaces_one_that_was_known() -> None:
    assert refused((8, b"PREPARE st FROM @text"), (8, b"PREPARE st FROM..."), (8, b"EXECUTE st"))[1:] == ["PREPARE without its text", "EXECUTE of a PREPARE that is not recorded"]


def test_they_are_left_out_of_a_recording_by_name(tmp_path: Path) -> None:
    sent = [b"PREPARE st FROM...", b"SELECT 5", b"DEALLOCATE PREPARE st"]
    (tmp_path / "slow.log").write_bytes(b"".join(ENTRY % (number, 8, statement) for number, statement in enumerate(sent)))
    recorded = record_log(source_named("slow_log"), tmp_path / "slow.log", tmp_path / "workload")
    assert [event.statement for event in read_workload(tmp_path / "workload").events()] == [b"SELECT 5"]
    assert recorded.totals.left_out == {"PREPARE without its text": 1, "DEALLOCATE of a PREPARE that is not recorded": 1}
