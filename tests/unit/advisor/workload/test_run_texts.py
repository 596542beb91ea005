"""What a statement runs as a text is left out by the name of what the text does, wherever the text stands."""

from pathlib import Path

import pytest

from myisam_advisor.trial.statements.survey import Judging
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file import read_workload
from myisam_advisor.workload.prepared import Prepared
from myisam_advisor.workload.recording import record_log, source_named
from myisam_advisor.workload.run_texts import MAXIMUM_TEXT_BYTES, strings
from myisam_advisor.workload.statements import refused

NOT_PREPARED = "of a PREPARE that is not recorded"
ENTRY = b"# Time: 2026-11-22T20:00:00.00000%dZ\n# User@Host: a[a] @ localhost []  Id:     8\n# Query_time: 0.000123  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 3\nSET timestamp=1795377600;\n%b;\n"


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        (b"PREPARE s FROM 'SET GLOBAL x=1'", "SET GLOBAL"), (b'prepare s from "set @a=1, @@global.x=1"', "SET GLOBAL"), (b"/* a */ PREPARE s FROM /* 'b' */ 'SET/**/PERSIST x=1'", "SET PERSIST"), (b"EXECUTE IMMEDIATE 'SET GLOBAL x=1'", "SET GLOBAL"),
        (b"EXECUTE IMMEDIATE CONCAT('SET GLO', 'BAL x=', @n)", "SET GLOBAL"), (b"PREPARE s FROM 'SHUTDOWN'", "SHUTDOWN"), (b"PREPARE s FROM 'SELECT 1 INTO OUTFILE ''x'''", "INTO OUTFILE"), (b"EXECUTE IMMEDIATE 'LOAD DATA INFILE \\'x\\' INTO TABLE t'", "LOAD DATA"),
        (b"PREPARE s FROM 'INSTALL PLUGIN a SONAME \"b\"'", "INSTALL"), (b"BEGIN NOT ATOMIC PREPARE s FROM 'SET GLOBAL x=1'; EXECUTE s; END", "SET GLOBAL"), (b"IF 1 THEN EXECUTE IMMEDIATE 'SET GLOBAL x=1'; END IF", "SET GLOBAL"),
        (b"BEGIN NOT ATOMIC SET @s='SET GLOBAL x=1'; PREPARE s FROM @s; END", "SET GLOBAL"), (b"EXECUTE IMMEDIATE 'BEGIN NOT ATOMIC EXECUTE IMMEDIATE \"SET GLOBAL x=1\"; END'", "SET GLOBAL"),
        (b"PREPARE s FROM 'SELECT \"SET GLOBAL x=1\"'", None), (b"PREPARE s FROM 'INSERT INTO t VALUES (?)'", None), (b"PREPARE `SET GLOBAL x=1` FROM 'SELECT 1'", None), (b"SELECT 'prepare', 'SET GLOBAL x=1'", None),
        (b"BEGIN NOT ATOMIC INSERT INTO t VALUES ('SET GLOBAL x=1'); END", None), (b"PREPARE s FROM 'SET GLOBAL x=" + b"1" * MAXIMUM_TEXT_BYTES + b"'", None),
        (b"LOCK INSTANCE FOR BACKUP", "LOCK INSTANCE"), (b"unlock instance", "UNLOCK INSTANCE"), (b"BACKUP STAGE START", "BACKUP"), (b"LOCK TABLES instance READ", None), (b"UNLOCK TABLES", None),
        (b"CREATE TABLE t (a INT) ENGINE='SPIDER' COMMENT='password \"x\"'", "an account"), (b"alter table t engine `federated`", "an account"), (b"PREPARE s FROM 'CREATE TABLE t (a INT) ENGINE=\\'connect\\''", "an account"), (b"SELECT * FROM information_schema.tables WHERE engine = 'connect'", None),
        (b"CREATE TABLE q SELECT * FROM t WHERE engine = 'connect'", None),
    ],
)  # fmt: skip
def test_a_text_that_is_run_has_the_name_of_what_it_does(statement: bytes, name: str | None) -> None:
    assert refused(statement) == name


def left_out(*sent: bytes) -> list[str | None]:
    known = Prepared("general_log")
    return [known.refused(Event(8, 0, 0, None, statement)) for statement in sent]


def test_what_is_left_out_is_prepared_by_nobody() -> None:
    told = left_out(b"PREPARE s FROM 'SELECT 1'", b"PREPARE s FROM 'SET GLOBAL x=1'", b"EXECUTE s", b"DEALLOCATE PREPARE s")
    assert told == [None, "SET GLOBAL", f"EXECUTE {NOT_PREPARED}", f"DEALLOCATE {NOT_PREPARED}"]


@pytest.mark.parametrize(
    "assigned",
    [b"SET @a = 1, @S = 'SET GLOBAL x=1'", b"SET @s := CONCAT('SET GLO', 'BAL x=', @n)", b"SELECT CONCAT('SET GLOBAL x=', 1) INTO @s", b"/* a */ SELECT @s := 'SET GLOBAL x=1'"],
)  # fmt: skip
def test_a_variable_holds_what_is_left_out_until_it_holds_another(assigned: bytes) -> None:
    of_variable = (b"PREPARE p FROM @s", b"EXECUTE p", b"EXECUTE IMMEDIATE @s")
    assert left_out(assigned, *of_variable) == [None, "SET GLOBAL", f"EXECUTE {NOT_PREPARED}", "SET GLOBAL"]
    assert left_out(assigned, b"SET @s = 'SELECT 1'", *of_variable[:2]) == [None] * 4
    assert left_out(assigned, b"PREPARE p FROM @other", b"SELECT 1 FROM t WHERE a = @s") == [None] * 3


def test_a_recording_leaves_them_out_and_counts_them(tmp_path: Path) -> None:
    sent = [b"PREPARE s FROM 'SET GLOBAL x=1'", b"EXECUTE s", b"SET @s='SET GLOBAL x=1'", b"PREPARE s FROM @s", b"SELECT 5", b"BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'SET GLOBAL x=1'; END"]
    (tmp_path / "slow.log").write_bytes(b"".join(ENTRY % (number, statement) for number, statement in enumerate(sent)))
    recorded = record_log(source_named("slow_log"), tmp_path / "slow.log", tmp_path / "workload")
    assert [event.statement for event in read_workload(tmp_path / "workload").events()] == [b"SET @s='SET GLOBAL x=1'", b"SELECT 5"]
    assert recorded.totals.left_out == {"SET GLOBAL": 3, f"EXECUTE {NOT_PREPARED}": 1}


def test_a_replay_of_an_older_recording_sends_none_of_them() -> None:
    judging = Judging()
    sent = (b"PREPARE s FROM 'SET GLOBAL x=1'", b"EXECUTE s", b"DEALLOCATE PREPARE s", b"PREPARE s FROM 'SELECT 1'", b"DEALLOCATE PREPARE s")
    assert [judging.of(Event(1, 0, 0, b"d", statement)).refused for statement in sent] == ["SET GLOBAL"] * 3 + [""] * 2


def test_strings_are_read_to_their_ends_and_comments_and_names_are_none() -> None:
    assert strings(b"a 'b''c\\'d' /* 'e' */ `f'` \"g\"\"h\" # 'i'\n 'j") == [b"b'c'd", b'g"h', b"j"]
    assert strings(b"'a\\") == [b"a\\"]
