"""A server that is only asked by SQL: how much that may cost it, by its own counters."""

from dataclasses import replace

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.top.looking import Looker
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors import sql_tables
from myisam_exporter.collectors.base import Context
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.server.session import Session
from myisam_exporter.watching.options import WatchOptions
from tests.support.servers import keeps_dictionary, status_number

from .conftest import schema, target

TABLES, LOOKS = 150, 5


def look_from_elsewhere(session: Session) -> FactSet:
    return Interval(take_snapshot(Context(session.target, session))).facts()


@pytest.mark.parametrize("has_room", [False, True])
def test_it_evicts_no_table_and_opens_few(server: PrivateServer, has_room: bool) -> None:
    """With a table cache that is full, and one with room. Asking about an open table opens it once more on MySQL 8.0 and later only."""
    is_new_mysql = keeps_dictionary(server)
    # Of MySQL 8.0 and later each of 16 instances holds a part, its dictionary's tables among them.
    cache = 2000 if has_room else 400 if is_new_mysql else 60
    former = int(str(server.execute("SELECT @@GLOBAL.table_open_cache")[0][0]))
    with schema(server, "far") as name, Session(target(server)) as session:
        session.target = replace(session.target, socket=None, host="elsewhere")
        server.execute(*(f"CREATE TABLE t{number} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM" for number in range(TABLES)), database=name)
        try:
            server.execute(f"SET GLOBAL table_open_cache = {cache}", "FLUSH TABLES")
            server.execute(*(f"SELECT * FROM t{number}" for number in range(40)), database=name)
            look_from_elsewhere(session)
            overflows = "Table_open_cache_overflows"
            counts = overflows if server.execute(f"SHOW GLOBAL STATUS LIKE '{overflows}'") else "Open_tables"
            opened, thrown_out = status_number(server, "Opened_tables"), status_number(server, counts)
            for _ in range(LOOKS):
                facts = look_from_elsewhere(session)
            allowed = sql_tables.DICTIONARY_TABLES + (sql_tables.MAXIMUM_OPENED if has_room else 0) if is_new_mysql else 2
            assert status_number(server, "Opened_tables") - opened <= LOOKS * allowed
            assert abs(status_number(server, counts) - thrown_out) <= 1
        finally:
            server.execute(f"SET GLOBAL table_open_cache = {former}")
    known = [row for row in facts.tables["tables"].dictionaries() if row["schema_name"] == name]
    if is_new_mysql and not has_room:
        assert "opens it" in facts.why_unknown("tables").reason + facts.why_unknown("tables", "rows").reason
    else:
        assert 0 < len(known) <= 40
    assert facts.single("totals").get("myisam_tables") is None


def test_it_asks_about_a_hundred_tables_at_most_and_for_a_second_at_most(mariadb: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with schema(mariadb, "crowd") as name, Session(target(mariadb)) as session:
        session.target = replace(session.target, socket=None, host="elsewhere")
        mariadb.execute(*(f"CREATE TABLE t{number} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM" for number in range(TABLES)), database=name)
        mariadb.execute(*(f"SELECT * FROM t{number}" for number in range(TABLES)), database=name)
        before = status_number(mariadb, "Com_select")
        facts = look_from_elsewhere(session)
        assert len(facts.tables["tables"].rows) == sql_tables.MAXIMUM_TABLES
        # One for each table, a handful for everything else: whatever a look costs, there is one a minute.
        assert status_number(mariadb, "Com_select") - before <= sql_tables.MAXIMUM_TABLES + 20
        assert any("without" in note.reason for note in facts.notes)
        monkeypatch.setattr(sql_tables, "MAXIMUM_SECONDS", 0)
        assert len(look_from_elsewhere(session).tables["tables"].rows) <= 1


def test_a_live_screen_asks_for_tables_once_a_minute_however_often_it_looks(mariadb: PrivateServer) -> None:
    with schema(mariadb, "watched") as name:
        mariadb.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "SELECT * FROM t", database=name)
        looker = Looker(lambda: target(mariadb), WatchOptions(), Site(shipped_rules()))
        session = looker._connection.session()
        session.target = replace(session.target, socket=None, host="elsewhere")
        before = status_number(mariadb, "Com_show_open_tables")
        moments = [looker.look() for _ in range(3)]
        looker.close()
    assert status_number(mariadb, "Com_show_open_tables") - before == 1
    assert [len(moment.facts.tables["tables"].rows) for moment in moments] == [1, 1, 1]
    assert moments[-1].facts.interval_seconds is not None
