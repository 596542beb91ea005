"""What MariaDB's SET STATEMENT has in front of a statement is no part of it."""

import pytest

from myisam_advisor.workload.set_statement import behind_set_statement
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
