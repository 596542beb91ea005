"""Statements sent by sysbench, each thread from its own file: fixed work, and a client that does nothing but send."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import words_before
from myisam_exporter.declaring.lean_dataclasses import dataclass

SCRIPT = Path(__file__).with_name("replay.lua")
# Read at once: where we were installed, the trial's own user may not be able to read.
SCRIPT_TEXT = SCRIPT.read_bytes()
# Bytes are sent as they were read: no character set is converted, no backslash loses its meaning.
PREAMBLE = (b"SET NAMES binary", b"SET SESSION sql_mode=''")
RUN_LIMIT_SECONDS = 900
_TOTAL_TIME = re.compile(r"total time:\s+([\d.]+)s")
_CPU = re.compile(r"cpu (\d+\.\d{6}) (\d+\.\d{6})")


@dataclass(frozen=True, slots=True)
class Replayed:
    """How long the statements took, and the client's CPU time meanwhile."""

    seconds: float
    client_cpu_seconds: float


def write_statements(folder: Path, threads: Sequence[Iterable[bytes]]) -> int:
    """One file for each thread; returns how many statements they hold.

    Raises TrialError for a statement that holds a line break, because a line is a statement. Values have none, but names may.
    """
    written = 0
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, statements in enumerate(threads):
        with (folder / str(number)).open("wb") as file:
            file.writelines(line + b"\n" for line in PREAMBLE)
            for statement in statements:
                if b"\n" in statement or b"\r" in statement:
                    raise TrialError(
                        "a column or an index of the table has a line break in its name: statements are sent line by line, and cannot name it."
                    )
                file.write(statement + b"\n")
                written += 1
    return written


def sender_program() -> str:
    """What sends. Raises TrialError where it is not installed."""
    program = shutil.which("sysbench")
    if program is None:
        raise TrialError("sysbench is not installed: apt install sysbench.")
    return program


def replay(server: PrivateServer, folder: Path, threads: int, database: str) -> Replayed:
    """Send them all. Raises TrialError when a statement fails, or the server dies."""
    program = sender_program()
    script = folder / SCRIPT.name
    script.write_bytes(SCRIPT_TEXT)
    command = [
        *words_before(), program, str(script), "--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root",
        f"--mysql-db={database}", f"--threads={threads}", "--time=0", "--events=0", f"--statements={folder}", "run",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=RUN_LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise TrialError(f"a run did not end within {RUN_LIMIT_SECONDS} s: fewer --seconds make it shorter.") from None
    time, clocks = _TOTAL_TIME.search(done.stdout), _CPU.findall(done.stdout)
    if done.returncode != 0 or time is None or len(clocks) != threads:
        server.expect_alive()
        raise failure_of(done)
    begun, ended = (
        min(float(clock[0]) for clock in clocks),
        max(float(clock[1]) for clock in clocks),
    )
    return Replayed(float(time[1]), ended - begun)


def failure_of(done: subprocess.CompletedProcess[str]) -> TrialError:
    """Why the sender failed: a signal, or its own words."""
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        return TrialError(
            f"sysbench was ended by {name}: by the kernel, where memory is short, or by somebody. Try again."
        )
    said = [line for line in (done.stdout + done.stderr).splitlines() if "FATAL" in line or "cannot" in line]
    return TrialError(f"sysbench failed: {'; '.join(said[:2])[:500] or (done.stderr or done.stdout)[-500:]}")
