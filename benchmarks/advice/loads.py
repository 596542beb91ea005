"""Loads: fixed work, the same on both servers of a pair. sysbench's own scripts, mysqlslap, the mixes of the replay benchmark, statements and connections of ours."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from benchmarks import production as mixes
from benchmarks.advice.made_tables import DATABASE
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import words_before
from myisam_advisor.trial.replay import replay, write_statements
from tools.fetched_servers import cache_directory

RUN_LIMIT_SECONDS = 300
SLAP = "debian/root/usr/bin/mariadb-slap"
_TOTAL_TIME = re.compile(r"total time:\s+([\d.]+)s")
_AVERAGE = re.compile(r"Average number of seconds to run all queries: ([\d.]+) seconds")
_DRAWN = re.compile(r"\{(number|hot|hash):(\d+):(\d+)\}")
_THREADS = {"type": "integer", "minimum": 1, "maximum": 64}


class Load(Protocol):
    """What a scenario's server is kept busy with."""

    schema: ClassVar[dict[str, Any]]
    programs: ClassVar[tuple[str, ...]]

    def prepare(self, server: PrivateServer) -> None:
        """Make the tables that it brings with it."""

    def send(self, server: PrivateServer, folder: Path, count: int, number: int) -> float:
        """Do `count` pieces of work, always the same ones for a number, and say how many seconds they took."""


def _fields(required: Sequence[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


@dataclass(frozen=True, slots=True)
class Sysbench:
    """One of the scripts that sysbench brings, on its own tables."""

    schema: ClassVar[dict[str, Any]] = _fields(
        ["script"], script={"enum": [
            "oltp_delete", "oltp_insert", "oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_update_index", "oltp_update_non_index",
            "oltp_write_only", "select_random_points", "select_random_ranges",
        ]}, tables={"type": "integer", "minimum": 1}, rows={"type": "integer", "minimum": 1}, engine={"enum": ["myisam", "innodb", "aria"]},
        threads=_THREADS, options={"type": "object", "additionalProperties": {"type": ["string", "integer"]}},
    )  # fmt: skip
    programs: ClassVar[tuple[str, ...]] = ("sysbench",)
    script: str
    tables: int = 1
    rows: int = 100_000
    engine: str = "myisam"
    threads: int = 4
    options: Mapping[str, object] = field(default_factory=dict)

    def prepare(self, server: PrivateServer) -> None:
        """Its own tables."""
        server.execute("CREATE DATABASE sbtest")
        self._run(server, "prepare", [f"--mysql_storage_engine={self.engine}"])

    def send(self, server: PrivateServer, folder: Path, count: int, number: int) -> float:
        """So many of the script's events."""
        words = [f"--events={count}", "--time=0", f"--rand-seed={number + 1}", f"--threads={self.threads}"]
        return float(_found(_TOTAL_TIME, self._run(server, "run", words), "sysbench"))

    def _run(self, server: PrivateServer, what: str, words: Sequence[str]) -> str:
        own = [f"--{name.replace('_', '-')}={value}" for name, value in self.options.items()]
        command = [
            "sysbench", self.script, "--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root", "--mysql-db=sbtest",
            "--mysql-ignore-errors=1062", f"--tables={self.tables}", f"--table-size={self.rows}", *own, *words, what,
        ]  # fmt: skip
        return _printed(server, command)


@dataclass(frozen=True, slots=True)
class Slap:
    """mysqlslap with queries of ours, on the scenario's tables."""

    schema: ClassVar[dict[str, Any]] = _fields(["query"], query={"type": "string"}, threads=_THREADS)
    programs: ClassVar[tuple[str, ...]] = ("mysqlslap",)
    query: str
    threads: int = 4

    def prepare(self, server: PrivateServer) -> None:
        """It brings none."""

    def send(self, server: PrivateServer, folder: Path, count: int, number: int) -> float:
        """So many queries, shared out among its connections."""
        program = slap_program()
        if program is None:
            raise TrialError("mysqlslap is not there.")
        command = [
            program, "--no-defaults", f"--socket={server.socket}", "--user=root", f"--create-schema={DATABASE}", "--no-drop", "--delimiter=;",
            f"--query={self.query}", f"--concurrency={self.threads}", f"--number-of-queries={count}", "--iterations=1",
        ]  # fmt: skip
        return max(float(_found(_AVERAGE, _printed(server, command), "mysqlslap")), 0.001)


def slap_program() -> str | None:
    """Where it is installed, or as script/servers fetched it."""
    fetched = cache_directory() / SLAP
    return shutil.which("mysqlslap") or shutil.which("mariadb-slap") or (str(fetched) if fetched.exists() else None)


@dataclass(frozen=True, slots=True)
class Mix:
    """One of the recorded mixes of `script/bench replay`, on its tables."""

    schema: ClassVar[dict[str, Any]] = _fields(["name"], name={"enum": list(mixes.MIXES)}, threads=_THREADS)
    programs: ClassVar[tuple[str, ...]] = ("sysbench",)
    name: str
    threads: int = 4

    def prepare(self, server: PrivateServer) -> None:
        """The site's tables."""
        mixes.make_tables(server)

    def send(self, server: PrivateServer, folder: Path, count: int, number: int) -> float:
        """So many statements of each connection."""
        drawn = [random.Random(f"{self.name} {number} {thread}") for thread in range(self.threads)]  # noqa: S311 -- repeatable
        write_statements(folder, [[mixes.MIXES[self.name](draw) for _ in range(count)] for draw in drawn])
        return replay(server, folder, self.threads, mixes.SCHEMA).seconds


@dataclass(frozen=True, slots=True)
class Sent:
    """Statements of the scenario's own, drawn by their weights. {number:1:9} is a number from 1 to 9, {hot:1:9} mostly a low one.

    {hash:1:9} is what tables have of one as LEFT(SHA2(n, 256), 32): MySQL 9.6 and later have no MD5() (it is a component's).
    """

    schema: ClassVar[dict[str, Any]] = _fields(
        ["of"], of={"type": "object", "minProperties": 1, "additionalProperties": {"type": "integer", "minimum": 1}}, threads=_THREADS,
    )  # fmt: skip
    programs: ClassVar[tuple[str, ...]] = ("sysbench",)
    of: Mapping[str, int]
    threads: int = 4

    def prepare(self, server: PrivateServer) -> None:
        """The scenario's tables are enough."""

    def send(self, server: PrivateServer, folder: Path, count: int, number: int) -> float:
        """So many statements of each connection."""
        write_statements(folder, [self.statements(count, f"{number} {thread}") for thread in range(self.threads)])
        return replay(server, folder, self.threads, DATABASE).seconds

    def statements(self, count: int, seed: str) -> list[bytes]:
        """What one connection sends."""
        draw = random.Random(seed)  # noqa: S311 -- repeatable, not secret
        chosen = draw.choices(list(self.of), list(self.of.values()), k=count)
        return [_DRAWN.sub(lambda found: _value(draw, *found.groups()), text).encode() for text in chosen]


@dataclass(frozen=True, slots=True)
class Connections:
    """Connections that run a few statements and end, so many at a time."""

    schema: ClassVar[dict[str, Any]] = _fields(
        ["statement"], statement={"type": "string"}, each={"type": "integer", "minimum": 1}, threads=_THREADS,
    )  # fmt: skip
    programs: ClassVar[tuple[str, ...]] = ()
    statement: str
    each: int = 1
    threads: int = 2

    def prepare(self, server: PrivateServer) -> None:
        """The scenario's tables are enough."""

    def send(self, server: PrivateServer, folder: Path, count: int, number: int) -> float:
        """So many connections, one after another, of each thread."""
        failed: list[Exception] = []

        def one(thread: int) -> None:
            draw = random.Random(f"{number} {thread}")  # noqa: S311 -- repeatable, not secret
            try:
                for _ in range(count):
                    self._connection(server, draw)
            except Exception as error:  # told by who waits for the thread
                failed.append(error)

        began = time.monotonic()
        threads = [threading.Thread(target=one, args=(thread,)) for thread in range(self.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise TrialError(f"a connection failed: {failed[0]}.")
        return time.monotonic() - began

    def _connection(self, server: PrivateServer, draw: random.Random) -> None:
        with server.session(DATABASE) as connection, closing(connection.cursor()) as cursor:
            for _ in range(self.each):
                cursor.execute(_DRAWN.sub(lambda found: _value(draw, *found.groups()), self.statement))
                cursor.fetchall()


LOADS: Mapping[str, Any] = {
    "sysbench": Sysbench, "mysqlslap": Slap, "mix": Mix, "statements": Sent, "connections": Connections,
}  # fmt: skip


def _value(draw: random.Random, kind: str, low: str, high: str) -> str:
    first, last = int(low), int(high)
    if kind == "hot":
        return str(first + int((last - first) * draw.random() ** 4))
    number = str(draw.randint(first, last))
    return hashlib.sha256(number.encode()).hexdigest()[:32] if kind == "hash" else number


def _printed(server: PrivateServer, command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            [*words_before(), *command], capture_output=True, text=True, errors="replace", timeout=RUN_LIMIT_SECONDS, check=False
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TrialError(f"{command[0]} did not end within {RUN_LIMIT_SECONDS} s.") from None
    if done.returncode:
        server.expect_alive()
        raise TrialError(f"{command[0]} failed: {(done.stderr + done.stdout).strip()[-300:]}")
    return done.stdout


def _found(pattern: re.Pattern[str], printed: str, program: str) -> str:
    found = pattern.search(printed)
    if found is None:
        raise TrialError(f"{program} printed no time: {printed[-200:]}")
    return found[1]
