"""What only a stored program can have run, and what a client may have sent."""

import pytest

from myisam_advisor.workload.inner_statements import is_inner


@pytest.mark.parametrize(
    "statement",
    [
        b"INSERT INTO a VALUES ('post', NEW.n)", b"UPDATE a SET n = 5 WHERE n = OLD.id OR n = new.id", b"INSERT INTO a VALUES (CONCAT('gone ', `OLD`.s), 0)",
        b"UPDATE a SET n =  NAME_CONST('x',5)", b"SELECT COUNT(*) INTO r FROM a WHERE n >  NAME_CONST('p',2)", b"SELECT COUNT(*) INTO r FROM a", b"SELECT a, b FROM t INTO x, y",
        b"SET @n = NEW.n",
    ],
)  # fmt: skip
def test_what_a_stored_program_ran(statement: bytes) -> None:
    assert is_inner(statement)


@pytest.mark.parametrize(
    "statement",
    [
        b"INSERT INTO a VALUES ('NEW.n', \"NAME_CONST('x',5)\")", b"SELECT new.id FROM users new", b"SELECT new.id FROM users AS new JOIN old ON old.id = new.id", b"SELECT new.t.a FROM new.t",
        b"DELETE FROM new.t", b"SELECT `old`.a FROM `old`", b"SELECT a INTO @r FROM t", b"SELECT a INTO OUTFILE 'x' FROM t", b"INSERT INTO t SELECT 1", b"SELECT 'into r' FROM t",
        b"UPDATE t SET a.new.b = 1", b"REPLACE INTO old VALUES (1)", b"SELECT renew.x FROM renew", b"SELECT 1 -- NEW.n", b"SELECT 1; INSERT INTO t VALUES (1)",
    ],
)  # fmt: skip
def test_what_a_client_may_have_sent(statement: bytes) -> None:
    assert not is_inner(statement)
