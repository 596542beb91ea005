"""SIGKILL under inserts: what of the acknowledged rows is there afterwards, and how long it takes until the table can be used again.

The rows are the table's own: they are taken out first, and come back one by one, each its own transaction. A process that is killed leaves
the page cache whole: what a loss of power takes besides is not seen here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import field

from myisam_advisor.errors import TrialError
from myisam_advisor.remedies.engine_change import INNODB
from myisam_advisor.trial.bench import SCHEMA
from myisam_advisor.trial.engines.drawn_rows import DrawnRows
from myisam_advisor.trial.engines.result import Crash
from myisam_advisor.trial.engines.stage import EngineServer, server_error, text_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql

# Of the table's rows, a quarter at most is taken out.
MOST_HELD, HELD_SHARE = 20_000, 4
LEAST_HELD = 100
LOAD_SECONDS, WAIT_SECONDS, KILLED_AT = 2.0, 60.0, 0.6
ROWS_AT_ONCE = 100
COUNTS = f"{SCHEMA}.counts"
# What keeps each commit on the disk: without it a kill takes those of the last second, and of Aria those of aria_group_commit_interval.
KEPT_AT_COMMIT = {"innodb_flush_log_at_trx_commit": "1", "aria_group_commit": "none"}
# What CHECK TABLE says of a table that is as it should be.
WELL = frozenset(("ok", "table is already up to date"))


@dataclass(slots=True)
class _Load:
    """Threads that insert, each its own rows, and count what was acknowledged."""

    server: EngineServer
    rows: DrawnRows
    parts: Sequence[Sequence[Sequence[bytes]]]
    acknowledged: list[int] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    is_killed: bool = False

    def run(self) -> None:
        """Insert until enough is acknowledged or time is up, and kill the server in the midst of it."""
        self.acknowledged = [0] * len(self.parts)
        threads = [threading.Thread(target=self._insert, args=(number,)) for number in range(len(self.parts))]
        for thread in threads:
            thread.start()
        self._wait(threads)
        self.is_killed = True
        self.server.kill()
        for thread in threads:
            thread.join()

    @property
    def total(self) -> int:
        """Rows that were acknowledged."""
        return sum(self.acknowledged)

    @property
    def rows_acknowledged(self) -> Iterator[Sequence[bytes]]:
        """These rows."""
        for part, count in zip(self.parts, self.acknowledged, strict=True):
            yield from part[:count]

    def _insert(self, number: int) -> None:
        try:
            with closing(self.server.server.connect()) as connection, closing(connection.cursor()) as cursor:
                cursor.execute("SET NAMES binary")
                cursor.execute("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
                for row in self.parts[number]:
                    cursor.execute(self.rows.insert([row]))
                    self.acknowledged[number] += 1
        except server_error() as error:
            # What the kill itself brings about is no refusal.
            if not self.is_killed:
                self.refused.append(str(error.args[-1]))

    def _wait(self, threads: Sequence[threading.Thread]) -> None:
        enough = KILLED_AT * sum(map(len, self.parts))
        began, first = time.monotonic(), None
        while any(thread.is_alive() for thread in threads):
            now = time.monotonic()
            first = now if first is None and self.total else first
            if self.total >= enough or (first and now - first > LOAD_SECONDS) or now - began > WAIT_SECONDS:
                return
            time.sleep(0.002)


def crashed(one: EngineServer, rows: DrawnRows, total_rows: int, threads: int) -> Crash:
    """Kill the server under inserts into the table, start it again, check and repair, and count. Raises TrialError where that cannot be done."""
    held = rows.rows[: min(MOST_HELD, total_rows // HELD_SHARE)]
    if len(held) < LEAST_HELD:
        raise TrialError(f"the table has too few rows to insert (at least {LEAST_HELD * HELD_SHARE}).")
    if rows.key_columns:
        with _keeping_commits(one):
            _take_out(one, rows, held)
    before, is_spatial = one.server.count(rows.name), _is_spatial(one, rows)
    load = _Load(one, rows, [held[number::threads] for number in range(threads)])
    load.run()
    if load.refused:
        one.server.start()
        raise TrialError(f"an insert failed: {load.refused[0]}.")
    began = time.monotonic()
    one.server.start()
    start_seconds = time.monotonic() - began
    found_wrong = _looked_over(one, rows.name, is_spatial=is_spatial)
    repair_seconds = _repaired(one, rows) if found_wrong.is_damaged else 0.0
    found = one.server.count(rows.name) - before
    there = _there(one, rows, load.rows_acknowledged) if rows.key_columns else min(found, load.total)
    mended_seconds = 0.0 if found_wrong.is_well else found_wrong.seconds + repair_seconds
    return Crash(
        acknowledged=load.total,
        found=found,
        lost=load.total - there,
        in_flight=threads,
        is_exact=bool(rows.key_columns),
        check=found_wrong.words,
        is_damaged=found_wrong.is_damaged,
        start_seconds=start_seconds,
        check_seconds=found_wrong.seconds,
        repair_seconds=repair_seconds,
        recovery_seconds=start_seconds + mended_seconds,
        extended_check_seconds=found_wrong.extended_seconds,
    )


@contextmanager
def _keeping_commits(one: EngineServer) -> Iterator[None]:
    """Whatever the settings are: rows whose removal a kill takes would pass for rows that came back."""
    shown = one.server.variables()
    before = {name: shown[name] for name in KEPT_AT_COMMIT if name in shown}
    one.server.execute(*(_set(name, KEPT_AT_COMMIT[name]) for name in before))
    yield
    one.server.execute(*(_set(name, value) for name, value in before.items()))


def _set(name: str, value: str) -> str:
    # A number in quotes is of the wrong type (error 1232).
    return f"SET GLOBAL {name} = {value}" if value.isdecimal() else f"SET GLOBAL {name} = '{value}'"


def _take_out(one: EngineServer, rows: DrawnRows, held: Sequence[Sequence[bytes]]) -> None:
    with closing(one.server.connect()) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("SET NAMES binary")
        cursor.execute("START TRANSACTION")
        for some in _batches(held):
            cursor.execute(b"DELETE FROM %b WHERE %b" % (rows.name.encode(), _any_of(rows, some)))
        cursor.execute("COMMIT")


def _there(one: EngineServer, rows: DrawnRows, wanted: Iterator[Sequence[bytes]]) -> int:
    """How many of these rows are in the table: each has a key of its own.

    Counted by way of a table: values go to the server byte for byte, and a result in that character set no library reads.
    """
    one.server.execute(
        f"CREATE DATABASE IF NOT EXISTS {SCHEMA}", f"DROP TABLE IF EXISTS {COUNTS}", f"CREATE TABLE {COUNTS} (n BIGINT)"
    )
    with closing(one.server.connect()) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("SET NAMES binary")
        for some in _batches(list(wanted)):
            condition = _any_of(rows, some)
            cursor.execute(
                b"INSERT INTO %b SELECT COUNT(*) FROM %b WHERE %b" % (COUNTS.encode(), rows.name.encode(), condition)
            )
    return int(text_of(one.server.execute(f"SELECT COALESCE(SUM(n), 0) FROM {COUNTS}")[0][0]))


def _any_of(rows: DrawnRows, some: Sequence[Sequence[bytes]]) -> bytes:
    return b" OR ".join(b"(%b)" % rows.condition(row) for row in some)


def _batches(rows: Sequence[Sequence[bytes]]) -> Iterator[Sequence[Sequence[bytes]]]:
    return (rows[begin : begin + ROWS_AT_ONCE] for begin in range(0, len(rows), ROWS_AT_ONCE))


def _is_spatial(one: EngineServer, rows: DrawnRows) -> bool:
    """Whether damage could be in a SPATIAL index, into which only the extended check looks. Asked before the crash: a crashed table tells no indexes."""
    indexes = one.server.execute(f"SHOW INDEX FROM {rows.name}")
    return one.engine != INNODB and any(text_of(row[10]) == "SPATIAL" for row in indexes)


@dataclass(frozen=True, slots=True)
class _Check:
    """What CHECK TABLE said, and how long it took; `extended_seconds` of it, where it was made, apart: who has a table mended waits for none such."""

    words: str
    is_damaged: bool
    seconds: float
    extended_seconds: float = 0.0

    @property
    def is_well(self) -> bool:
        """Whether there was nothing to mend or to mark."""
        return self.words.lower() in WELL


def _looked_over(one: EngineServer, name: Sql, *, is_spatial: bool) -> _Check:
    """The plain check, as for every engine, and where that finds no damage the extended one of a table with a SPATIAL index."""
    plain = _Check(*_checked(one, f"CHECK TABLE {name}"))
    if plain.is_damaged or not is_spatial:
        return plain
    words, is_damaged, seconds = _checked(one, f"CHECK TABLE {name} EXTENDED")
    told = words if plain.is_well else f"{plain.words}; {words}"
    return _Check(told if is_damaged else plain.words, is_damaged, plain.seconds, seconds)


def _checked(one: EngineServer, check: str) -> tuple[str, bool, float]:
    """What this CHECK TABLE says, whether the table is damaged, and how long it took."""
    began = time.monotonic()
    said = one.server.execute(check)
    seconds = time.monotonic() - began
    words = list(dict.fromkeys(text_of(row[3]) for row in said))
    wrong = [text for text in words if text.lower() not in WELL]
    is_damaged = any(text_of(row[2]).lower() == "error" for row in said) or text_of(said[-1][3]).lower() not in WELL
    return "; ".join(wrong) or words[-1], is_damaged, seconds


def _repaired(one: EngineServer, rows: DrawnRows) -> float:
    began = time.monotonic()
    with suppress(server_error()):
        one.server.execute(f"REPAIR TABLE {rows.name}")
    return time.monotonic() - began
