"""Servers are asked through one module: what it guards against, later code cannot forget."""

import ast
from pathlib import Path

from tests.support.repository import ROOT

EXPORTER = ROOT / "exporter" / "myisam_exporter"
LIBRARIES = {"pymysql", "MySQLdb", "_mysql"}


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names}


def test_only_the_driver_knows_a_library_that_speaks_with_servers() -> None:
    users = {path.name: imported(path) & LIBRARIES for path in EXPORTER.rglob("*.py") if imported(path) & LIBRARIES}
    assert users == {"driver.py": {"pymysql"}, "answer_rows.py": {"pymysql"}}
