"""How near `migrate` comes: made-up rows in tables of real applications, converted on each server. `script/bench migrate`.

Three sets of tables: `fitted` are those that the shares of pages in catalogue/innodb_pages.py and migrate/aria_pages.py were set by, `others` are
what nothing was set by, `words` those with FULLTEXT indexes. Every second table is filled row by row, the others are loaded: their MyISAM indexes differ.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from benchmarks.made_rows import given_columns, made_rows
from myisam_advisor.catalogue.copy_work import CopyWork, way_of
from myisam_advisor.errors import TrialError
from myisam_advisor.migrate.refusals import refusals
from myisam_advisor.migrate.server_kind import ARIA, INNODB, MARIADB, MYSQL, ServerKind, of_variables
from myisam_advisor.migrate.sizes import bytes_after
from myisam_advisor.migrate.tables import FoundTable, find_tables
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.typed_documents import made
from tests.support.applications import all_tables, applications, quoted, statement_of
from tools.fetched_servers import FETCHED_SERVERS, find_server

WORDS = "words"
PLACES = {"fitted": (0, 72), "others": (72, 110), WORDS: (0, 20)}
TITLES = {"fitted": "Tables that were fitted", "others": "Other tables", WORDS: "Tables with FULLTEXT indexes"}
FULLTEXT = "FULLTEXT"
OF_ONE_APPLICATION, SEED = 6, 23
GOALS = (12e6, 12e6, 16e6, 24e6, 48e6)
SAMPLE_ROWS, MOST_ROWS, MOST_ROWS_ASKED = 3000, 800_000, 8_000_000  # the second where --bytes asks for large tables
LEAST_BYTES = 5e6  # keys of few values leave small tables: nobody asks how large those become
DATABASE = "rehearsal"
# Nothing is forced to the disk, and no table is larger than the pool: sizes are asked, and times of a machine with memory.
OPTIONS = (
    "--sql-mode=", "--secure-file-priv=", "--loose-innodb-doublewrite=0", "--loose-innodb-flush-log-at-trx-commit=0", "--key-buffer-size=128M",
    "--innodb-buffer-pool-size=512M", "--loose-innodb-log-file-size=256M", "--loose-innodb-redo-log-capacity=512M",
    "--myisam-sort-buffer-size=128M", "--loose-skip-log-bin", "--bulk-insert-buffer-size=0",
    "--loose-aria-pagecache-buffer-size=128M",
)  # fmt: skip
CLONE = "rehearsed_copy"
OF_ROWS = frozenset((".ibd", ".MAD", ".MAI"))
PRODUCTS = {MARIADB: "MariaDB", MYSQL: "MySQL"}
AS_IT_IS = "SET SESSION sql_mode = ''"
Case = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One table in one engine: what it had, what was told, what became of it."""

    server: str
    table: str
    engine: str
    bytes_before: int
    bytes_after: int
    low: float
    high: float
    seconds: float
    way: str
    work: CopyWork

    @property
    def error(self) -> float:
        """By which share the middle of what was told is wrong."""
        return (self.low + self.high) / 2 / self.bytes_after - 1

    @property
    def half_width(self) -> float:
        """How far the ends are from the middle."""
        return (self.high - self.low) / (self.high + self.low)


def chosen_tables(which: str) -> list[Case]:
    """Tables of as many applications as possible, each set its own."""
    candidates = [
        (application, table)
        for application, table in all_tables()
        if table["engine"] == "MyISAM"
        and "partitioning" not in table
        and len(table["columns"]) > 1
        and table["indexes"]
    ]
    Random(SEED).shuffle(candidates)  # noqa: S311 -- repeatable, not secret
    if which == WORDS:
        candidates = [one for one in candidates if any(index["type"] == FULLTEXT for index in one[1]["indexes"])]
    counts: dict[str, int] = {}
    shapes: set[object] = set()
    found: list[Case] = []
    for application, table in candidates:
        shape = (application, tuple(column["type"] for column in table["columns"]))
        if shape in shapes or counts.get(application, 0) == OF_ONE_APPLICATION:
            continue
        shapes.add(shape)
        counts[application] = counts.get(application, 0) + 1
        found.append((application, table))
    return found[slice(*PLACES[which])]


def outcomes(binaries: ServerBinaries, cases: Sequence[Case], goal: float | None, times: int = 1) -> Iterator[Outcome]:
    """Of each table in each engine of this server, each copied so many times."""
    with PrivateServer(binaries, OPTIONS) as server:
        rows = {str(name): str(value) for name, value in server.execute("SHOW GLOBAL VARIABLES")}
        major, minor = rows["version"].partition("-")[0].split(".")[:2]
        flavour = "mariadb" if "mariadb" in rows["version"].lower() else "mysql"
        kind = of_variables(flavour, (int(major), int(minor)), rows)
        for number, (application, table) in enumerate(cases):
            wanted = goal or Random(f"{application}.{table['name']}").choice(GOALS)  # noqa: S311 -- repeatable, not secret
            try:
                found = _filled(server, application, table, wanted, server.directory / "rows", loaded=number % 2 == 0)
                if found.contents is not None and found.contents.total_bytes >= LEAST_BYTES:
                    yield from list(_converted(server, f"{application}.{table['name']}", found, kind, times))
            except server_error() as error:
                print(f"{application}.{table['name']} is left out: {error}", file=sys.stderr)


def server_error() -> type[Exception]:
    """What the library raises where a server refuses."""
    from myisam_advisor.trial.private.driver import driver

    return driver().error


def _filled(
    server: PrivateServer, application: str, table: Mapping[str, Any], goal: float, place: Path, *, loaded: bool
) -> FoundTable:
    """The table with rows until it and its indexes have about so many bytes."""
    server.execute(f"DROP DATABASE IF EXISTS {DATABASE}", f"CREATE DATABASE {DATABASE}")
    modern = not server.binaries.name.startswith("mysql-5.")
    server.execute(AS_IT_IS, statement_of(dict(table), utf8mb3=modern), database=DATABASE)
    _load(server, table, place, list(made_rows(application, table, SAMPLE_ROWS)))
    contents = _found(server).contents
    assert contents is not None
    rows = min(
        int(goal / max(contents.total_bytes / SAMPLE_ROWS, 20)), MOST_ROWS_ASKED if goal > max(GOALS) else MOST_ROWS
    )
    server.execute(f"TRUNCATE TABLE {quoted(table['name'])}", database=DATABASE)
    if not loaded:
        # A table that holds rows already is not loaded by sorting its indexes.
        _load(server, table, place, list(made_rows(application, table, 1)))
    _load(server, table, place, made_rows(application, table, rows))
    return _found(server)


def _load(
    server: PrivateServer, table: Mapping[str, Any], place: Path, chunks: Iterator[list[str]] | list[list[str]]
) -> None:
    with place.open("w", encoding="ascii") as file:
        for chunk in chunks:
            file.write("\n".join(chunk) + "\n")
    place.chmod(0o644)
    columns = ", ".join(quoted(column["name"]) for column in given_columns(table))
    into = f"LOAD DATA INFILE '{place}' IGNORE INTO TABLE {quoted(table['name'])} CHARACTER SET latin1 ({columns})"
    server.execute(AS_IT_IS, into, "FLUSH TABLES", database=DATABASE)


def _found(server: PrivateServer) -> FoundTable:
    (found,) = find_tables(server.data_directory, None, [DATABASE]).tables
    return found


def _converted(server: PrivateServer, label: str, found: FoundTable, kind: ServerKind, times: int) -> Iterator[Outcome]:
    """The table in each engine; of several times the shortest, as machines are shared."""
    contents = found.contents
    assert contents is not None
    assert contents.work is not None
    folder = server.data_directory / DATABASE
    for engine in (INNODB, ARIA):
        if any(not refusal.may for refusal in refusals(found.structure, engine, kind)):
            continue
        seconds, size = min(_copied(server, found.name[1], folder, engine) for _ in range(times))
        low, high = bytes_after(found.structure, contents, engine, kind)
        yield Outcome(
            server.binaries.name,
            label,
            engine,
            contents.total_bytes,
            size,
            low,
            high,
            seconds,
            way_of(PRODUCTS[kind.flavour], f"{kind.version[0]}.{kind.version[1]}", engine, sorts=kind.sorts_copies),
            contents.work,
        )


def _copied(server: PrivateServer, table: str, folder: Path, engine: str) -> tuple[float, int]:
    """How long the ALTER of a table with the same files lasts, and how large it is then.

    Files are copied by the server's own user (trial/private/apart.py), never by root: INSERT ... SELECT would fill pages of indexes otherwise.
    """
    (source,) = (path.stem for path in folder.glob("*.MYI") if not path.name.startswith(CLONE))
    server.execute(f"CREATE TABLE {CLONE} LIKE {quoted(table)}", "FLUSH TABLES", database=DATABASE)
    for ending in (".MYD", ".MYI"):
        shutil.copyfile(folder / f"{source}{ending}", folder / f"{CLONE}{ending}")
    options = ", ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0" if engine == INNODB else ""
    begin = time.monotonic()
    server.execute(AS_IT_IS, f"ALTER TABLE {CLONE} ENGINE={engine}{options}", database=DATABASE)
    seconds = time.monotonic() - begin
    server.execute("FLUSH TABLES")
    size = sum(path.stat().st_size for path in folder.iterdir() if path.suffix in OF_ROWS)
    server.execute(f"DROP TABLE {CLONE}", database=DATABASE)
    return seconds, size


def table_of(found: Sequence[Outcome]) -> Iterator[str]:
    """The lines of a table for docs/guide/migrate-measured.md."""
    yield "| server | to | tables | largest | middle within 10 % | true size within the range | median error of the middle | median half-width of the range |"
    yield "|---|---|---|---|---|---|---|---|"
    for server, engine in dict.fromkeys((one.server, one.engine) for one in found):
        of = [one for one in found if (one.server, one.engine) == (server, engine)]
        near = sum(abs(one.error) <= 0.1 for one in of)
        between = sum(one.low <= one.bytes_after <= one.high for one in of)
        error, width = median(abs(one.error) for one in of), median(one.half_width for one in of)
        largest = max(one.bytes_before for one in of) / 1e6
        yield f"| {server} | {engine} | {len(of)} | {largest:.0f} MB | {near} | {between} | {error:.1%} | ± {width:.0%} |"


def main(words: Sequence[str]) -> None:
    """`[fitted|others] [SERVER...] [--bytes N]`: each outcome as a line, then the table."""
    goal = float(words[words.index("--bytes") + 1]) if "--bytes" in words else None
    plain = [word for word in words if word in PLACES or word in FETCHED_SERVERS]
    names = [word for word in plain if word in FETCHED_SERVERS] or list(FETCHED_SERVERS)
    if not applications():
        raise TrialError("../shared/schemas is not there: the structures of real applications.")
    for which in [word for word in plain if word in PLACES] or PLACES:
        cases = chosen_tables(which)
        found = [one for name in names if (binaries := find_server(name)) for one in _apart(binaries, cases, goal)]
        print(f"\n{TITLES[which]}:")
        print(*table_of(found), sep="\n")


def _apart(binaries: ServerBinaries, cases: Sequence[Case], goal: float | None) -> list[Outcome]:
    """All outcomes of one server, each told when it is there."""

    def work(channel: Channel) -> None:
        for one in outcomes(binaries, cases, goal):
            channel.send({"outcome": asdict(one)})

    found: list[Outcome] = []

    def note(message: Mapping[str, Any]) -> None:
        one = made(Outcome, message["outcome"])
        print(
            f"{one.server} {one.engine} {one.table}: {one.bytes_before} -> {one.bytes_after}, told {one.error:+.1%}, {one.seconds:.2f} s",
            flush=True,
        )
        found.append(one)

    with apart(work) as place:
        place.result(note)
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
