"""What a server answers has the shape that was asked for, and its numbers come through numbers.py: read off the program's own source."""

import ast
from collections.abc import Iterator

import pytest

from tests.support.repository import ROOT

# Private servers are ours; the history's `rows` are SQLite's.
OTHERS = ("advisor/myisam_advisor/trial/", "advisor/myisam_advisor/history/")
SESSION = "exporter/myisam_exporter/server/session.py"


def sources() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("exporter", "advisor"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if not name.startswith(OTHERS) and name != SESSION:
                yield name, ast.parse(path.read_text("utf-8"))


def _asks(node: ast.AST, methods: tuple[str, ...] = ("rows",)) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods


def unchecked(tree: ast.AST) -> list[int]:
    """The lines that read rows without having said how many columns they have."""
    thrown_away = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _asks(node) and id(node) not in thrown_away and not any(word.arg == "columns" for word in node.keywords)
    ]


def raw_numbers(tree: ast.AST) -> list[int]:
    """The lines that make a number of an answer by themselves."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("int", "float")
        and any(_asks(inner, ("rows", "row", "_rows")) for inner in ast.walk(node))
    ]


def test_whoever_reads_rows_says_how_many_columns_they_have() -> None:
    assert [f"{name}, line {line}: columns= is missing" for name, tree in sources() for line in unchecked(tree)] == []


def test_no_module_makes_numbers_of_answers_by_itself() -> None:
    assert [f"{name}, line {line}: numbers.py makes numbers" for name, tree in sources() for line in raw_numbers(tree)] == []


@pytest.mark.parametrize("source", ["a = session.rows(text)", "for a, b in self._session.rows(text): pass", "dict(asked.rows(text, limit))"])
def test_unchecked_rows_are_found(source: str) -> None:
    assert unchecked(ast.parse(source)) == [1]


@pytest.mark.parametrize("source", ["session.rows(text)", "a = session.rows(text, columns=2)"])
def test_checked_rows_and_those_that_nobody_reads_are_not(source: str) -> None:
    assert unchecked(ast.parse(source)) == []


def test_raw_numbers_are_found() -> None:
    assert raw_numbers(ast.parse("int(session.row(text, 1)[0])\nfloat(self._rows(text)[0][0] or 0)\nwhole_number(session.row(text, 1)[0])")) == [1, 2]
