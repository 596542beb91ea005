"""Which key caches of the watched server are told of, that a replay does not have. Real ones are in tests/servers/test_trial_replay.py."""

from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.trial.statements.named_caches import ALL_OF_MARIADB, named_cache_notes
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.version_number import ServerVersion

MARIADB, MYSQL = ServerVersion("mariadb", (10, 11, 6), "10.11.6"), ServerVersion("mysql", (8, 0, 36), "8.0.36")


class Session:
    """One that answers these statements, and no others."""

    def __init__(self, version: ServerVersion, answers: dict[str, Any]) -> None:
        self.version, self._answers = version, answers

    def rows_or_unknown(self, asked: str, columns: int) -> Any:
        rows = self._answers[str(asked)]
        assert isinstance(rows, Unknown) or all(len(row) == columns for row in rows)
        return rows


def told(version: ServerVersion, answers: dict[str, Any], planned: tuple[str, ...] = (), directory: Path = Path("/none"), **variables: str) -> str:
    session: Any = Session(version, answers)
    return " ".join(named_cache_notes(session, variables, directory, planned))


def test_mariadb_shows_all_of_them() -> None:
    rows = [("default", "8388608"), ("hot", "1048576"), ("emptied", "0")]
    said = told(MARIADB, {ALL_OF_MARIADB: rows})
    assert said.startswith("The watched server has key caches with names (hot), and no server tells which table is in which")


@pytest.mark.parametrize("rows", [[("default", "8388608")], [], Unknown("no right")])
def test_where_there_are_none_nothing_is_said(rows: Any) -> None:
    assert told(MARIADB, {ALL_OF_MARIADB: rows}) == ""
    assert told(MYSQL, {}) == ""


def test_mysql_is_asked_for_those_whose_names_are_known(tmp_path: Path) -> None:
    (tmp_path / "caches.sql").write_text("CACHE INDEX shop.words IN warm;\n")
    answers = {f"SELECT @@GLOBAL.`{name}`.key_buffer_size": [(size,)] for name, size in (("hot", "1048576"), ("warm", "4096"), ("cold", "0"))}
    assert "(hot, warm)" in told(MYSQL, answers, ("hot", "cold"), tmp_path, init_file="caches.sql")


def test_many_are_counted() -> None:
    rows = [(f"c{number:02d}", "8") for number in range(14)]
    assert "c09 and 4 more)" in told(MARIADB, {ALL_OF_MARIADB: rows})
