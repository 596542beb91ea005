"""Trials as a user starts them, and the place they leave clean: for all tests of trials."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.sql import quote_table
from tests.support.daemon import wait_for
from tests.support.program import PROGRAM
from tests.support.servers import MARIADB, binaries_of

SMALL_DISK_KILOBYTES = 400 << 10
TRIAL_SECONDS = 900  # sixty-four threads on a loaded machine
SMALL = ("--seconds", "0.02", "--rounds", "1")
ODD = "a/b `x`\n\N{CYRILLIC SMALL LETTER ZHE}"  # a line break, and beyond ASCII
FILL = "INSERT INTO {name} (name, number) SELECT CONCAT('name ', @n := @n + 1), @n FROM (SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) a, {name} b"


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A short TMPDIR of our own that the servers' user may enter; at the end it must be empty, and no process may be left that knows it."""
    folder = Path(tempfile.mkdtemp(prefix="t-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
        for disk in folder.glob("disk"):
            disk.rmdir()  # what it held went with its mount
        assert wait_for(lambda: not list(folder.iterdir())), list(folder.rglob("*"))[:10]
        assert wait_for(lambda: not processes(folder)), processes(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def without_sysbench() -> Iterator[str]:
    """A PATH of all programs of this machine but that one."""
    with tempfile.TemporaryDirectory(prefix="programs-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        for folder in os.environ["PATH"].split(os.pathsep):
            for program in Path(folder).glob("*"):
                if program.name != "sysbench" and not os.path.lexists(f"{name}/{program.name}"):
                    (Path(name) / program.name).symlink_to(program)
        yield name


def processes(folder: Path) -> list[str]:
    """The command lines that name the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f"{folder}/" in line:
            found.append(line)
    return found


def begin(temporary: Path, *words: object) -> subprocess.Popen[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "TMPDIR": str(temporary)}
    for name in ("MYISAM_ADVISOR_SERVERS", "XDG_CACHE_HOME", "PYTHONPATH"):
        if name in os.environ:
            environment[name] = os.environ[name]
    return subprocess.Popen([str(PROGRAM), "trial", *map(str, words), "--no-keep"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def trial(temporary: Path, *words: object) -> tuple[int, str, str]:
    running = begin(temporary, *words)
    try:
        output, errors = running.communicate(timeout=TRIAL_SECONDS)
    except subprocess.TimeoutExpired:
        # Those that come next would only hear that one is running.
        running.send_signal(signal.SIGINT)
        running.communicate()
        raise
    return running.returncode, output, errors


def measured(temporary: Path, *words: object) -> dict[str, Any]:
    status, output, errors = trial(temporary, *words, "--format", "json")
    assert status == 0, errors
    assert warned(errors) == []
    document: dict[str, Any] = json.loads(output)
    return document


def warned(errors: str) -> list[str]:
    """What a trial whose progress is piped says beside what it does while it does it."""
    return [line for line in errors.splitlines() if not line.startswith("trial: ")]


def fails(temporary: Path, message: str, *words: object) -> None:
    status, output, errors = trial(temporary, *words)
    assert status == 2, errors
    assert re.search(message, errors), errors
    assert "Traceback" not in errors
    assert output == ""


def make_table(server: PrivateServer, database: str, table: str = "orders", doublings: int = 6) -> str:
    """A table of some thousand rows with a key on a string: 4 times 5 to the doublings."""
    name = quote_table(database, table)
    server.execute(
        f"CREATE TABLE {name} (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name CHAR(40) NOT NULL, number INT NOT NULL, KEY (name)) ENGINE=MyISAM",
        "SET @n := 0",
        f"INSERT INTO {name} (name, number) VALUES ('name 0', 0)",
        *[FILL.format(name=name)] * doublings,
    )
    return name


def server_process(temporary: Path) -> int | None:
    """The private server that runs below the folder."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue
        if f"--socket={temporary}/".encode() in line and b"--no-defaults" in line:
            return int(path.parent.name)
    return None


def long_trial(temporary: Path) -> tuple[subprocess.Popen[str], int]:
    """A trial in the middle of its work, and its server."""
    binaries_of("mariadb-10.11")
    running = begin(temporary, "key-cache", "--server", MARIADB, "--seconds", "20", "--rounds", "3")
    assert wait_for(lambda: any("sysbench" in line for line in processes(temporary)), 60), running.poll()
    server = server_process(temporary)
    assert server is not None
    return running, server
