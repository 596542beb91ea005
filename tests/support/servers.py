"""Private servers for tests, without the seconds that it takes to make a data directory: each kind's is made once in a run, and copied."""

import fcntl
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path

from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import own_number
from tests.support.fetched import not_fetched
from tests.support.thoroughness import THOROUGH
from tools.fetched_servers import FETCHED_SERVERS, FURTHER_SERVERS, find_server

# What a test runs on that asks each kind.
SERVERS = (*FETCHED_SERVERS, *(FURTHER_SERVERS if THOROUGH else ()))
# Where tests/conftest.py has this run's directories: the workers of a run share them.
PREPARED_VARIABLE = "PREPARED_SERVERS"
# What must differ between servers that know each other: the UUID that MySQL makes when it starts without this file.
OWN_OF_A_SERVER = "auto.cnf"


def binaries_of(name: str) -> ServerBinaries:
    """The server's programs."""
    found = find_server(name)
    if found is None:
        not_fetched(name)
    return found


def keeps_dictionary(server: PrivateServer) -> bool:
    """MySQL 8.0 or later: no .frm files, and what is asked of a table opens tables of the dictionary."""
    return server.binaries.family == "mysql"


def mariadb_path() -> str:
    """What `trial --server` is given: the program of the first server."""
    found = find_server("mariadb-10.11")
    return str(found.mysqld) if found else "mariadb-10.11 was not fetched"


MARIADB = mariadb_path()


def prepared_directory(binaries: ServerBinaries) -> Path:
    """A data directory as the product makes it, by whoever of this run's workers needs it first."""
    place = Path(os.environ[PREPARED_VARIABLE])
    made, directory = place / f"{binaries.name}.made", place / binaries.name
    with (place / f"{binaries.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            # What a worker left that failed is half a directory, in which nobody may log in.
            shutil.rmtree(directory, ignore_errors=True)
            server = PrivateServer(binaries, directory=directory)
            server.initialise()
            (server.data_directory / OWN_OF_A_SERVER).unlink(missing_ok=True)
            made.touch()
    return directory / "data"


class CopiedServer(PrivateServer):
    """A private server whose data directory is a copy, and which is killed at its end: nobody looks at what it leaves."""

    may_link = True

    def initialise(self) -> None:
        """Copy the data directory, for the user that this worker's servers run as; an existing one is kept."""
        if self.data_directory.exists():
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        # The directory is still ours: nobody can put links in the way of root before it is given away.
        subprocess.run(["cp", "--archive", "--reflink=auto", "--", prepared_directory(self.binaries), self.data_directory], check=True)
        number = own_number()
        if number is not None:
            subprocess.run(["chown", "--recursive", "--no-dereference", f"{number}:{number}", "--", self.data_directory], check=True)
        self.directory.chmod(0o755)
        self.give_away(self.directory)

    def close(self) -> None:
        with suppress(ProcessLookupError):
            self.stop(signal.SIGKILL)
        super().close()


def status_number(server: PrivateServer, name: str) -> int:
    """What a counter of the server's own says, by a connection of its own."""
    return int(str(server.execute(f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1]))


def working(server: PrivateServer, database: str, statements: Sequence[str]) -> AbstractContextManager[None]:
    """One connection for each statement, which it repeats until the end."""
    return repeating(server, database, *([statement] for statement in statements))


def repeating(server: PrivateServer, database: str, *turns: Sequence[str]) -> AbstractContextManager[None]:
    """One connection for each of these, which repeats its statements in turn until the end."""

    def repeat(statements: Sequence[str], stop: threading.Event) -> None:
        with server.session(database) as connection, closing(connection.cursor()) as cursor:
            while not stop.is_set():
                for statement in statements:
                    cursor.execute(statement)
                    cursor.fetchall()

    return meanwhile(*(partial(repeat, statements) for statements in turns))


@contextmanager
def meanwhile(*works: Callable[[threading.Event], None]) -> Iterator[None]:
    """Each of these in a thread of its own; it returns when the event is set, which is at the end."""
    stop = threading.Event()
    threads = [threading.Thread(target=work, args=(stop,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
