"""What the advisers share: how their programs are run, within bounds, and what is set on the server that they speak of.

What a program prints is of somebody else's making, and names in it are of the server's: it is read up to a length, and what cannot be seen is escaped.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache

from benchmarks.advice.model import Advice, Change, WatchedServer
from benchmarks.advice.vague import Known, Reading
from myisam_advisor.errors import TrialError
from myisam_advisor.texts.templates import escaped
from myisam_advisor.trial.private.driver import driver
from tools.fetched_servers import cache_directory, find_server

OUTPUT_BYTES, SAID_LETTERS, SENTENCES = 1 << 20, 500, 300
# Of what a program printed before it failed: why stands at the end.
LAST_LETTERS = 300
PROGRAM_SECONDS, HELP_SECONDS = 300.0, 60.0
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_HELP_BEGINS = re.compile(r"^-{10,} -{10,}$", re.MULTILINE)
_HELP_LINE = re.compile(r"^([a-z][a-z0-9-]*) {2,}(\S.*)$", re.MULTILINE)
NO_DEFAULT = "(No default value)"


def not_fetched(name: str, *files: str) -> str | None:
    """Why a program that `script/servers NAME` fetches is not here; None where it is."""
    root = cache_directory() / name
    missing = not (root / "complete").exists() or not all((root / file).exists() for file in files)
    return f"it is not in the cache: run script/servers {name}" if missing else None


def output_of(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    good: Iterable[int] = (0,),
    seconds: float = PROGRAM_SECONDS,
) -> str:
    """What a program prints, up to a length and a time. Raises TrialError where it fails or takes longer."""
    clean = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
    }
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean | dict(environment or {}),
        cwd="/", start_new_session=True,
    ) as process:  # fmt: skip
        timer = threading.Timer(seconds, _kill, [process.pid])
        timer.start()
        try:
            assert process.stdout is not None
            printed = process.stdout.read(OUTPUT_BYTES)
            if process.stdout.read(1):
                _kill(process.pid)
                raise TrialError(f"{command[0]} prints more than {OUTPUT_BYTES:,} bytes")
            code = process.wait()
        except BaseException:
            _kill(process.pid)
            raise
        finally:
            timer.cancel()
    text = printed.decode("utf-8", "replace")
    if code not in good:
        raise TrialError(f"{command[0]} ends with {code}: {shown(text[-LAST_LETTERS:])}")
    return text


def _kill(number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(number, signal.SIGKILL)


def shown(text: str) -> str:
    """One sentence of somebody else, on one line, as long as we keep any."""
    line = " ".join(_COLOURS.sub("", text).split())[:SAID_LETTERS]
    return _UNSEEN.sub(escaped, line)


def asked(server: WatchedServer, what: str) -> dict[str, str]:
    """SHOW GLOBAL VARIABLES or SHOW GLOBAL STATUS."""
    with closing(driver().connect(server.socket, server.user, server.password or "")) as connection:
        cursor = connection.cursor()
        cursor.execute(f"SHOW GLOBAL {what}")
        return {str(name): _text(value) for name, value in cursor.fetchall()}


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def known_of(server: WatchedServer, variables: Mapping[str, str]) -> Known:
    """What vague advice is read by."""
    return Known({name.lower(): value for name, value in variables.items()}, defaults_of(server.product))


@cache
def defaults_of(product: str) -> Mapping[str, str]:
    """What a release sets where nothing is set, as its own program says; empty where that was not fetched."""
    binaries = find_server(product)
    if binaries is None:
        return {}
    command = [
        *binaries.command(binaries.mysqld),
        "--no-defaults",
        f"--lc-messages-dir={binaries.share}",
        "--verbose",
        "--help",
    ]
    return defaults_in(output_of(command, good=(0, 1), seconds=HELP_SECONDS))


def defaults_in(text: str) -> dict[str, str]:
    """The table at the end of `mysqld --verbose --help`."""
    begin = _HELP_BEGINS.search(text)
    found = _HELP_LINE.findall(text[begin.end() :]) if begin else []
    return {name.replace("-", "_"): value.strip() for name, value in found if value.strip() != NO_DEFAULT}


def setting(reading: Reading, said: str, severity: str, rule: str) -> Change:
    """A reading as a change."""
    return Change(reading.variable, reading.value, None, shown(said), severity, shown(rule))


def advice(adviser: str, version: str, changes: Iterable[Change], named: Iterable[str]) -> Advice:
    """What is kept: each change once (an adviser may say it in two places), and so many sentences."""
    once = {(one.variable, one.value, one.statement): one for one in reversed(list(changes)[:SENTENCES])}
    return Advice(adviser, version, tuple(reversed(once.values())), tuple(dict.fromkeys(_kept(named))))


def _kept(named: Iterable[str]) -> Iterator[str]:
    for number, sentence in enumerate(named):
        if number == SENTENCES:
            return
        yield shown(sentence)
