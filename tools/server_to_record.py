"""The server that tools/record_machine.py records: small tables of every kind, one of them damaged, and a load on them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import run
from tools.fetched_servers import find_server

# From the beginning of the load to the first look.
SETTLE_SECONDS = 2.0
KEY_CACHE_LOCK = "wait/synch/mutex/mysys/KEY_CACHE::cache_lock"
OPTIONS = (
    "--key-buffer-size=8M",
    "--table-open-cache=64",
    "--performance-schema=ON",
    f"--performance-schema-instrument={KEY_CACHE_LOCK}=ON",
    "--myisam-recover-options=OFF",
    "--skip-log-bin",
    "--loose-userstat=ON",
)
INIT_FILE = (
    b"SET GLOBAL hot.key_buffer_size = 1048576;\nCACHE INDEX shop.orders IN hot;\nLOAD INDEX INTO CACHE shop.orders;\n"
)
NOTES = ", ".join(f"({number}, 'note {number}')" for number in range(1, 61))
POSTS = ", ".join(
    f"({number}, {number % 7}, 'word{number % 13} {'text ' * (number % 5 + 1)}')" for number in range(1, 81)
)
SCHEMAS = ("CREATE DATABASE shop", "CREATE DATABASE archive", "CREATE DATABASE `odd names`")
TABLES = (
    "CREATE TABLE shop.orders (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, state CHAR(10) NOT NULL, KEY (customer)) ENGINE=MyISAM",
    "INSERT INTO shop.orders (customer, state) VALUES " + ", ".join(f"({number % 17}, 'new')" for number in range(60)),
    "CREATE TABLE shop.counters (id INT NOT NULL PRIMARY KEY, hits INT NOT NULL) ENGINE=MyISAM",
    "INSERT INTO shop.counters VALUES (1, 0), (2, 0), (3, 0)",
    "CREATE TABLE shop.posts (id INT NOT NULL PRIMARY KEY, author INT, body TEXT NOT NULL, KEY (author), FULLTEXT KEY (body)) ENGINE=MyISAM",
    f"INSERT INTO shop.posts VALUES {POSTS}",
    "DELETE FROM shop.posts WHERE id % 10 = 0",
    "CREATE TABLE shop.items (code CHAR(20) NOT NULL, name VARCHAR(60) NOT NULL, PRIMARY KEY (code), KEY (name)) ENGINE=MyISAM PACK_KEYS=1",
    "INSERT INTO shop.items VALUES " + ", ".join(f"('code{number:06}', 'a thing of kind {number % 9}')" for number in range(70)),
    "CREATE TABLE shop.basket (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB",
    "CREATE TABLE archive.broken (id INT NOT NULL PRIMARY KEY, note CHAR(20) NOT NULL) ENGINE=MyISAM",
    f"INSERT INTO archive.broken VALUES {NOTES}",
    "CREATE TABLE archive.old_log (id INT NOT NULL PRIMARY KEY, line VARCHAR(80) NOT NULL) ENGINE=MyISAM",
    "INSERT INTO archive.old_log VALUES " + ", ".join(f"({number}, 'line {number % 10} of the log')" for number in range(1, 201)),
    "CREATE TABLE `odd names`.`a b` (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM",
    "INSERT INTO `odd names`.`a b` VALUES (1), (2)",
    "CREATE TABLE `odd names`.`100%/ünï.中` (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM",
    "INSERT INTO `odd names`.`100%/ünï.中` VALUES (1), (2), (3)",
)  # fmt: skip
PARTITIONED = (
    "CREATE TABLE archive.parted (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM PARTITION BY HASH (id) PARTITIONS 3",
    "INSERT INTO archive.parted VALUES (1), (2), (3), (4), (5), (6), (7)",
)
# Behind a header of 1,024 bytes, which small tables have.
INDEX_PAGES_START, SPOILT_BYTES = 1024, 512
# Statement, times a second.
LOAD = (
    ("INSERT INTO shop.orders (customer, state) VALUES (1, 'new'), (2, 'paid')", 20),
    ("UPDATE shop.counters SET hits = hits + 1 WHERE id = 1", 40),
    ("SELECT body FROM shop.posts WHERE id = 17", 600),
    ("SELECT COUNT(*) FROM shop.items WHERE name LIKE '%kind 4%'", 40),
)
LOCK_SECONDS = 30


@contextmanager
def prepared(name: str) -> Iterator[PrivateServer]:
    """A server with the tables, started anew since they were made."""
    binaries = find_server(name)
    if binaries is None:
        raise SystemExit(f"record_machine: {name} is not in the cache: run script/servers {name}")
    with PrivateServer(binaries, OPTIONS) as server:
        parted = () if name == "mysql-9.7" else PARTITIONED  # MySQL 8.0 and later cannot partition MyISAM
        server.execute("SET NAMES utf8mb4", *SCHEMAS, *TABLES, *parted, "FLUSH TABLES")
        _compress(server, "archive", "old_log")
        _crash(server, "archive", "broken")
        init_file = server.data_directory / "init.sql"
        init_file.write_bytes(INIT_FILE)
        server.give_away(init_file)
        server.restart([f"--init-file={init_file}"])
        yield server


def _compress(server: PrivateServer, schema: str, table: str) -> None:
    """By the server's own tools, or by MariaDB's: all write the same files."""
    path = server.data_directory / schema / table
    tools = server.binaries if server.binaries.tool("myisampack") else find_server("mariadb-10.11")
    pack, check = (tools.tool(tool) if tools else None for tool in ("myisampack", "myisamchk"))
    if pack is None or check is None:
        raise SystemExit("record_machine: no myisampack: run script/servers mariadb-10.11")
    run(*pack, "--silent", "--force", str(path))
    run(*check, "-rq", "--silent", str(path))
    server.execute("FLUSH TABLES")


def _crash(server: PrivateServer, schema: str, table: str) -> None:
    with (server.data_directory / schema / f"{table}.MYI").open("r+b") as file:
        file.seek(INDEX_PAGES_START)
        file.write(b"\xff" * SPOILT_BYTES)
    server.execute(f"CHECK TABLE {schema}.{table}")


@contextmanager
def under_load(server: PrivateServer) -> Iterator[None]:
    """A connection for each statement of the load, one that holds a table, and one that waits for it."""
    stop = threading.Event()
    with ExitStack() as stack:
        stack.callback(stop.set)
        works: list[Callable[[], None]] = [_repeated(server, statement, 1 / often, stop) for statement, often in LOAD]
        works.append(_once(server, f"SELECT SLEEP({LOCK_SECONDS}) FROM `odd names`.`a b` LIMIT 1"))
        works.append(_once(server, "DELETE FROM `odd names`.`a b` WHERE id = 99", SETTLE_SECONDS / 2))
        for work in works:
            threading.Thread(target=work, daemon=True).start()
        yield


def _repeated(server: PrivateServer, statement: str, pause: float, stop: threading.Event) -> Callable[[], None]:
    def work() -> None:
        with server.session() as connection, closing(connection.cursor()) as cursor:
            while not stop.wait(pause):
                cursor.execute(statement)
                cursor.fetchall()

    return work


def _once(server: PrivateServer, statement: str, after_seconds: float = 0.0) -> Callable[[], None]:
    def work() -> None:
        time.sleep(after_seconds)
        with server.session() as connection, closing(connection.cursor()) as cursor:
            # The recording ends, and the server with it, before this does.
            try:
                cursor.execute(statement)
            except Exception as error:
                print(f"  ended with the server: {error}")

    return work
