"""Tables of long and odd names are copied as others are: the files of some servers do not have the whole name."""

import time
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.tables.copying import copy_tables
from myisam_advisor.trial.tables.sources import find_copyable
from myisam_exporter.server.sql import quote_table
from tests.support import workloads
from tests.support.apart import by_somebody_else
from tests.support.servers import binaries_of

from .conftest import schema
from .trials import measured, temporary

__all__ = ["temporary"]  # a fixture that tests of a trial share

DATABASE = "a/b db"
# MySQL 8 and later keep sixteen characters in the name of a .sdi file, which are the same for the first ones here.
NAMES = (
    "wp_term_relationships", "wp_term_relations", "wp_term_relation", "x" * 64, "\N{LATIN SMALL LETTER U WITH DIAERESIS}" * 20 + " \N{CJK UNIFIED IDEOGRAPH-6F22}",
    "a", "a_1", "a/b.c `d` \"e\" 'f'", "new\nline",
)  # fmt: skip


@pytest.fixture
def named(server: PrivateServer) -> Any:
    with schema(server, DATABASE):
        for number, name in enumerate(NAMES):
            table = quote_table(DATABASE, name)
            values = ",".join(f"({row})" for row in range(number + 1))
            server.execute(f"CREATE TABLE {table} (n INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", f"INSERT INTO {table} VALUES {values}")
        # The number in the file's name is another one now.
        server.execute(f"ALTER TABLE {quote_table(DATABASE, NAMES[0])} ROW_FORMAT=DYNAMIC", "FLUSH TABLES")
        yield


def test_each_is_copied_with_its_own_rows(server: PrivateServer, named: None) -> None:
    with find_copyable(server.data_directory, [(DATABASE, name) for name in NAMES], 1 << 30) as (sources, reasons):
        assert reasons == {}

        def work() -> Any:
            with PrivateServer(server.binaries) as private:
                return [copied.total_rows for copied in copy_tables(sources, private, None, Listener())]

        assert by_somebody_else(work) == [number + 1 for number in range(len(NAMES))]


def test_a_definition_that_was_copied_by_hand_is_nobodys(server: PrivateServer, named: None) -> None:
    folder = next(path for path in server.data_directory.iterdir() if path.name.startswith("a@002fb"))
    own = list(folder.glob("wp_term_relation*.sdi"))
    for path in own:
        (folder / "wp_term_relation_1.sdi").write_bytes(path.read_bytes())
    with find_copyable(server.data_directory, [(DATABASE, name) for name in NAMES[:3]], 1 << 30) as (sources, reasons):
        found = [[file.name for file in source.files if file.name.endswith(".sdi")] for source in sources]
    assert reasons == {}
    assert len({name for names in found for name in names}) == len(own)
    assert "wp_term_relation_1.sdi" not in str(found)


@pytest.mark.parametrize("kind", ["mariadb-10.11", "mysql-9.7"])
def test_capitals_in_statements_are_small_letters_where_the_server_takes_them_so(kind: str, temporary: Path, tmp_path: Path) -> None:
    def word(at: int, statement: bytes) -> Any:
        return workloads.event(1, at * 1000, statement, 1 if statement.startswith(b"SELECT") else 0, b"shop")

    events = [
        one
        for at in range(20)
        for one in (word(4 * at, b"SELECT n FROM Words WHERE n = 1"), word(4 * at + 1, b"SELECT COUNT(*) FROM SHOP.WORDS w JOIN log l"), word(4 * at + 2, b"INSERT INTO Shop.Log VALUES (%d)" % at))
    ]
    path = workloads.write(tmp_path / "w", events, began=int(time.time() * 1e6))
    with PrivateServer(binaries_of(kind), ["--lower-case-table-names=1"]) as server, schema(server, "shop"):
        server.execute(
            "CREATE TABLE Words (n INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO words VALUES (1), (2)", "CREATE TABLE LOG (n INT) ENGINE=MyISAM", "FLUSH TABLES",
            database="shop",
        )  # fmt: skip
        document = measured(temporary, "replay", "--workload", path, "-S", server.socket, "-u", "root", "--interval", "0", "--set", "key_buffer_size=1M", "--rounds", "1")
    assert document["tables"] == ["shop.log", "shop.words"]
    assert (document["fidelity"]["sent"], document["fidelity"]["left_out"]) == (60, {})
    assert document["fidelity"]["differing_share"] == 0
    assert {one["table"]: one["recorded_writes"] for one in document["fidelity"]["tables"]} == {"shop.log": 20, "shop.words": 0}
