"""Work that is done apart from root: the one way in which a trial, the demonstration and the benchmarks run.

As root, three processes take part. Ours keeps what only root can do: it opens the tables to copy, holds the connection with the watched
server, writes the report. The worker is the trial's own user (own_user.py) before it hears anything: it starts the private server and does
everything in the trial's directory. The keeper waits for our end, however that comes, kills every process of the trial's user, and removes
the directory (workspace.py). The worker is forked before passwords are read, so there is none in its memory.

As anybody else the worker is us, and there is no keeper: temporary directories are removed as private_server.py does.
"""

from __future__ import annotations

import codecs
import contextlib
import importlib
import os
import pkgutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private import own_user, workspace
from myisam_advisor.trial.private.channel import Channel, ChannelError, Message
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.full_disks import told
from myisam_advisor.trial.private.own_user import OwnUser
from myisam_advisor.trial.private.reaped_directory import expect_safe, temporary_folder
from myisam_advisor.trial.private.workspace import Workspace
from myisam_exporter.errors import UserError
from myisam_exporter.server.option_files import ENVIRONMENT_OPTIONS

# What is done apart: it hears of its task by the channel, and returns what JSON can hold.
Work = Callable[[Channel], object]
END_SECONDS = 30.0
KEPT_VARIABLES = (
    "PATH", "LANG", "TERM", "TZ", "COLUMNS", "LINES", "NO_COLOR", "COLORTERM", "PYTHONPATH", "VIRTUAL_ENV", "LC_", "MYISAM_ADVISOR_",
)  # fmt: skip
# Imported before the change of user, who may not be able to read where we, or Python, were installed.
PRELOADED = (
    "myisam_advisor.trial", "myisam_advisor.trial.engines", "myisam_advisor.trial.experiments", "myisam_advisor.trial.private",
    "myisam_advisor.trial.statements", "myisam_advisor.trial.tables", "myisam_advisor.trial.upgrade",
)  # fmt: skip
PRELOADED_TO_SHOW = (
    "myisam_advisor", "myisam_exporter", "pymysql", "rich", "jinja2", "psutil", "importlib", "encodings",
)  # fmt: skip
# What others import when they need it alone.
PRELOADED_LATE = ("difflib", "importlib.util", "shutil", "ssl", "statistics")
# Of the watched server; nothing that is started for a trial inherits it, whoever begins that.
PASSWORD = ENVIRONMENT_OPTIONS["password"]
CODECS = ("ascii", "utf-8", "latin-1", "idna")


class WorkError(TrialError):
    """The work ended by an error that nobody foresaw: ours, or of somebody who interferes with the trial's files."""


class Place:
    """Our side of work that is done apart; `folder` is where its temporary files go."""

    def __init__(self, channel: Channel, folder: Path) -> None:
        self.channel, self.folder = channel, folder

    def send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Send the work one message, and open files with it. Raises what ended the work, where it has ended."""
        try:
            self.channel.send(message, descriptors)
        except ChannelError:
            # It may have said why before it went; nobody asks it for more.
            self.result(lambda _: None)
            raise

    def result(self, answer: Callable[[Message], None] | None = None) -> Any:
        """What the work returned; whatever else it says goes to `answer`. Raises TrialError as it did, and WorkError."""
        while True:
            message = self.channel.receive()
            if "error" in message:
                raise TrialError(str(message["error"]))
            if "failure" in message:
                raise WorkError(f"the trial's own process failed: {message['failure']}. Report this as a bug.")
            if "result" in message:
                return message["result"]
            if answer is None:
                raise ChannelError("the trial's process asks for something that was not offered.")
            answer(message)


@contextlib.contextmanager
def apart(work: Work, *, shows: bool = False) -> Iterator[Place]:
    """Begin the work in a process of its own; at the end nothing of it is left. `shows`: it may write to standard output and error.

    Raises TrialError where no user or directory can be had for it.
    """
    # What waits to be written would be written by each process.
    sys.stdout.flush()
    sys.stderr.flush()
    if os.geteuid() == 0:
        with _kept(shows) as (user, place), _worker(work, shows, user, place) as channel:
            yield Place(channel, place.path)
        return
    # Here, as what it warns of would be lost in the worker.
    folder = temporary_folder()
    expect_safe(folder.resolve())
    with _worker(work, shows, None, None) as channel:
        yield Place(channel, folder)


def as_other(work: Work) -> Any:
    """Do work that needs no task, and return what it did."""
    with apart(work) as place:
        return place.result()


@contextlib.contextmanager
def _kept(shows: bool) -> Iterator[tuple[OwnUser, Workspace]]:
    """A user and a directory, both gone at the end of this or of the process."""
    _preload(shows)
    user = own_user.choose()
    try:
        place = workspace.make(user.number)
    except BaseException:
        user.lock.close()
        raise
    try:
        reading, writing, keeper = _forked()
    except BaseException:
        place.undo()
        user.lock.close()
        raise
    if keeper == 0:
        _keep(reading, user, place)
    os.close(reading)
    try:
        yield user, place
    finally:
        os.close(writing)
        status = _status(keeper)
        os.close(place.parent)
        user.lock.close()
        if status != 0:
            print(
                f"{place.path.parent} could not be cleared away whole: look what uses it, and remove it.",
                file=sys.stderr,
            )


def _forked() -> tuple[int, int, int]:
    """Both ends of a pipe, and fork(2)'s answer. Raises OSError, and leaves nothing open."""
    reading, writing = os.pipe()
    try:
        return reading, writing, os.fork()
    except BaseException:
        os.close(reading)
        os.close(writing)
        raise


def _keep(reading: int, user: OwnUser, place: Workspace) -> NoReturn:
    """The keeper: nothing but SIGKILL ends it before its work is done."""
    status = 1
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        _close_all_but((reading, user.lock.fileno(), place.parent))
        os.read(reading, 1)
        everybody_ended = own_user.end_all(user.number)
        status = 0 if place.remove() and everybody_ended else 1
    finally:
        os._exit(status)


@contextlib.contextmanager
def _worker(work: Work, shows: bool, user: OwnUser | None, place: Workspace | None) -> Iterator[Channel]:
    ours, theirs = socket.socketpair()
    parent = os.getpid()
    worker = os.fork()
    if worker == 0:
        _work(work, theirs, shows, user, place, parent)
    theirs.close()
    channel = Channel(ours)
    try:
        yield channel
    finally:
        channel.close()
        _end(worker, signal.SIGTERM if user is None else signal.SIGKILL)


def _work(
    work: Work, end: socket.socket, shows: bool, user: OwnUser | None, place: Workspace | None, parent: int
) -> NoReturn:
    """The worker, from its first to its last moment."""
    channel = Channel(end)
    try:
        # No terminal is its own: none of its processes may type into ours, and Ctrl-C is heard by us alone.
        os.setsid()
        own_user.be_ended_first()
        os.environ.pop(PASSWORD, None)
        signal.signal(signal.SIGTERM, _interrupt)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _close_all_but((end.fileno(), *((1, 2) if shows else ())))
        if user is not None and place is not None:
            _settle(user, place)
        own_user.die_with(parent)
        channel.send({"result": work(channel)})
    except KeyboardInterrupt:
        pass
    except UserError as error:
        _tell(channel, "error", str(error))
    except BaseException as error:
        _tell(channel, *_explained(error))
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(0)


def _settle(user: OwnUser, place: Workspace) -> None:
    """Become the user, at home in its directory, with nothing of root's environment but what programs need to run."""
    own_user.become(user.number)
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT_VARIABLES)}
    os.environ.clear()
    os.environ.update(kept, HOME=str(place.path), TMPDIR=str(place.path))
    tempfile.tempdir = str(place.path)
    try:
        os.chdir(place.path)
    except OSError as error:
        raise TrialError(
            f"{place.path.parent.parent} cannot be entered by the trial's own user ({error.strerror}): choose another TMPDIR (/tmp)."
        ) from None
    os.umask(0o077)


def _preload(shows: bool) -> None:
    for codec in CODECS:
        codecs.lookup(codec)
    for name in PRELOADED_LATE:
        importlib.import_module(name)
    for name in (*PRELOADED, *driver().folders):
        _import_all(name, pkgutil.iter_modules)
    for name in PRELOADED_TO_SHOW if shows else ():
        _import_all(name, pkgutil.walk_packages)


def _import_all(package: str, listed: Callable[[Iterable[str], str], Iterable[pkgutil.ModuleInfo]]) -> None:
    for module in listed(importlib.import_module(package).__path__, f"{package}."):
        if not module.name.endswith(".__main__"):
            # What is not installed for all is not needed by all.
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _explained(error: BaseException) -> tuple[str, str]:
    """An error as a message: for the user, where it is theirs to mend."""
    if isinstance(error, ImportError) and not os.access(os.__file__, os.R_OK):
        return "error", (
            f"{error}. Python ({sys.base_prefix}) cannot be read by the trial's own user ({os.geteuid()}): use one that everybody may read "
            "(/usr/bin/python3), or run this as another user than root."
        )
    if isinstance(error, OSError):
        return "error", told(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return "failure", f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"


def _tell(channel: Channel, kind: str, text: str) -> None:
    with contextlib.suppress(ChannelError):
        channel.send({kind: text})


def _close_all_but(kept: Collection[int]) -> None:
    """Let go of every open file. Its number stays taken, because an object that still knows it may close it later."""
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        if number != nothing and number not in kept:
            with contextlib.suppress(OSError):
                os.dup2(nothing, number, inheritable=number <= 2)
    os.close(nothing)


def _end(worker: int, signal_number: signal.Signals) -> None:
    """End the worker; one that does not go is killed."""
    deadline = time.monotonic() + END_SECONDS
    while time.monotonic() < deadline:
        os.kill(worker, signal_number)
        for _ in range(20):
            if os.waitpid(worker, os.WNOHANG)[0]:
                return
            time.sleep(0.02)
    os.kill(worker, signal.SIGKILL)
    _status(worker)


def _status(process: int) -> int:
    """Wait for a process of ours, whatever is typed meanwhile."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return os.waitpid(process, 0)[1]
