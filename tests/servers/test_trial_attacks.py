"""Trials of root's while others try to turn them against root: links in the way, links to copy, and processes of the trial's own user."""

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from myisam_advisor.trial.private import own_user
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import wait_for
from tests.support.repository import ROOT
from tests.support.servers import MARIADB, binaries_of
from tests.support.thoroughness import times

from .conftest import OTHER_UID, schema
from .trials import SMALL, begin, fails, long_trial, make_table, measured, temporary

__all__ = ["temporary"]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="what root could be led to do needs root")

NOBODY = 65534
RACE_SECONDS = times(60, 8)
LATE_SECONDS = 2.0
SECRET = b"root's own secret\n"
# What a trial, an experiment or a server makes by name.
LURES = (
    "orders.MYD", "orders.MYI", "orders.frm", "column", "records", "error.log", "statements", "kept", "data", "s", "w", "pid", "replay.lua",
    "myisam_advisor_trial", "subject.MYD", "0", "1", "made-up", "d", "shop",
)  # fmt: skip


@pytest.fixture
def precious() -> Iterator[Path]:
    """Files and a directory of root's that an attacker would like to have, where everybody may pass."""
    folder = Path(tempfile.mkdtemp(prefix="precious-", dir="/tmp"))
    folder.chmod(0o755)
    for number, mode in enumerate((0o600, 0o640, 0o644)):
        path = folder / f"victim{number}"
        path.write_bytes(SECRET)
        path.chmod(mode)
    (folder / "folder").mkdir()
    (folder / "folder" / "orders.MYD").write_bytes(SECRET)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def look_of(folder: Path) -> dict[str, tuple[object, ...]]:
    """All that anybody could have changed: a change of any kind moves st_ctime."""
    found: dict[str, tuple[object, ...]] = {}
    for path in (folder, *sorted(folder.rglob("*")), Path("/etc/passwd"), Path("/etc/shadow")):
        one = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (one.st_mode, one.st_uid, one.st_gid, one.st_ino, one.st_size, one.st_ctime_ns, content)
    return found


@dataclass
class Attack:
    """Processes that race a trial, and where they report to: each line is something that they could do."""

    base: Path
    targets: list[Path]
    report: Path
    running: dict[int, int] = field(default_factory=dict)

    def begin(self, uid: int) -> None:
        """One more attacker, as this user."""
        child = os.fork()
        if child == 0:
            self._attack(uid)
        self.running[child] = uid

    def _attack(self, uid: int) -> None:
        done: set[str] = set()
        report = os.open(self.report, os.O_WRONLY | os.O_APPEND)
        try:
            os.setsid()
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            # Every other one lets the trial come to its work first.
            time.sleep(uid % 2 * LATE_SECONDS)
            while True:
                for what in (*plant(self.base, self.targets), *pry(self.targets)):
                    if what not in done:
                        done.add(what)
                        os.write(report, f"{uid} {what}\n".encode())
        finally:
            os._exit(1)

    def lines(self, uid: int) -> list[str]:
        return [line for line in self.report.read_text().splitlines() if line.startswith(f"{uid} ")]

    def end(self) -> None:
        for child in self.running:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def plant(base: Path, targets: list[Path]) -> Iterator[str]:
    """Links wherever they can be made, in place of what is there, too: to files and to directories of root's."""
    # The trial's user may pass the outer directory, and knows the name of the inner one.
    roots = [base, *(Path(one) / "w" for one in base.glob("myisam-*"))]
    for number, (name, folders, files) in enumerate(walked for root in roots for walked in os.walk(root)):
        yield "entered" if name != str(base) else "walked"
        for file in (*files, *LURES):
            path = Path(name, file)
            target = targets[number % len(targets)]
            try:
                if file in LURES:
                    path.symlink_to(target)
                    yield "planted"
                elif number % 7 == 3 and path.suffix in (".MYD", ".MYI", ".log", ".lua"):
                    path.rename(f"{path}.away")
                    path.symlink_to(target)
                    yield "replaced"
            except OSError:
                continue
        for folder in folders:
            if number % 5 == 4:
                try:
                    Path(name, folder).rename(f"{name}/{folder}.away")
                    Path(name, folder).symlink_to(targets[-1])
                    yield "moved a directory"
                except OSError:
                    continue


def pry(targets: list[Path]) -> Iterator[str]:
    """Into files of root's, and into processes that are root's, or hold what root gave them."""
    for target in targets[:2]:
        try:
            os.close(os.open(target, os.O_RDONLY))
            yield "opened a secret"
        except OSError:
            continue
    for process in os.listdir("/proc"):
        if not process.isdecimal():
            continue
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                if b"myisam-advisor\0trial" not in file.read():
                    continue
            os.close(os.open(f"/proc/{process}/mem", os.O_RDWR))
            yield "opened the memory of a trial's process"
        except OSError:
            continue


@contextmanager
def attack(base: Path, precious: Path, report: Path) -> Iterator[Attack]:
    report.touch()
    targets = [*sorted(precious.glob("victim*")), precious / "folder"]
    attacking = Attack(base, targets, report)
    attacking.begin(NOBODY)
    try:
        yield attacking
    finally:
        attacking.end()


def users_below(base: Path) -> set[int]:
    """Who owns directories that trials made: never root, but for what it only passes through."""
    found = set()
    for path in (*base.glob("*"), *base.glob("*/*")):
        try:
            found.add(path.lstat().st_uid)
        except OSError:
            continue
    return found - {0}


def test_attackers_who_race_trials_for_a_minute_change_nothing_of_roots(mariadb: PrivateServer, temporary: Path, precious: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """One as nobody, one as each trial's own user; trials with --table and without."""
    report = tmp_path_factory.mktemp("attack") / "report"
    before = look_of(precious)
    ended: list[int] = []
    with schema(mariadb, "shop") as database, attack(temporary, precious, report) as attacking:
        make_table(mariadb, database)
        on_tables = ("--socket", mariadb.socket, "--user", "root", "--table", "shop.orders")
        made_up = ("--server", MARIADB)
        kinds = [("row-format", *on_tables), ("columns", *made_up), ("pack-keys", *on_tables), ("io",), ("row-format", *made_up)]
        deadline = time.monotonic() + RACE_SECONDS
        # On a busy machine a trial alone takes as long: three are raced in any case.
        while time.monotonic() < deadline or len(ended) < 3:
            running = begin(temporary, *kinds[len(ended) % len(kinds)], *SMALL)
            until, was_told = time.monotonic() + 30, False
            while running.poll() is None:
                for uid in users_below(temporary) - set(attacking.running.values()):
                    attacking.begin(uid)
                if not was_told and time.monotonic() > until:
                    running.send_signal(signal.SIGINT)
                    was_told = True
                time.sleep(0.002)
            _, errors = running.communicate()
            assert "Traceback" not in errors, errors
            ended.append(running.returncode)
        own = set(attacking.running.values()) - {NOBODY}
        # Whatever they did, the watched server's table is as it was.
        assert mariadb.execute("SELECT COUNT(*) FROM shop.orders") == [(5**6,)]
        assert wait_for(lambda: not any(own_user.processes_of(uid) for uid in own))
    assert look_of(precious) == before
    assert len(ended) >= 3
    assert set(ended) <= {0, 2, 130}, ended
    # They were there in time, and could do what the directory's owner can.
    assert any("planted" in line for uid in own for line in attacking.lines(uid))
    assert attacking.lines(NOBODY) == [f"{NOBODY} walked"]
    assert not [line for uid in own for line in attacking.lines(uid) if "opened" in line]


def unnaming(number: int, directory: Path) -> list[int]:
    """The user's processes whose words do not name the directory; one that ended meanwhile is none."""
    found = []
    for process in own_user.processes_of(number):
        with suppress(FileNotFoundError, ProcessLookupError):
            if str(directory).encode() not in Path(f"/proc/{process}/cmdline").read_bytes():
                found.append(process)
    return found


def test_everything_in_a_trial_runs_as_a_user_that_nobody_else_has(temporary: Path) -> None:
    running, server = long_trial(temporary)
    try:
        number = Path(f"/proc/{server}").stat().st_uid
        assert any(number in numbers for numbers in own_user.RANGES)
        # The worker alone does not name the directory; it is ours, and nobody may look into it. A child of its own has its words until its exec.
        others: list[int] = []

        def is_one() -> bool:
            others[:] = unnaming(number, temporary)
            return len(others) == 1

        assert wait_for(is_one), others
        assert Path(f"/proc/{others[0]}/cmdline").read_bytes() == Path(f"/proc/{running.pid}/cmdline").read_bytes()
        assert Path(f"/proc/{others[0]}/mem").stat().st_uid == 0
        outer = next(temporary.glob("myisam-*"))
        assert (outer.stat().st_uid, outer.stat().st_gid, stat.S_IMODE(outer.stat().st_mode)) == (0, number, 0o710)
        inner = outer / "w"
        assert (inner.stat().st_uid, stat.S_IMODE(inner.stat().st_mode)) == (number, 0o700)
        assert {path.lstat().st_uid for path in inner.rglob("*")} == {number}
        assert "NoNewPrivs:\t1" in Path(f"/proc/{server}/status").read_text()
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=30)
    assert own_user.processes_of(number) == []


@contextmanager
def linked(server: PrivateServer, database: str, table: str, target: Path) -> Iterator[None]:
    """A table whose rows are said to be elsewhere, as the server's own user can arrange it."""
    make_table(server, database, table, 5)
    server.execute(f"FLUSH TABLES {database}.{table}")
    path = server.data_directory / database / f"{table}.MYD"
    path.rename(path.with_suffix(".real"))
    path.symlink_to(target)
    try:
        yield
    finally:
        path.unlink()
        path.with_suffix(".real").rename(path)


@pytest.mark.parametrize("kind", ["secret", "device", "fifo", "directory", "hard link"])
def test_a_data_file_that_is_not_the_servers_own_is_not_copied(mariadb: PrivateServer, temporary: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    if kind == "fifo":
        os.mkfifo(target)
    elif kind == "directory":
        target.mkdir()
    elif kind == "device":
        target = Path("/dev/zero")
    else:
        target.write_bytes(SECRET)
        target.chmod(0o600)
    with schema(mariadb, "shop") as database, linked(mariadb, database, "leak", target):
        path = mariadb.data_directory / database / "leak.MYD"
        if kind == "hard link":
            path.unlink()
            same_disk = mariadb.directory / "target"
            shutil.copy(target, same_disk)
            os.link(same_disk, path)
        message = rf"{re.escape(str(path))} is not copied: .*data directory's owner" if kind != "directory" else "leak"
        started = time.monotonic()
        fails(temporary, message, "row-format", "--socket", mariadb.socket, "--user", "root", "--table", "shop.leak", "--copy-limit", "10M", *SMALL)
        assert time.monotonic() - started < 15
        if kind == "hard link":
            same_disk.unlink()


def test_a_data_file_that_the_server_keeps_elsewhere_is_copied(mariadb: PrivateServer, temporary: Path) -> None:
    """DATA DIRECTORY: a link to a file of the server's own."""
    elsewhere = mariadb.directory / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    mariadb.give_away(elsewhere)
    with schema(mariadb, "shop") as database:
        mariadb.execute(f"CREATE TABLE {database}.far (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name CHAR(40) NOT NULL, number INT NOT NULL) ENGINE=MyISAM DATA DIRECTORY='{elsewhere}'")
        mariadb.execute(f"INSERT INTO {database}.far (name, number) SELECT 'name', seq FROM seq_1_to_5000", database=database)
        assert (mariadb.data_directory / database / "far.MYD").is_symlink()
        document = measured(temporary, "row-format", "--socket", mariadb.socket, "--user", "root", "--table", "shop.far", *SMALL)
    assert document["tables"] == "shop.far (copy)"


def test_the_copy_limit_counts_the_bytes_of_files_and_not_what_a_header_says(mariadb: PrivateServer, temporary: Path) -> None:
    with schema(mariadb, "shop") as database:
        make_table(mariadb, database, "sparse")
        mariadb.execute("FLUSH TABLES shop.sparse")
        path = mariadb.data_directory / database / "sparse.MYD"
        os.truncate(path, 1 << 40)
        fails(temporary, r"shop\.sparse: 1\.00? ?TiB|shop\.sparse: 1 TiB to copy, and --copy-limit is 2 GiB", "row-format", "--socket", mariadb.socket, "--user", "root", "--table", "shop.sparse", *SMALL)


def test_who_kills_the_trials_processes_ends_the_trial_and_nothing_else(temporary: Path) -> None:
    running, server = long_trial(temporary)
    number = Path(f"/proc/{server}").stat().st_uid
    child = os.fork()
    if child == 0:
        own_user.become(number)
        os.kill(-1, signal.SIGKILL)
        os._exit(0)
    os.waitpid(child, 0)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 2
    assert "the trial's process ended before it had a result" in errors
    assert "Traceback" not in errors


def test_processes_that_a_server_leaves_behind_are_gone_after_a_kill_of_the_trial(temporary: Path) -> None:
    running, server = long_trial(temporary)
    number = Path(f"/proc/{server}").stat().st_uid
    child = os.fork()
    if child == 0:
        # As a server could: on its own, and deaf to the end of whoever began it.
        os.setsid()
        own_user.become(number)
        while True:
            if os.fork() == 0:
                time.sleep(0.01)
            else:
                time.sleep(0.05)
    running.kill()
    running.communicate(timeout=30)
    assert wait_for(lambda: os.waitpid(child, os.WNOHANG)[0] == child)
    assert wait_for(lambda: own_user.processes_of(number) == [])


def test_a_temporary_directory_of_somebody_elses_is_refused(temporary: Path) -> None:
    binaries_of("mariadb-10.11")
    for owner, mode in ((OTHER_UID, 0o755), (0, 0o777)):
        theirs = temporary / "theirs"
        theirs.mkdir()
        theirs.chmod(mode)
        os.chown(theirs, owner, owner)
        fails(theirs, "can be changed by others than root.*choose another TMPDIR", "io", *SMALL)
        theirs.rmdir()


def test_a_temporary_directory_that_only_root_may_enter_is_refused(temporary: Path) -> None:
    closed = temporary / "closed"
    closed.mkdir(mode=0o700)
    fails(closed, "cannot be entered by the trial's own user", "io", *SMALL)
    closed.rmdir()


def test_a_trial_runs_from_where_only_root_may_read(temporary: Path, tmp_path: Path) -> None:
    """As from a virtual environment in root's home."""
    binaries_of("mariadb-10.11")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    root = ROOT
    for package in ("exporter/myisam_exporter", "advisor/myisam_advisor"):
        shutil.copytree(root / package, closed / Path(package).name)
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(temporary), "PYTHONPATH": str(closed), "MYISAM_ADVISOR_SERVERS": str(binaries_of("mariadb-10.11").basedir.parents[1])}
    command = [sys.executable, "-c", "import myisam_advisor.cli.main as c; c.main()", "trial", "row-format", "--server", MARIADB, *SMALL]
    done = subprocess.run(command, env=environment, cwd=closed, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "full scan" in done.stdout
