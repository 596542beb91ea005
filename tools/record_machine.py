"""Records a machine with a MySQL or MariaDB server under a small load, so that tests can look at it without any.

    .venv/bin/python -m tools.record_machine                  both machines, and the tables of the other two servers
    .venv/bin/python -m tools.record_machine mysql-9.7        one of them

What is written below tests/recorded/ is what the collectors read: excerpts of /proc and /sys, the tables' files, the server's answers to the
collectors' own statements, and what the kernel said in system calls (page-cache residency, free space). Paths, names and process numbers of
this machine are replaced. Twice, some seconds apart; the second holds what differs and lies over the first. tests/support/recorded.py plays it back.

Afterwards: pytest tests/unit --update-golden, and numbers in tests that say what was recorded.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
import shutil
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from myisam_advisor.trial.private import unprivileged
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors.base import Context
from myisam_exporter.collectors.disk_space import space_of
from myisam_exporter.errors import StatementRefusedError
from myisam_exporter.files.data_directory import SYSTEM_SCHEMAS
from myisam_exporter.files.sweeper import Sweeper
from myisam_exporter.kernel.process_files import DATA_FILE_SUFFIX, MALLOC_LIBRARIES
from myisam_exporter.kernel.residency import FilePages, Prober
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.server.driver import MAXIMUM_ROWS, Row
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.watching.glances import STATEMENT as GLANCE
from tools.fetched_servers import FETCHED_SERVERS
from tools.server_to_record import SETTLE_SECONDS, prepared, under_load

FOLDER = Path(__file__).parents[1] / "tests" / "recorded"
MACHINES = ("mariadb-10.11", "mysql-9.7")
SNAPSHOTS = ("first", "second")
# What stands in the recording for this machine's own: replaced when it is played back, or for good.
ROOT, HOST_NAME, PROCESS = "@ROOT@", "recorded", 4242
SECONDS_APART = 4.0
TABLE_FILES = (".MYI", ".MYD", ".frm", ".sdi", ".par", ".opt")
SECTION = "=== "
# Lines of these files that say nothing to the collectors are left out.
PROC_FILES = {"stat": r"cpu|ctxt|btime|procs_", "meminfo": "", "vmstat": "", "pressure/io": "", "pressure/memory": ""}
STATUS_LINES = r"Name|State|Vm|Rss|Threads|Cpus_allowed_list|\w*ctxt_switches"


class RecordingSession(Session):
    """A session that keeps every answer."""

    def __init__(self, target: Target) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self._written: dict[str, dict[str, Any]] = {}
        super().__init__(target)

    def rows(
        self,
        statement: str,
        arguments: Sequence[str] | None = None,
        maximum_rows: int = MAXIMUM_ROWS,
        *,
        columns: int | None = None,
        names: bool = False,
    ) -> list[Row]:
        """As any session's, and kept."""
        given: dict[str, Any] = {"statement": statement} | ({"arguments": list(arguments)} if arguments else {})
        try:
            rows = super().rows(statement, arguments, maximum_rows, columns=columns, names=names)
        except StatementRefusedError as error:
            self._keep(given | {"error": [error.number, error.text]})
            raise
        self._keep(given | {"rows": [list(row) for row in rows]})
        return rows

    def new_answers(self) -> list[dict[str, Any]]:
        """Those that are others than when this was asked last."""
        new = [answer for key, answer in self.answers.items() if self._written.get(key) != answer]
        self._written = dict(self.answers)
        return new

    def _keep(self, answer: dict[str, Any]) -> None:
        self.answers[json.dumps([answer["statement"], answer.get("arguments")])] = answer


class RecordingProber(Prober):
    """A prober that keeps what the kernel said, by the file's path."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[str, FilePages] = {}

    def probe(self, file: str, directory: int | None = None) -> FilePages | None:
        """As any prober's, and kept."""
        found = super().probe(file, directory)
        if found is not None and directory is not None:
            folder = Path(f"/proc/self/fd/{directory}").readlink()
            self.pages[str(folder / file)] = found
        return found


class Scrubbed:
    """Texts without this machine's paths and names."""

    def __init__(self, server: PrivateServer) -> None:
        usr = str(server.binaries.basedir)
        self._paths = ((str(server.directory), ROOT), (usr, "/usr"), (str(Path.home()), "/home/recorded"))
        self._host_name = re.compile(rf"\b{re.escape(socket.gethostname())}\b")

    def text(self, text: str) -> str:
        """Paths replaced."""
        for path, stands_for in self._paths:
            text = text.replace(path, stands_for)
        return text

    def value(self, value: str | None) -> str | None:
        """Paths and the machine's name replaced."""
        return None if value is None else self._host_name.sub(HOST_NAME, self.text(value))


def main(words: Sequence[str]) -> int:
    """Record what is named, or everything."""
    # A maker's own servers, looked at as whoever records: as in the tests.
    unprivileged.root_may_control = True
    for name in words or FETCHED_SERVERS:
        if name in MACHINES:
            record_machine(name)
        else:
            record_tables(name)
    return 0


def record_machine(name: str) -> None:
    """Two snapshots of a server under load."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    with prepared(name) as server, ExitStack() as stack:
        stack.enter_context(under_load(server))
        target = Target("root", socket=server.socket)
        session = RecordingSession(target)
        stack.callback(session.close)
        prober = RecordingProber()
        sweeper = Sweeper(prober)
        time.sleep(SETTLE_SECONDS)
        earlier: dict[str, bytes] = {}
        for number, part in enumerate(SNAPSHOTS):
            if number:
                time.sleep(SECONDS_APART)
            earlier |= _snapshot(server, session, sweeper, prober, folder / part, earlier)
    print(f"{folder}: {_size(folder)} bytes")


def _snapshot(
    server: PrivateServer,
    session: RecordingSession,
    sweeper: Sweeper,
    prober: RecordingProber,
    folder: Path,
    earlier: dict[str, bytes],
) -> dict[str, bytes]:
    """One look, its answers and what lay below it at that moment; gives the tables' files."""
    scrubbed = Scrubbed(server)
    session.row("SELECT @@version, @@version_comment", 2)
    moment: dict[str, Any] = {"taken_at": time.time(), "monotonic_seconds": time.monotonic()}
    kernel = dict(_kernel_files(server.pid, scrubbed))
    files = _table_files(server.data_directory)
    context = Context(session.target, session, sweeper=sweeper)
    snapshot = take_snapshot(context)
    session.rows_or_unknown(GLANCE, 2)
    moment |= {
        "statements": session.statements,
        "cpu_count": os.cpu_count(),
        "kernel": re.findall(r"[\d.]+", platform.release())[0],
        "libc": list(platform.libc_ver()),
        "disk": _disk(server.data_directory),
        "open_files": len(os.listdir(f"/proc/{server.pid}/fd")),
        "space": dataclasses.asdict(space_of(server.data_directory)),
        "modified": {name: path.stat().st_mtime for name, path in files.items()},
        "other_engines": dict(_other_engines(server.data_directory)),
        "pages": {
            str(Path(path).relative_to(server.data_directory)): list(pages)
            for path, pages in sorted(prober.pages.items())
        },
    }
    print(
        f"  {folder.name}: {sorted(name for name, one in snapshot.samples.items() if type(one).__name__ == 'Unknown')}"
    )
    contents = {name: path.read_bytes() for name, path in files.items()}
    changed = {name: content for name, content in contents.items() if earlier.get(name) != content}
    _write(folder, moment, kernel, session, changed, scrubbed)
    return contents


def _write(
    folder: Path,
    moment: dict[str, Any],
    kernel: dict[str, str],
    session: RecordingSession,
    files: dict[str, bytes],
    scrubbed: Scrubbed,
) -> None:
    folder.mkdir(parents=True)
    (folder / "moment.json").write_text(_by_line(moment) + "\n", "utf-8")
    (folder / "kernel.txt").write_text("".join(f"{SECTION}{path}\n{text}" for path, text in kernel.items()), "utf-8")
    answers = []
    for answer in session.new_answers():
        rows = [[scrubbed.value(value) for value in row] for row in answer.get("rows", ())]
        given = json.dumps({key: value for key, value in answer.items() if key != "rows"}, ensure_ascii=False)
        lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows)
        answers.append(f'{given[:-1]}, "rows": [\n  {lines}\n]}}' if "rows" in answer else given)
    (folder / "answers.json").write_text("[\n" + ",\n".join(answers) + "\n]\n", "utf-8")
    for name, content in files.items():
        path = folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(scrubbed.text(content.decode()).encode() if path.suffix == ".sdi" else content)


def _by_line(document: dict[str, Any]) -> str:
    """JSON with a line for each value and for each entry of a mapping in it."""
    lines = []
    for name, value in document.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, dict):
            entries = (json.dumps({key: one}, ensure_ascii=False)[1:-1] for key, one in value.items())
            text = "{\n  " + ",\n  ".join(entries) + "\n }"
        lines.append(f' "{name}": {text}')
    return "{\n" + ",\n".join(lines) + "\n}"


def _kernel_files(pid: int, scrubbed: Scrubbed) -> Iterator[tuple[str, str]]:
    """Excerpts of /proc, the process and its threads by numbers of the recording's own."""
    for name, wanted in PROC_FILES.items():
        yield f"proc/{name}", _excerpt(Path("/proc", name), wanted)
    yield "proc/diskstats", _excerpt(Path("/proc/diskstats"), r"\s*\d+\s+\d+\s+(?!loop|zram|ram)")
    process, own = Path("/proc", str(pid)), f"proc/{PROCESS}"
    for name in ("comm", "io", "limits"):
        yield f"{own}/{name}", _excerpt(process / name)
    yield f"{own}/stat", re.sub(r"^\d+", str(PROCESS), _excerpt(process / "stat"))
    yield f"{own}/status", _excerpt(process / "status", STATUS_LINES)
    yield f"{own}/cgroup", _excerpt(process / "cgroup", "0::")
    told = "|".join((re.escape(DATA_FILE_SUFFIX), *MALLOC_LIBRARIES))
    yield f"{own}/maps", scrubbed.text(_excerpt(process / "maps", rf".*(?:{told})"))
    # The threads keep their places: a thread that ended is not another one in the second snapshot.
    for thread in sorted(map(int, os.listdir(process / "task"))):
        text = _excerpt(process / "task" / str(thread) / "status", r"\w*ctxt_switches")
        yield f"{own}/task/{PROCESS + thread - pid}/status", text


def _excerpt(path: Path, wanted: str = "") -> str:
    lines = path.read_text("utf-8", "replace").splitlines(keepends=True)
    return "".join(line for line in lines if re.match(wanted, line))


def _disk(directory: Path) -> str:
    """The block device below a directory, as /proc/diskstats calls it."""
    device = directory.stat().st_dev
    return Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve().name


def _table_files(directory: Path) -> dict[str, Path]:
    """By name below the data directory: the tables' files, and what tells whose directory it is."""
    found = [
        path for path in directory.glob("*/*") if path.suffix in TABLE_FILES and path.parent.name not in SYSTEM_SCHEMAS
    ]
    kept = [path for path in (directory / "auto.cnf", directory / "init.sql") if path.exists()]
    return {str(path.relative_to(directory)): path for path in sorted([*found, *kept])}


def _other_engines(directory: Path) -> Iterator[tuple[str, int]]:
    """Files of which only the size counts."""
    for path in sorted([*directory.glob("ibdata*"), *directory.glob("*/*.ibd")]):
        if path.parent.name not in SYSTEM_SCHEMAS:
            yield str(path.relative_to(directory)), path.stat().st_size


def record_tables(name: str) -> None:
    """The tables of a server as it leaves them, for the parser alone."""
    folder = FOLDER / "tables" / name
    shutil.rmtree(folder, ignore_errors=True)
    with prepared(name) as server:
        server.execute("FLUSH TABLES")
        for relative, path in _table_files(server.data_directory).items():
            if path.suffix in (".MYI", ".MYD"):
                (folder / relative).parent.mkdir(parents=True, exist_ok=True)
                (folder / relative).write_bytes(path.read_bytes())
    print(f"{folder}: {_size(folder)} bytes")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in _files(folder))


def _files(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
