"""What SET assigns for whom; and what MariaDB's SET STATEMENT has in front of a statement is no part of it."""

import pytest

from myisam_advisor.workload.set_statement import assignments, behind_set_statement
from myisam_advisor.workload.tokens import tokens


@pytest.mark.parametrize(
    ("statement", "behind"),
    [
        (b"SET STATEMENT max_statement_time=1 FOR SELECT 1", [b"select", b"?"]), (b"set /* c */ statement a=1, b=@@c for delete from t", [b"delete", b"from", b"t"]),
        (b"SET STATEMENT a=substring('x' from 1 for 2) FOR DO 1", [b"do", b"?"]), (b"SET STATEMENT a=1 FOR SET STATEMENT b=2 FOR DO 1", [b"do", b"?"]),
        (b"SET STATEMENT a=1", [b"set", b"statement", b"a", b"=", b"?"]), (b"SELECT 1 FOR UPDATE", [b"select", b"?", b"for", b"update"]), (b"", []),
    ],
)  # fmt: skip
def test_the_statement_is_what_stands_behind_for(statement: bytes, behind: list[bytes]) -> None:
    lower = [word.lower() for word in tokens(statement)]
    assert lower[behind_set_statement(lower) :] == behind


@pytest.mark.parametrize(
    ("statement", "assigned"),
    [
        ("SET GLOBAL a = 1, b = 2", "global a, global b"), ("SET a = 1, b = 2", "session a, session b"), ("SET GLOBAL a = 1, SESSION b = 2, c = 3", "global a, session b, session c"),
        ("SET @@GLOBAL . a = 1, b = 2", "global a, session b"), ("SET @@PERSIST . a = 1, GLOBAL b = 2, @@LOCAL . c = 3, d = 4", "persist a, global b, session c, global d"),
        ("SET GLOBAL hot . key_buffer_size = 1", "global hot.key_buffer_size"), ("SET @@GLOBAL . `hot` . key_buffer_size := 1", "global `hot`.key_buffer_size"),
        ("SET NAMES utf8 , GLOBAL a = 1", "session NAMES, global a"), ("SET GLOBAL TRANSACTION READ ONLY", "global TRANSACTION"), ("SET @a = ( SELECT b , global FROM t ) , c = 1", "session @a, session c"),
        ("SET global = 1", "session global"), ("SET global . a = 1", "session global.a"), ("SET PERSIST_ONLY a = 1 ; SET GLOBAL b = 2", "persist_only a"), ("SELECT 1", ""), ("SET", ""), ("SET , ,", ""),
    ],
)  # fmt: skip
def test_each_assignment_has_its_scope(statement: str, assigned: str) -> None:
    words = statement.replace(",", " , ").split()
    assert ", ".join(f"{one.scope} {''.join(one.name)}" for one in assignments(words)) == assigned
