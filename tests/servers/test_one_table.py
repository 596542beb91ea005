"""`myisam-advisor table` on real servers: every name, the engine of what is no MyISAM table, and nothing opened for it."""

import json
import re
import time

import pytest

from myisam_advisor.cli.table_choice import ENGINE
from myisam_advisor.reports.one_table import table_names
from myisam_advisor.texts.templates import object_name
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import quote_table
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of, status_number

from .conftest import look, on_one_server, schema, target

pytestmark = on_one_server

NAMES = ("plain", "a.b", "x`y/é", "two words", "quote'd", "$(date)")


def options(server: PrivateServer) -> tuple[str, ...]:
    return ("--socket", str(server.socket), "--user", "root")


def test_each_table_can_be_named_and_its_trial_copied(server: PrivateServer) -> None:
    with schema(server, "one.table") as database:
        server.execute(*(f"CREATE TABLE {quote_table(database, name)} (id INT NOT NULL, c CHAR(20) NOT NULL, KEY (c)) ENGINE=MyISAM" for name in NAMES))
        for name in NAMES:
            spelled = object_name(database, name)
            done = run("table", spelled, *options(server), "--interval", "0", "--format", "json")
            assert done.returncode == 0, done.stderr
            document = json.loads(done.stdout)
            assert (document["table"]["schema_name"], document["table"]["table_name"]) == (database, name)
            assert document["indexes"][0]["key_description"].startswith("CHAR(")
            assert document["table"]["rows"] == 0
            assert any(trial["command"].startswith("myisam-advisor trial pack-keys --table ") for trial in document["trials"])


def test_a_table_of_another_engine_is_named_and_stays_closed(server: PrivateServer) -> None:
    with schema(server, "engines") as database:
        server.execute(f"CREATE TABLE {database}.other (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB", f"CREATE TABLE {database}.own (id INT) ENGINE=MyISAM", "FLUSH TABLES")
        done = run("table", f"{database}.other", *options(server), "--interval", "0")
        assert done.returncode == 2
        assert "is a table of InnoDB" in done.stderr
        with Session(target(server), 10) as session:
            assert session.rows(ENGINE, (database, "own")) == [("MyISAM",)]  # whatever the view itself opens is open now
            before = status_number(server, "Opened_tables")
            assert session.rows(ENGINE, (database, "other")) == [("InnoDB",)]
            # MySQL 8 and later open tables of their dictionary for it; the others list what they only read the definition of, and 5.5 counts that.
            only_read = server.binaries.name == "mysql-5.5"
            assert status_number(server, "Opened_tables") == before + only_read or not [row for row in session.rows(f"SHOW OPEN TABLES FROM {database}") if row[1] == "other"]
        assert table_names(look(server)).keys() >= {(database, "own")}


def test_a_mistyped_name_is_refused_before_the_interval_has_passed(mariadb: PrivateServer) -> None:
    with schema(mariadb, "typed") as database:
        mariadb.execute(f"CREATE TABLE {database}.orders (id INT) ENGINE=MyISAM")
        started = time.monotonic()
        done = run("table", f"{database}.oders", *options(mariadb), "--interval", "30s")
        assert time.monotonic() - started < 20
        assert done.returncode == 2
        assert f"Did you mean {database}.orders" in done.stderr


def test_capitals_name_a_table_where_the_server_takes_them_for_small_letters() -> None:
    """It was said to be none of those that can be seen, after the whole interval."""
    with CopiedServer(binaries_of("mysql-5.6"), ["--lower-case-table-names=1"]) as folding:
        folding.execute("CREATE DATABASE Shop", "CREATE TABLE Shop.Orders (id INT) ENGINE=MyISAM")
        done = run("table", "Shop.Orders", *options(folding), "--interval", "0")
    assert done.stdout.startswith("shop.orders "), done.stderr


@pytest.mark.parametrize("interval", ["1s"])
def test_what_happens_to_it_is_seen_over_an_interval(mariadb: PrivateServer, interval: str) -> None:
    with schema(mariadb, "busy") as database:
        mariadb.execute(f"CREATE TABLE {database}.orders (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM", f"INSERT INTO {database}.orders VALUES (), (), ()")
        done = run("table", f"{database}.orders", *options(mariadb), "--interval", interval)
        assert done.returncode == 0, done.stderr
        assert re.search(r"Rows +3\n", done.stdout)
        assert "Write statements" in done.stdout
        assert f"SHOW INDEX FROM\n  `{database}`.`orders`;" in done.stdout or f"SHOW INDEX FROM `{database}`.`orders`;" in done.stdout


def test_the_columns_of_each_index_are_rows_of_a_view(flavour: PrivateServer) -> None:
    """Of DATE and TINYINT UNSIGNED the header keeps other names, of a prefix its own length."""
    with schema(flavour, "parts") as database:
        columns = "a INT NOT NULL, b BIGINT UNSIGNED, d DATE, s VARCHAR(40) CHARACTER SET latin1 NOT NULL, c CHAR(9) CHARACTER SET latin1, x TEXT CHARACTER SET latin1, y TINYINT UNSIGNED NOT NULL, f DOUBLE"
        flavour.execute(f"CREATE TABLE t ({columns}, PRIMARY KEY (a), KEY (s, b), KEY (d, c), KEY (x(11), y), KEY (f)) ENGINE=MyISAM", database=database)
        asked = f"SELECT index_number, part_number, data_type, length_bytes, is_nullable FROM index_parts WHERE schema_name = '{database}' ORDER BY 1, 2"
        done = run("query", asked, *options(flavour), "--interval", "0", "--format", "json")
        assert done.returncode == 0, done.stderr
        assert [tuple(row.values()) for row in json.loads(done.stdout)] == [
            (1, 1, "INT", 4, 0), (2, 1, "VARCHAR", 40, 0), (2, 2, "BIGINT UNSIGNED", 8, 1), (3, 1, "MEDIUMINT UNSIGNED", 3, 1), (3, 2, "CHAR", 9, 1), (4, 1, "VARCHAR", 11, 1),
            (4, 2, "BINARY", 1, 0), (5, 1, "DOUBLE", 8, 1),
        ]  # fmt: skip
