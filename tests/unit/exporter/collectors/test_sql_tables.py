"""Tables by SQL where the files are out of sight: which may be asked about, and that it is only a sample."""

from typing import Any

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.sql_tables import COLLECTOR, MAXIMUM_OPENED, TABLE, OpenTables
from myisam_exporter.collectors.status import Status
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.facts.unknown import Unknown
from tests.support.recorded import RecordedLook, RecordedSession

BLIND: dict[str, Any] = {"myi": Unknown("the data directory is not readable")}
SIZES: dict[str, tuple[str | None, ...]] = {
    "orders": ("MyISAM", "Fixed", "306", "5814", "10240", "0", "5348024557502463"),
    "basket": ("InnoDB", "Dynamic", "0", "16384", "0", "0", "0"),
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables that were asked about; the rest is the recorded server's. The look at the files needed none of this when it was recorded."""
    names: list[str] = []
    answered = RecordedSession.rows

    def rows(session: RecordedSession, statement: str, arguments: Any = None, maximum: int = 0, **_: object) -> list[tuple[str | None, ...]]:
        if statement == "SHOW OPEN TABLES":
            found = [("shop", name) for name in (*SIZES, *(f"t{number}" for number in range(120)))]
            return [(schema, name, "0", "0") for schema, name in (*found, ("mysql", "user"))]
        if statement == TABLE:
            names.append(arguments[1])
            return [SIZES[arguments[1]]] if arguments[1] in SIZES else []
        return answered(session, statement, arguments)

    monkeypatch.setattr(RecordedSession, "rows", rows)
    return names


def test_where_the_files_are_read_it_is_not_needed(look: RecordedLook) -> None:
    sample = look.sample("sql_tables")
    assert isinstance(sample, Unknown)
    assert sample.off


def test_open_tables_are_asked_about_up_to_a_limit(on_mariadb: RecordedLook, asked: list[str]) -> None:
    sample = on_mariadb.collected("sql_tables", **BLIND)
    assert isinstance(sample, OpenTables)
    assert len(asked) == 100
    assert "user" not in asked
    assert asked == sorted(asked)
    assert sample.tables == {("shop", "orders"): {"row_format": "fixed", "rows": 306, "data_bytes": 5814, "index_bytes": 10240, "free_bytes": 0, "max_data_bytes": 5348024557502463}}
    assert sample.left_out == 122 - 100
    (block,) = COLLECTOR.facts(Pair(sample))
    assert dict(zip(block.columns, next(iter(block.rows)), strict=True))["index_bytes"] == 10240
    (note,) = COLLECTOR.notes(sample)
    assert "a sample by SQL: the one MyISAM table open now, without 22 more" in note.reason
    assert note.remedy == ""  # of the files it is told what helps: the same twice would be two faults
    assert COLLECTOR.incomplete(sample) == Unknown("22 open tables were left out")


@pytest.mark.parametrize(("cache", "instances", "opened", "allowed"), [(4000, 16, 100, MAXIMUM_OPENED), (400, 16, 20, None), (64, 1, 40, 12)])
def test_mysql_is_only_asked_while_that_throws_nothing_out(on_mysql: RecordedLook, asked: list[str], cache: int, instances: int, opened: int, allowed: int | None) -> None:
    values = {**on_mysql.sample("variables").values, "table_open_cache": str(cache), "table_open_cache_instances": str(instances)}
    sample = on_mysql.collected("sql_tables", variables=Variables(values), status=Status({"Open_tables": opened}), **BLIND)
    assert len(asked) == (allowed or 0)
    if allowed is None:
        assert isinstance(sample, Unknown)
        assert "opens it" in sample.reason


def test_no_open_table_says_nothing_of_those_there_are() -> None:
    assert list(COLLECTOR.facts(Pair(OpenTables({}, 0, "")))) == []
    assert COLLECTOR.incomplete(OpenTables({}, 0, "")) is None
