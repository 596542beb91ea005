"""Servers are asked through one module: what it guards against, later code cannot forget."""

import ast
from pathlib import Path

from tests.support.repository import ROOT

EXPORTER = ROOT / "exporter" / "myisam_exporter"
ADVISOR = ROOT / "advisor" / "myisam_advisor"
LIBRARIES = {"pymysql", "MySQLdb", "_mysql"}


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names}


def users(folder: Path) -> dict[str, set[str]]:
    return {str(path.relative_to(folder)): imported(path) & LIBRARIES for path in folder.rglob("*.py") if imported(path) & LIBRARIES}


def test_only_the_driver_knows_a_library_that_speaks_with_servers() -> None:
    assert users(EXPORTER) == {f"server/{name}.py": {"pymysql"} for name in ("driver", "answer_rows", "client_library")}


def test_private_servers_are_asked_through_one_module_too() -> None:
    assert users(ADVISOR) == {"trial/private/driver.py": {"pymysql", "MySQLdb"}}
    for folder in ("benchmarks", "demo", "tools"):
        assert users(ROOT / folder) == {}
