"""Closing tables once: MariaDB leaves alone what is in use, so those are named."""

from typing import Any

import pytest

from tests.support.planning import facts, planned, texts
from tests.support.recorded import RecordedLook


def test_on_mariadb_the_busy_tables_are_named_the_busiest_first(on_mariadb: RecordedLook) -> None:
    named, every = texts(planned("reopen_tables", {}, on_mariadb.facts).commands)
    assert named.startswith("FLUSH TABLES `shop`.`items`, `shop`.`posts`, ")
    assert "`shop`.`counters`" in named
    assert "`archive`" not in named
    assert every == "FLUSH TABLES;"


def test_mysql_waits_for_every_table(on_mysql: RecordedLook) -> None:
    assert texts(planned("reopen_tables", {}, on_mysql.facts).commands) == ["FLUSH TABLES;"]


@pytest.mark.parametrize("row", [{"dead": 1}, {"proved": 0}])
def test_what_has_no_effect_or_is_not_proved_closes_nothing(on_mariadb: RecordedLook, row: dict[str, Any]) -> None:
    assert planned("reopen_tables", row, on_mariadb.facts).commands == ()


def test_idle_tables_need_no_names() -> None:
    known = facts(server={"flavour": "mariadb"}, tables=[{"schema_name": "s", "table_name": "t", "rows_read_per_second": 0}])
    assert texts(planned("reopen_tables", {"proved": 1}, known).commands) == ["FLUSH TABLES;"]
