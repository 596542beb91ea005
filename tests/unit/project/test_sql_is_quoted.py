"""No SQL is put together but by the functions of sql.py, which quote: read off the program's own source."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.repository import ROOT

# A text that begins so is SQL. `--` is a comment of SQL, or an option of a command line.
SQL = re.compile(
    r"\s*(?:SELECT|SET (?:GLOBAL|SESSION|@)|SHOW|ALTER|CREATE (?:TABLE|DATABASE|USER|INDEX)|DROP|INSERT|UPDATE|DELETE FROM|REPLACE INTO|FLUSH|LOCK TABLES|UNLOCK|CACHE INDEX"
    r"|LOAD (?:INDEX|DATA)|(?:CHECK|REPAIR|OPTIMIZE|TRUNCATE|RENAME|ANALYZE) |GRANT|REVOKE|INSTALL|KILL|PRAGMA|EXPLAIN|CALL|DO|PREPARE|EXECUTE)(?:\s|$)"
)
QUOTING = "exporter/myisam_exporter/server/sql.py"
# Where SQL is put together otherwise, and why no name that somebody else chose can be in it.
ALLOWED = {
    "advisor/myisam_advisor/trial/": "statements for private servers that are thrown away, on databases that the trial names; names of copied tables go through quote_table",
    "advisor/myisam_advisor/remedies/statements/parsing.py": "regular expressions that read statements, and make none",
    "advisor/myisam_advisor/history/file.py": "SQLite: numbers and names of pragmas and tables of its own code",
    "advisor/myisam_advisor/history/records.py": "SQLite: tables and columns that its own code declares, values as parameters",
    "advisor/myisam_advisor/factbase/database.py": "SQLite in memory: tables and columns that collectors declare",
    "advisor/myisam_advisor/factbase/index_tables.py": "SQLite in memory: tables of its own and columns that collectors declare, values as parameters",
    "advisor/myisam_advisor/factbase/guarded_query.py": "SQLite: EXPLAIN before the query of a rule, which the guard holds to SELECT",
    "advisor/myisam_advisor/factbase/steady_parts.py": "SQLite: parts of a rule's own query, columns through quote_identifier, values as parameters",
    "advisor/myisam_advisor/factbase/split_parts.py": "SQLite: EXPLAIN before parts of a rule's own query, which the guard holds to SELECT",
    "advisor/myisam_advisor/factbase/supposed_fact.py": "SQLite in memory: tables that collectors declare, columns of theirs through quote_identifier, values as parameters",
    "advisor/myisam_advisor/factbase/kept_parts.py": "SQLite: parts of a rule's own query before names of its own and whole numbers, which the guard holds to SELECT",
    "exporter/myisam_exporter/server/granting.py": "a statement to be read, not run: rights that collectors name, and an account through quote_account",
}
# Where text becomes Sql without a function of sql.py: the templates, whose values were checked one by one.
MAKERS = {QUOTING, "advisor/myisam_advisor/remedies/command_templates.py"}


def sources() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("exporter", "advisor"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8"))


def beginning(node: ast.expr) -> str | None:
    """The literal that a text begins with, where something is put into it or behind it."""
    if isinstance(node, ast.JoinedStr) and any(isinstance(part, ast.FormattedValue) for part in node.values):
        return _literal(node.values[0])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        left = node.left
        return beginning(left) if isinstance(left, ast.BinOp | ast.JoinedStr) else _literal(left)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "format_map", "join", "replace"):
        return _literal(node.func.value)
    return None


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def raw_sql(tree: ast.AST) -> list[int]:
    """The lines in which SQL is put together by hand."""
    expressions = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    return sorted({node.lineno for node in expressions if (text := beginning(node)) and SQL.match(text)})


def calls(tree: ast.AST, names: set[str]) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and (node.func.id if isinstance(node.func, ast.Name) else node.func.attr) in names]


def imports(tree: ast.AST, name: str) -> bool:
    """Whether the function is ours, and not one of the module's own of that name."""
    ours = {"myisam_exporter.server.sql", "myisam_advisor.remedies.shell_lines"}
    return any(isinstance(node, ast.ImportFrom) and node.module in ours and name in {alias.name for alias in node.names} for node in ast.walk(tree))


def allowed(path: str) -> bool:
    return path == QUOTING or any(path.startswith(prefix) for prefix in ALLOWED)


def test_sql_is_put_together_by_the_functions_that_quote() -> None:
    found = [f"{path}:{line}" for path, tree in sources() if not allowed(path) for line in raw_sql(tree)]
    assert found == [], "use statement() of myisam_exporter.server.sql"


def test_every_exception_is_still_one() -> None:
    raw = {path for path, tree in sources() if raw_sql(tree)}
    assert [prefix for prefix in ALLOWED if not any(path.startswith(prefix) for path in raw)] == []


def test_text_becomes_sql_in_the_places_that_quote_alone() -> None:
    assert {path for path, tree in sources() if calls(tree, {"Sql"})} == MAKERS


@pytest.mark.parametrize("name", ["statement", "shell_line"])
def test_a_template_is_a_literal(name: str) -> None:
    """So that no value can be in it."""
    seen = 0
    for path, tree in sources():
        if not imports(tree, name):
            continue
        for call in calls(tree, {name}):
            template = call.args[0]
            parts = [template.body, template.orelse] if isinstance(template, ast.IfExp) else [template]
            assert all(_literal(part) is not None for part in parts), f"{path}:{call.lineno}"
            seen += 1
    assert seen > 0


@pytest.mark.parametrize(
    "line",
    [
        'f"SET GLOBAL {name}.key_buffer_size = 1"', '"DROP TABLE " + name', '"DROP TABLE %s" % name', '"CACHE INDEX {} IN x".format(name)', '"SELECT " + a + b', 'f"  SELECT {a}" + b', '"GRANT {right}".format_map(names)',
        '"SHOW TABLES FROM x".replace("x", name)', 'f"ALTER TABLE {name} " f"ENGINE={engine}"',
    ],
)  # fmt: skip
def test_the_lint_sees(line: str) -> None:
    assert raw_sql(ast.parse(line)) == [1]


@pytest.mark.parametrize("line", ['"SELECT 1"', 'statement("DROP TABLE {}", quote_identifier(name))', 'f"{count} rows"', '"Set it to " + value', 'f"--socket={path}"'])
def test_the_lint_passes_over(line: str) -> None:
    assert raw_sql(ast.parse(line)) == []
