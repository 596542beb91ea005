"""A private MySQL or MariaDB server: temporary directory, socket only, unprivileged, gone when its parent goes.

It never reads an option file of the machine (--no-defaults comes first), listens on no network address unless asked to, reads and writes
files for statements in its own directory alone, which nobody else can enter (its root has no password, and its socket is everybody's), and is
started under PR_SET_PDEATHSIG, so that not even a SIGKILL of the program that started it leaves it behind; nor its directory, see
reaped_directory.py.

Root does not control one (apart.py). Whatever is made, read or removed in its directory by name is so by programs that run as the server's
own user, the tests' root included: the server could put links in the way.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.asynchronous_io import words_where_requests_are_few
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.driver import Connection, driver
from myisam_advisor.trial.private.full_disks import RoomWatch, full, says_full
from myisam_advisor.trial.private.last_words import last_words
from myisam_advisor.trial.private.limits import expect_bearable, limits_met
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.private.unprivileged import expect_not_root, own_number, run, words_before

START_SECONDS = 60.0
INITIALISE_SECONDS = 120.0
STOP_SECONDS = 20.0
# Where its data are used afterwards: on a slow disk it writes its buffers out for long, and tables of one that is killed meanwhile are damaged.
WRITE_OUT_SECONDS = 300.0
# A backtrace has some kilobytes, and what matters was said before it.
LOG_TAIL_BYTES = 32 << 10
# "$0" is the log, "$@" the server: the shell opens the file as the server's user.
LOGGED = 'exec "$@" >>"$0" 2>&1'
OF_DICTIONARY = ("--lower-case-table-names=", "--loose-lower-case-table-names=")
# CR_CONNECTION_ERROR, CR_CONN_HOST_ERROR, CR_SERVER_GONE_ERROR, CR_SERVER_LOST: manual, "Client Error Message Reference".
GONE = (2002, 2003, 2006, 2013)
# Without it a temporary table may have its files anywhere, and it takes no FILE for that: MariaDB and MySQL before 8.0, CREATE TABLE ... DATA DIRECTORY.
WITHOUT_LINKS = "--loose-skip-symbolic-links"
SOCKET_NAME = "s"
SOCKET_PATH_LIMIT = 107  # sun_path holds 108 bytes with its final zero: unix(7)

# By how the server makes its data directory. What a release does not know is passed over (--loose-).
SMALL_SERVER_OPTIONS = {
    "mariadb": [
        "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0",
        "--aria-pagecache-buffer-size=8M",
    ],
    "mysql-bootstrap": ["--innodb-buffer-pool-size=16M", "--innodb-log-file-size=4M", "--innodb-data-file-path=ibdata1:12M:autoextend"],
    "mysql": ["--innodb-buffer-pool-size=32M", "--loose-mysqlx=OFF", "--disable-log-bin", "--loose-innodb-redo-log-capacity=16M"],
}  # fmt: skip


class PrivateServerError(TrialError):
    """The private server could not be made or started; the message ends with what its error log says, and begins with the limit that it met."""


def expect_short(directory: Path) -> None:
    """Raises PrivateServerError where a server of this directory could have no socket in it."""
    path = directory / SOCKET_NAME
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
        raise PrivateServerError(
            f"the socket path {path} is longer than {SOCKET_PATH_LIMIT} bytes: choose a shorter TMPDIR"
        )


class PrivateServer:
    """One private server. Use it as a context manager; `options` are words for mysqld's command line.

    Where `waits_for_room` it is left alone while its disk is full, and where it `may_link` tables may lie elsewhere (DATA DIRECTORY), as with servers of users.
    """

    waits_for_room = may_link = False

    def __init__(
        self,
        binaries: ServerBinaries,
        options: Sequence[str] = (),
        directory: Path | None = None,
        port: int | None = None,
    ) -> None:
        expect_not_root()
        expect_bearable()
        self.binaries = binaries
        self.options = list(options)
        self.port = port
        self._reaped = ReapedDirectory() if directory is None else None
        self.directory = self._reaped.path if self._reaped else Path(directory or "")
        self.data_directory = self.directory / "data"
        self.socket = self.directory / SOCKET_NAME
        self.error_log = self.directory / "error.log"
        self.process: subprocess.Popen[bytes] | None = None
        self._room: RoomWatch | None = None
        try:
            expect_short(self.directory)
        except PrivateServerError:
            if self._reaped:
                self._reaped.remove()
            raise

    def __enter__(self) -> PrivateServer:
        try:
            if self._reaped:
                self._reaped.watch()
            self.initialise()
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        if self.process is None:
            raise PrivateServerError("the private server is not running")
        return self.process.pid

    def initialise(self) -> None:
        """Make the data directory and its system tables; an existing one is kept."""
        if self.data_directory.exists():
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        self.directory.chmod(0o700)
        self.give_away(self.directory)
        run("mkdir", "--", str(self.data_directory))
        if self.binaries.family == "mariadb":
            self._bootstrap(
                ["create database if not exists mysql;", "use mysql;", "SET @auth_root_socket=NULL;"],
                "*_system_tables.sql",
                "*_performance_tables.sql",
                "*_system_tables_data.sql",
            )
        elif self.binaries.family == "mysql-bootstrap":
            self._bootstrap(
                ["create database mysql;", "use mysql;"], "mysql_system_tables.sql", "mysql_system_tables_data.sql"
            )
        else:
            # Its dictionary keeps how names are compared, and no later start may say otherwise: manual, "lower_case_table_names".
            names = [one for one in self.options if one.startswith(OF_DICTIONARY)]
            self._run([*words_before(), *self._base_command(), *names, "--initialize-insecure"])

    def start(self, further_options: Sequence[str] = ()) -> None:
        """Start the server and wait until it answers.

        Raises PrivateServerError with the end of the error log when it does not come up.
        """
        command = [
            *words_before(),
            *("/bin/sh", "-c", LOGGED, str(self.error_log)),
            *self._base_command(),
            f"--socket={self.socket}",
            f"--pid-file={self.directory / 'pid'}",
            *self._network(),
            *self.options,
            *further_options,
        ]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.directory,
            env=self._environment(),
            start_new_session=True,
        )
        self._room = None if self.waits_for_room else RoomWatch(self.directory, self.process, log=self._log_tail)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            if self.socket.exists():
                with contextlib.suppress(driver().error), contextlib.closing(self.connect()):
                    return
            time.sleep(0.05)
        self.stop(patience_seconds=STOP_SECONDS)
        raise self._failure(f"{self.binaries.name} did not start", self._log_tail())

    def stop(self, signal_number: int = signal.SIGTERM, patience_seconds: float = WRITE_OUT_SECONDS) -> None:
        """End the server: politely first, by SIGKILL when it does not go in that time."""
        process, self.process = self.process, None
        if self._room is not None:
            self._room.end()
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGCONT)  # a server that a test stopped cannot hear SIGTERM
        process.send_signal(signal_number)
        try:
            process.wait(patience_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def restart(self, further_options: Sequence[str] = ()) -> None:
        """Stop and start again on the same data, with further words on the command line this time."""
        self.stop()
        run("rm", "-f", "--", str(self.socket))
        self.start(further_options)

    def close(self) -> None:
        """Stop the server and remove its directory, if this object made it."""
        self.stop(patience_seconds=STOP_SECONDS)
        if self._reaped:
            self._reaped.remove()

    def expect_alive(self) -> None:
        """Raise PrivateServerError with the end of its error log when the server has died, or was ended as its disk is full."""
        # One that is being killed closes its connections before it is gone.
        if self._room is not None and self._room.is_full:
            raise PrivateServerError(full(self.directory))
        if self.process is None or self.process.poll() is not None:
            raise self._failure(f"the private {self.binaries.name} died", self._log_tail())

    def answers(self) -> bool:
        """Whether it lets somebody in and answers: one that is dying may still have a process."""
        try:
            self.execute("SELECT 1")
        except driver().error as error:
            return bool(error.args) and error.args[0] not in GONE
        return True

    def connect(
        self, database: str = "", user: str = "root", password: str = "", answer_seconds: int | None = None
    ) -> Connection:
        """A new connection over the socket, by default as the server's root; autocommit is on."""
        return driver().connect(self.socket, user, password, database, answer_seconds)

    @contextlib.contextmanager
    def session(self, database: str = "") -> Iterator[Connection]:
        """`connect`, closed at the end."""
        connection = self.connect(database)
        try:
            yield connection
        finally:
            connection.close()

    def execute(self, *statements: str, database: str = "") -> list[tuple[object, ...]]:
        """Run the statements as root on one connection; the rows of the last one."""
        rows: list[tuple[object, ...]] = []
        with self.session(database) as connection:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)
                rows = list(cursor.fetchall()) if cursor.description else []
        return rows

    def variables(self) -> dict[str, str]:
        """Its settings; "" for what is NULL."""
        rows = self.execute("SHOW GLOBAL VARIABLES")
        return {str(name).lower(): "" if value is None else str(value) for name, value in rows}

    def count(self, table: str) -> int:
        """The rows of the table, whose name is quoted where it must be."""
        return int(str(self.execute(f"SELECT COUNT(*) FROM {table}")[0][0]))

    def _base_command(self) -> list[str]:
        binaries = self.binaries
        small = [*SMALL_SERVER_OPTIONS[binaries.family]]
        if not self.may_link:
            small.append(WITHOUT_LINKS)
        if binaries.flavour == "mysql":
            small += words_where_requests_are_few()
        return [
            *binaries.command(binaries.mysqld), "--no-defaults",
            f"--basedir={binaries.basedir}", f"--datadir={self.data_directory}", f"--lc-messages-dir={binaries.share}",
            f"--character-sets-dir={binaries.share / 'charsets'}", f"--tmpdir={self.directory}", f"--secure-file-priv={self.directory}", *small,
        ]  # fmt: skip

    def _network(self) -> list[str]:
        if self.port is None:
            return ["--skip-networking"]
        return ["--bind-address=127.0.0.1", f"--port={self.port}"]

    def give_away(self, path: Path) -> None:
        """Make a file or directory of ours the server's own, where that is another user than we are; a link is not followed."""
        number = own_number()
        if number is None:
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if status.st_uid not in (os.geteuid(), number) or (stat.S_ISREG(status.st_mode) and status.st_nlink != 1):
                raise PrivateServerError(f"{path} is not ours to give away")
            os.fchown(descriptor, number, number)
        finally:
            os.close(descriptor)

    def _environment(self) -> dict[str, str]:
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "TZ": "UTC"}
        if self.binaries.family == "mysql-bootstrap":
            environment["LD_LIBRARY_PATH"] = str(self.binaries.basedir)  # its bundled libaio
        return environment

    def _bootstrap(self, first: Sequence[str], *patterns: str) -> None:
        parts = ["\n".join(first)]
        parts += [
            sorted(self.binaries.share.glob(pattern))[0].read_text("utf-8")
            for pattern in patterns
            if sorted(self.binaries.share.glob(pattern))
        ]
        self._run(
            [*words_before(), *self._base_command(), "--bootstrap", "--default-storage-engine=MyISAM"],
            "\n".join(parts).encode(),
        )

    def _run(self, command: list[str], text: bytes = b"") -> None:
        """Let the server make its tables. It waits for room without end, too."""
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.directory,
            env=self._environment(),
        )
        said = ""
        room = None if self.waits_for_room else RoomWatch(self.directory, process, log=lambda: said)
        # Not by communicate(): what the server has not read when that first runs out of time it sends no more, so that the server would wait for it.
        sending, process.stdin = process.stdin, None
        threading.Thread(target=_send, args=(sending, text), daemon=True).start()
        try:
            for _ in range(int(INITIALISE_SECONDS)):
                try:
                    _, heard = process.communicate(timeout=1.0)
                    said = heard.decode(errors="replace")
                    break
                except subprocess.TimeoutExpired as late:
                    said = (late.stderr or b"").decode(errors="replace")
        finally:
            is_late = process.poll() is None
            if room is not None:
                room.end()
            if is_late:
                process.kill()
                process.communicate()
        if room is not None and room.is_full:
            raise PrivateServerError(full(self.directory))
        if is_late:
            raise self._failure(
                f"{self.binaries.name} did not make its system tables within {INITIALISE_SECONDS:.0f} s", said
            )
        # MariaDB's bootstrap goes on without InnoDB where that has no room.
        if process.returncode != 0 or says_full(said):
            raise self._failure(f"could not make the system tables of {self.binaries.name}", said)

    def _failure(self, what: str, said: str) -> PrivateServerError:
        """What failed, which limit of ours it may have met, and what the server said last; where its disk is full, that is why."""
        if says_full(said):
            return PrivateServerError(full(self.directory))
        heard = last_words(said)
        parts = (f"{what}.", limits_met(said), f"It said: {heard}" if heard else "It said nothing.")
        return PrivateServerError(" ".join(filter(None, parts)))

    def _log_tail(self) -> str:
        try:
            return run("tail", "--bytes", str(LOG_TAIL_BYTES), "--", str(self.error_log))
        except TrialError:
            return ""


def _send(stream: IO[bytes] | None, text: bytes) -> None:
    """Write all of it, however slowly it is read; a server that ended reads no more."""
    if stream is not None:
        with contextlib.suppress(OSError), stream:
            stream.write(text)
