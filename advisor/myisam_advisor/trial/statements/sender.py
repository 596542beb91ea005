"""Sends the records of a schedule by sysbench, and reads what came of each statement."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import words_before
from myisam_advisor.trial.replay import failure_of, sender_program
from myisam_advisor.trial.statements.records import (
    Answer,
    ThreadReport,
    prepare_answers,
    read_answers,
    read_report,
)
from myisam_advisor.trial.statements.schedule import Schedule
from myisam_advisor.trial.statements.stages import ACCOUNT
from myisam_advisor.workload.fingerprints import fingerprint
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import quote_value, statement

# A private server is started with room for this many connections; with room for so many more than are sent from; and for so many at most.
USUAL_CONNECTIONS, SPARE_CONNECTIONS, MOST_CONNECTIONS = 200, 100, 5000
SCRIPT = Path(__file__).with_name("sending.lua")
# Read at once: where we were installed, the trial's own user may not be able to read.
SCRIPT_TEXT = SCRIPT.read_bytes()
MAXIMUM_SPEED, RECORDED_SPEED = "max", "1"
# Above this share of the CPU time of sender and server, the sender hides a part of the server's differences.
BUSY_SENDER_SHARE = 0.3
SHOWN_CHARACTERS = 200
LOOK, ANSWER_SECONDS = "SHOW FULL PROCESSLIST", 5
# No run is given up before the first; without a budget, none before so many times what it was recorded in.
SHORTEST_LIMIT_SECONDS, LONGEST_SLOWDOWN = 120.0, 20.0


@dataclass(frozen=True, slots=True)
class Sent:
    """One run: what each thread says of itself, and the files with the answers, in the order of the threads."""

    folder: Path
    reports: Sequence[ThreadReport]

    @property
    def seconds(self) -> float:
        """From the first thread's beginning to the last one's end."""
        return max(one.ended_seconds for one in self.reports) - min(one.begun_seconds for one in self.reports)

    @property
    def sender_cpu_seconds(self) -> float:
        """CPU time of the sender between the first beginning and the last end."""
        return max(one.cpu_ended_seconds for one in self.reports) - min(one.cpu_begun_seconds for one in self.reports)

    @property
    def lost_turns(self) -> int:
        """Writes that were sent though their turn had not come."""
        return sum(one.lost for one in self.reports)

    def answers(self, thread: int) -> Iterator[Answer]:
        """What came of each of a thread's statements, in their order."""
        return read_answers((self.folder / f"{thread}.answers").read_bytes())


def send(
    server: PrivateServer,
    schedule: Schedule,
    speed: str,
    limit_seconds: float,
    *,
    stop_seconds: float = 0,
    account: str = ACCOUNT,
) -> Sent:
    """Send what was written for it, and wait for the answers, for so many seconds at most.

    `stop_seconds` after all threads have begun (0: never) nothing more is sent, but one statement of each in any case: what is left has no answer, and no error.
    Raises TrialError when sysbench is missing, fails, or takes longer than the limit.
    """
    program, folder, statements = sender_program(), schedule.folder, schedule.statements
    script = folder / SCRIPT.name
    if not script.exists():
        script.write_bytes(SCRIPT_TEXT)
    prepare_answers(folder, statements, schedule.writes)
    _make_room(server, schedule.at_once)
    command = [
        *words_before(), program, str(script), "--db-driver=mysql", f"--threads={len(statements)}", "--time=0", "--events=0",
        f"--statements={folder}", f"--pace={speed}", f"--socket={server.socket}", f"--account={account}",
        f"--stop={stop_seconds}", "run",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_seconds,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TrialError(
            f"a run of the workload did not end within {limit_seconds:.0f} s: record a shorter one, or give it more time (--budget).{_under_way(server)}"
        ) from None
    server.expect_alive()
    if done.returncode != 0:
        raise failure_of(done)
    return Sent(folder, [read_report(_head(folder, number)) for number in range(len(statements))])


def _under_way(server: PrivateServer) -> str:
    """The statement that the server was at for longest, in a sentence and without its values; empty where it does not tell."""
    with (
        contextlib.suppress(driver().error),
        contextlib.closing(server.connect(answer_seconds=ANSWER_SECONDS)) as connection,
        contextlib.closing(connection.cursor()) as cursor,
    ):
        cursor.execute(LOOK)
        busy = [row for row in cursor.fetchall() if row[4] in ("Query", "Execute") and row[7] and row[7] != LOOK]
        if busy:
            *_, seconds, state, text = max(busy, key=lambda row: row[5] or 0)[:8]
            said = fingerprint(str(text).encode("utf-8", "replace"))[:SHOWN_CHARACTERS]
            return f" For {seconds or 0} s the server had been at this ({state or 'no state'}): {said}."
    return ""


def longest_run(budget_seconds: float | None, recorded_seconds: float) -> float:
    """Seconds that one run may take: as long as all of them together; without a budget, far longer than the recording."""
    longest = recorded_seconds * LONGEST_SLOWDOWN if budget_seconds is None else budget_seconds
    return max(SHORTEST_LIMIT_SECONDS, longest)


def _make_room(server: PrivateServer, connections: int) -> None:
    """Let the server, and the sender, have so many connections open. Those for which there is none all the same are refused, and counted."""
    if connections <= USUAL_CONNECTIONS:
        return
    wanted = min(connections, MOST_CONNECTIONS) + SPARE_CONNECTIONS
    server.execute(statement("SET GLOBAL max_connections = {}", quote_value(wanted)))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Beside its connections the sender has a few files.
    needed = wanted + SPARE_CONNECTIONS
    if soft not in (resource.RLIM_INFINITY, hard) and soft < needed:
        allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _head(folder: Path, thread: int) -> bytes:
    with (folder / f"{thread}.answers").open("rb") as file:
        return file.read(64)
