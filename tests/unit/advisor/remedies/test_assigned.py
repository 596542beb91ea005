"""SET as people write it: each variable that it sets for all connections, once, whatever way it is written."""

import pytest

from myisam_advisor.remedies.statements.assigned import assigned
from myisam_advisor.remedies.statements.base import Phase
from myisam_advisor.remedies.statements.own import OwnStatement
from myisam_advisor.remedies.statements.parsing import parsed, parsed_apart
from myisam_advisor.remedies.statements.variables import SetGlobal, set_global
from myisam_exporter.server.sql import Sql


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SET GLOBAL a=1, b = 'x,y' ;", [("global", "a", "", "1"), ("global", "b", "", "'x,y'")]), ("set/**/global `hot`.a := (1, 2) -- c", [("global", "a", "hot", "(1, 2)")]),
        ("SET @@GLOBAL.a=1 /* c */, b=2 * 3", [("global", "a", "", "1"), ("session", "b", "", "2 * 3")]), ("SET PERSIST a=1", [("persist", "a", "", "1")]),
        ("SET @@`global`.`a`=1", [("global", "a", "", "1")]), ("SET GLOBAL TRANSACTION READ ONLY", []), ("SET GLOBAL a=1; DROP TABLE t", []), ("SET GLOBAL a='1", []), ("SET GLOBAL a=", []),
        ("SET @a=1", []), ("SELECT 1", []), ("", []), ("SET GLOBAL a.b.c=1", []),
    ],
)  # fmt: skip
def test_each_variable_is_read_with_its_value(text: str, found: list[tuple[str, str, str, str]]) -> None:
    assert [(one.scope, one.variable, one.cache, one.value) for one in assigned(text)] == found


@pytest.mark.parametrize("text", ["SET GLOBAL a=1, b='x';", "set/**/global a = 1,GLOBAL `b` = 'x'", "SET @@GLOBAL.a=1, @@GLOBAL.b='x'"])
def test_several_variables_are_as_many_statements(text: str) -> None:
    assert parsed_apart(Sql(text)) == (set_global("a", 1), set_global("b", "x"))


@pytest.mark.parametrize("text", ["SET GLOBAL `x`=8", "set/**/global x=8", "SET @@global . x := 8", "SET @@`GLOBAL`.x=8"])
def test_one_variable_is_one_statement_in_its_author_words(text: str) -> None:
    made = parsed(Sql(text))
    assert parsed_apart(Sql(text)) == (made,)
    assert isinstance(made, SetGlobal)
    assert (made.variable, made.number, made.sql) == ("x", 8, text)


@pytest.mark.parametrize(
    ("text", "phase"),
    [
        ("SET PERSIST x=1", Phase.SET), ("SET @@PERSIST.x=1, y=2", Phase.SET), ("set global a=b*2, c=3", Phase.SET), ("SET SESSION a=1, GLOBAL b=2", Phase.SET),
        ("SET SESSION a=1", Phase.OFFLINE), ("SET @a='SET GLOBAL b=1'", Phase.OFFLINE),
    ],
)  # fmt: skip
def test_what_does_more_keeps_its_words_and_runs_where_it_belongs(text: str, phase: Phase) -> None:
    (made,) = parsed_apart(Sql(text))
    assert isinstance(made, OwnStatement)
    assert (made.phase, made.sql) == (phase, text)
