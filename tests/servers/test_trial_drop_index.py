"""What an index costs, and which one can be dropped: `trial drop-index`."""

import re
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.sql import quote_identifier
from tests.support.servers import MARIADB, CopiedServer, binaries_of

from .conftest import schema
from .trials import ODD, SMALL, fails, make_table, measured, temporary

__all__ = ["temporary"]  # a fixture that tests of a trial share

DOUBLED = "a'b\"c`d\\ \N{CYRILLIC SMALL LETTER ZHE}"


def make_doubled_table(server: PrivateServer, database: str, table: str) -> str:
    """An index with an odd name that another one begins with, and indexes of every other kind."""
    name = make_table(server, database, table)
    server.execute(
        f"ALTER TABLE {name} ADD KEY {quote_identifier(DOUBLED)} (number), ADD KEY longer (number, name), ADD UNIQUE KEY both_of_them (id, number), ADD FULLTEXT KEY words (name)"
    )
    return name


def figures_of(document: dict[str, Any], workload: str, figure: str) -> tuple[float, float]:
    """With the index and without it, in the first run."""
    (found,) = [one for one in document["workloads"] if one["name"] == workload]
    kept, dropped = (found["variants"][variant]["runs"][0]["figures"][figure] for variant in ("index kept", "index dropped"))
    return kept, dropped


@pytest.mark.parametrize("kind", ["mysql-5.6", "mysql-9.7", "mariadb-10.11", "mariadb-11.8"])
def test_an_index_that_another_one_can_replace_is_found_and_weighed(temporary: Path, kind: str) -> None:
    with CopiedServer(binaries_of(kind)) as server:
        server.execute("CREATE DATABASE shop")
        name = make_doubled_table(server, "shop", ODD)
        shown = server.execute(f"SHOW INDEX FROM {name}")
        words = ("--socket", server.socket, "--user", "root", "--table", f"`shop`.`{ODD.replace('`', '``')}`", "--seconds", "0.1", "--rounds", "4")
        document = measured(temporary, "drop-index", *words)
        assert server.execute(f"SHOW INDEX FROM {name}") == shown  # yours keeps it
    number = list(dict.fromkeys(row[2] for row in shown)).index(DOUBLED) + 1
    assert re.match(rf"Dropped: index {number} `.*` \(number\); \d+ longer \(number, name\) takes its place\.", document["conclusion"])
    assert [one["name"] for one in document["workloads"]] == ["inserts of 1 row", "inserts of 100 rows", "deletes", "rows of one key", "counts of 100 keys"]
    assert document["skipped"] == {"updates of its first column": "this column is generated, or part of a unique index"}
    for workload in ("inserts of 1 row", "deletes"):
        kept, dropped = figures_of(document, workload, "key_blocks_changed_per_row")
        assert kept > dropped + 0.5  # a leaf of one index less for each row
    for figure in ("index_bytes", "key_cache_blocks"):
        kept, dropped = figures_of(document, "counts of 100 keys", figure)
        assert kept > dropped > 0
    kept, dropped = figures_of(document, "counts of 100 keys", "key_blocks_read_per_key")
    assert dropped > 1
    assert "of index file instead of" in document["conclusion"]


def test_an_index_is_chosen_by_name_and_number(mariadb: PrivateServer, temporary: Path) -> None:
    with schema(mariadb, "shop") as database:
        mariadb.execute(
            f"ALTER TABLE {make_table(mariadb, database)} ADD KEY (number), ADD KEY pair (number, name), ADD KEY `line\nbreak` (name)",
            "ALTER TABLE shop.orders ALTER INDEX number IGNORED",
        )
        words = ("drop-index", "--socket", mariadb.socket, "--user", "root", "--table", "shop.orders", *SMALL)
        by_name, by_number = (measured(temporary, *words, "--index", index) for index in ("PAIR", "3"))
        assert by_name["workloads"][0]["note"] == "Dropped: index 4 pair (number, name); no other begins with its columns; to be tried next: 3 number (number), 5 `line\nbreak` (name) (--index)"
        assert "read the whole table" in by_name["skipped"]["reads by its columns"]
        assert [one["name"] for one in by_name["workloads"]] == ["inserts of 1 row", "inserts of 100 rows", "updates of its first column", "deletes"]
        kept, dropped = figures_of(by_name, "updates of its first column", "key_blocks_changed_per_row")
        assert kept > dropped
        assert "4 pair (number, name) takes its place" in by_number["workloads"][0]["note"]
        assert by_number["skipped"] == {"reads by its columns": "the index is hidden: no statement reads by it"}
        fails(temporary, "has a line break in its name: statements are sent line by line", *words, "--index", "5")


def test_indexes_that_cannot_be_tried(mariadb: PrivateServer, temporary: Path) -> None:
    def refused(message: str, *words: str) -> None:
        fails(temporary, message, "drop-index", "--socket", mariadb.socket, "--user", "root", *words, *SMALL)

    with schema(mariadb, "shop") as database:
        make_doubled_table(mariadb, database, "orders")
        make_table(mariadb, database, "plain")
        mariadb.execute(
            "CREATE TABLE shop.empty (a INT NOT NULL, KEY (a), KEY (a)) ENGINE=MyISAM",
            "CREATE TABLE shop.bare ENGINE=MyISAM SELECT * FROM shop.plain",
            "CREATE TABLE shop.counted (id INT NOT NULL AUTO_INCREMENT, number INT, KEY (id), KEY (number, id)) ENGINE=MyISAM SELECT id, number FROM shop.plain",
        )
        refused(r"shop.empty has 0 rows: too few to measure anything", "--table", "shop.empty")
        refused(r"shop.plain \(copy\) has no index that another one can replace: name the one to drop \(--index\)\. Its indexes: 1 PRIMARY \(id\), 2 name \(name\)\.", "--table", "shop.plain")
        refused(r"has no index that another one can replace: .* Its indexes: none\.", "--table", "shop.bare")
        refused(r"has no index Number\. Did you mean number\?|has no index `?nubmer`?\.", "--table", "shop.orders", "--index", "nubmer")
        refused(r"has no index 99\.|has no index `99`\.", "--table", "shop.orders", "--index", "99")
        refused(r"has no index `x``; DROP TABLE y`\.", "--table", "shop.orders", "--index", "x`; DROP TABLE y")
        refused("is the primary key: it forbids duplicates, and is not dropped", "--table", "shop.orders", "--index", "primary")
        refused("forbids duplicates: no other index does that for these columns", "--table", "shop.orders", "--index", "both_of_them")
        refused("index 1 id .* is what AUTO_INCREMENT counts by: no other index begins with that column", "--table", "shop.counted", "--index", "id")
        refused("words .* is a FULLTEXT index", "--table", "shop.orders", "--index", "words")
        refused("one table at a time: give --table once", "--table", "shop.orders", "--table", "shop.plain")
    fails(temporary, "--index belongs to drop-index: pack-keys drops no index", "pack-keys", "--server", MARIADB, "--index", "k", *SMALL)
