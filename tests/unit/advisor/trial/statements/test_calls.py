import pytest

from myisam_advisor.trial.statements.calls import called_in
from myisam_advisor.workload.tokens import tokens


@pytest.mark.parametrize(
    ("statement", "called"),
    [
        (b"CALL note('a')", {("shop", "note")}),
        (b"call Note", {("shop", "note")}),
        (b"CALL other.`No te`(1)", {("other", "no te")}),
        (b"CALL other.note", {("other", "note")}),
        (b"SELECT twice(a), other.half(b) FROM t WHERE id IN (1)", {("shop", "twice"), ("other", "half"), ("shop", "in")}),
        (b"SELECT a FROM t", set()),
        (b"SELECT 'f(x)', (1)", set()),
    ],
)
def test_calls_are_told_by_the_words(statement: bytes, called: set[tuple[str, str]]) -> None:
    assert called_in(tokens(statement), b"shop") == called
