"""`myisam-snapshot`: the facts of a server on a host with an old Python, as a file that `myisam-advisor check --facts` judges elsewhere."""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NoReturn

from myisam_advisor.factbase.anonymous import anonymised
from myisam_advisor.factbase.document import as_document
from myisam_advisor.texts.templates import printable
from myisam_advisor.texts.whole_files import OutputDirectory
from myisam_exporter.collectors.base import PAGE_CACHE_SWEEP_SECONDS
from myisam_exporter.collectors.disk_space import NOT_FROM_ONE_LOOK
from myisam_exporter.errors import UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.interval import NO_INTERVAL
from myisam_exporter.look.live import collect_facts
from myisam_exporter.outside.quantities import seconds_in
from myisam_exporter.server.option_files import GROUP_SUFFIX_VARIABLE, Further, login_file
from myisam_exporter.server.session import DEFAULT_TIMEOUT_SECONDS
from myisam_exporter.server.target import Target, target_from_options
from myisam_exporter.version import __version__
from tools.snapshotter.parts.client_program import Client

PROGRAM = "myisam-snapshot"
OK, USER_ERROR, INTERRUPTED = 0, 2, 130
PASSWORD_VARIABLE = "MYSQL_PWD"  # noqa: S105 - its name
LONGEST_INTERVAL_SECONDS, LONGEST_TIMEOUT_SECONDS = 86_400.0, 600
# Who looks is root or the server's own user, as a rule: nobody else is to read what the tables are called.
OWN = 0o600
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TERMINAL = "/dev/tty"
PIECES_AT_ONCE = 4096
EPILOG = """Judge the file where myisam-advisor is: myisam-advisor check --facts FILE.
It opens no table, takes no lock and changes nothing; run it as root, or as the server's user, to let it see the tables' files.
Exit status: 0 written, 2 wrong use or no server, 130 interrupted."""


class _Parser(argparse.ArgumentParser):
    """Complaints end as all others do."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}. Try {PROGRAM} --help.")


def main(words: Sequence[str] | None = None) -> int:
    """Write the facts; the exit status. One message for whatever went wrong, never a traceback."""
    _replace_closed_streams()
    logging.basicConfig(format=PROGRAM + ": %(message)s", level=logging.WARNING)
    try:
        status = _run(sys.argv[1:] if words is None else words)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except UserError as error:
        return _say(printable(str(error)), USER_ERROR)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return USER_ERROR
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        return _say(printable(f"{error.strerror or error}{where}"), USER_ERROR)
    except Exception as error:
        if os.environ.get("MYISAM_ADVISOR_DEBUG", "0") not in ("", "0"):
            raise
        return _say(
            printable(
                f"internal error: {type(error).__name__}: {error}; please report it; MYISAM_ADVISOR_DEBUG=1 shows where"
            ),
            USER_ERROR,
        )
    finally:
        Client.end_all()


def _replace_closed_streams() -> None:
    """What was closed before the start becomes the null device, as with myisam-advisor."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for as long as the process


def _say(message: str, status: int) -> int:
    sys.stderr.write(f"{PROGRAM}: {message}\n".encode("ascii", "backslashreplace").decode("ascii"))
    return status


def _run(words: Sequence[str]) -> int:
    _refuse_passwords(words)
    options = _parser().parse_args(list(words))
    output = Path(options.output) if options.output else None
    if output is not None:
        _refuse_output(output)
    Client.find(options.client)
    target = _target(options)
    if sys.stderr.isatty() and options.interval:
        _say(f"looking at {printable(target.label)} for {options.interval:g} s", OK)
    facts = collect_facts(
        target, options.interval, options.timeout, tuple(options.key_caches), options.page_cache_seconds
    )
    _tell_what_is_unseen(facts)
    document = as_document(facts)
    document["tool"] = {"name": PROGRAM, "version": __version__}
    texts = _texts(anonymised(document) if options.without_names else document)
    if output is None:
        for text in texts:
            sys.stdout.write(text)
    else:
        _write(output, texts)
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM, epilog=EPILOG, add_help=False, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Write the facts of a MySQL or MariaDB server with MyISAM tables on this host, as JSON.",
    )  # fmt: skip
    add = parser.add_argument
    add("--help", "-?", action="help", help="show this and exit")
    add("--version", action="version", version=f"{PROGRAM} {__version__}", help="show the version and exit")
    add(
        "--interval",
        metavar="SECONDS",
        type=_interval,
        default=10.0,
        help="time between two samples, for rates; 0 takes one [10]",
    )
    add(
        "--output",
        metavar="FILE",
        help="new file to write instead of standard output, readable by its owner; packed where it ends in .gz",
    )
    add(
        "--anonymise",
        "--anonymize",
        dest="without_names",
        action="store_true",
        help="replace names of schemas, tables, hosts, paths",
    )
    add("--socket", "-S", metavar="FILE", help="the server's socket")
    add(
        "--host",
        "-h",
        metavar="HOST",
        help="localhost (its socket), 127.0.0.1 or ::1: this looks at files, so it runs beside the server",
    )
    add("--port", "-P", metavar="PORT", type=_port, help="TCP port")
    add("--user", "-u", metavar="USER", help="account [your own name]")
    add(
        "--password",
        "-p",
        dest="asks",
        action="store_true",
        help="ask for the password on the terminal; else it comes from an option file",
    )
    add("--defaults-file", metavar="FILE", help="read only this option file")
    add("--defaults-extra-file", metavar="FILE", help="also read this option file, before ~/.my.cnf")
    add("--defaults-group-suffix", metavar="SUFFIX", default="", help="also read groups with this suffix")
    add("--client", metavar="FILE", help="the server's client program [mariadb or mysql, where PATH has one]")
    add(
        "--timeout",
        metavar="SECONDS",
        type=_timeout,
        default=DEFAULT_TIMEOUT_SECONDS,
        help="allowed for a connection or a query [10]",
    )
    add(
        "--key-cache",
        dest="key_caches",
        metavar="NAME",
        action="append",
        default=[],
        help="a named key cache (MySQL cannot list them)",
    )
    add(
        "--page-cache-seconds",
        metavar="SECONDS",
        type=_sweep,
        default=PAGE_CACHE_SWEEP_SECONDS,
        help="allowed for asking what is in memory [2]",
    )
    return parser


def _interval(text: str) -> float:
    seconds = seconds_in(text)
    if seconds is None or not 0 <= seconds <= LONGEST_INTERVAL_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is no length of time up to a day: write 10, 500ms or 5min")
    return seconds


def _sweep(text: str) -> float:
    seconds = seconds_in(text)
    if seconds is None or not 0 <= seconds <= LONGEST_TIMEOUT_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 0 to {LONGEST_TIMEOUT_SECONDS}")
    return seconds


def _timeout(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= LONGEST_TIMEOUT_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 1 to {LONGEST_TIMEOUT_SECONDS}")
    return int(text)


def _port(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no port number from 1 to 65535")
    return int(text)


def _refuse_passwords(words: Sequence[str]) -> None:
    """Raise UserError for a password among the words, before anything can show it."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        is_behind = word in ("-p", "--password") and following[:1] not in ("", "-")
        if is_behind or word.startswith("--password=") or (word.startswith("-p") and len(word) > 2):
            raise UserError(
                "a password on the command line can be read by every user of this machine: it was not used. Write -p alone, behind all other words, "
                "which asks for it, or put it into an option file that only you may read (--defaults-extra-file)."
            )


def _target(options: argparse.Namespace) -> Target:
    environment = dict(os.environ)
    os.environ.pop(PASSWORD_VARIABLE, None)  # no program that we start inherits it
    suffix = options.defaults_group_suffix or environment.get(GROUP_SUFFIX_VARIABLE, "")
    extra = Path(options.defaults_extra_file) if options.defaults_extra_file else None
    target = target_from_options(
        [Path(options.defaults_file)] if options.defaults_file else [],
        options.user,
        options.host,
        options.port,
        Path(options.socket) if options.socket else None,
        password=_asked() if options.asks else None,
        further=Further(extra, suffix, None, login_file(environment), environment),
    )
    if not target.may_be_local:
        raise UserError(
            f"{target.label} is another host: its tables' files are there. Copy this file to that host and run it there, or ask from where myisam-advisor is: "
            f"myisam-advisor snapshot --host {target.host}."
        )
    if target.password_origin.endswith(PASSWORD_VARIABLE):
        _say(
            f"the password came from {PASSWORD_VARIABLE}, where other programs may read it: an option file that only you may read is safer.",
            OK,
        )
    return target


def _asked() -> str:
    from getpass import getpass

    try:
        os.close(os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        raise UserError(
            "-p asks for the password on the terminal, and there is none: put it into an option file (--defaults-extra-file)."
        ) from None
    try:
        return getpass("Enter password: ")
    except EOFError:
        raise KeyboardInterrupt from None


def _tell_what_is_unseen(facts: FactSet) -> None:
    """What could not be seen and what would show it, each once: nobody is to take a part for the whole."""
    for reason in dict.fromkeys(_reasons(facts)):
        _say(printable(f"not seen: {reason.reason}" + (f"; {reason.remedy}" if reason.remedy else "")), OK)


def _reasons(facts: FactSet) -> Iterator[Unknown]:
    """Why tables and columns are absent, but for what no look at a moment shows, on any host."""
    reasons = (*facts.notes, *(facts.unknown[name] for name in sorted(facts.unknown)))
    yield from (reason for reason in reasons if not reason.off and reason not in (NO_INTERVAL, NOT_FROM_ONE_LOOK))


def _refuse_output(path: Path) -> None:
    """Raise UserError before anybody waits for facts that could not be written."""
    try:
        with _NewFile(path) as directory:
            directory.refuse()
    except OSError as error:
        raise _not_written(path, error) from None


def _texts(document: Mapping[str, object]) -> Iterator[str]:
    """The document as JSON, piece by piece: as one text that of 20,000 tables takes as much memory again as they do."""
    pieces = json.JSONEncoder(indent=1).iterencode(document)
    while True:
        text = "".join(islice(pieces, PIECES_AT_ONCE))
        if not text:
            break
        yield text
    yield "\n"


def _write(path: Path, content: Iterable[str]) -> None:
    """A new file that its owner alone may read, packed where its name says so. Raises UserError where it cannot be made."""
    try:
        with _NewFile(path) as directory:
            directory.refuse()
            directory.write(content)
    except OSError as error:
        raise _not_written(path, error) from None


def _not_written(path: Path, error: OSError) -> UserError:
    return UserError(
        f"cannot write {path}: {error.strerror or error}. Give another --output, or none and take standard output."
    )


class _NewFile(OutputDirectory):
    """The directory of a file that is to be made, reached through nobody else's links."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.parent)
        self.file_path = path

    def __enter__(self) -> _NewFile:
        return self

    def refuse(self) -> None:
        """Raise UserError for a name that is taken, and for root in a directory that others may write."""
        if not self.file_path.name or self.holds(self.file_path.name):
            raise UserError(f"{self.file_path} is there already: it is not written over. Give another --output.")
        status = os.fstat(self._descriptor)
        by_others = (
            status.st_uid != 0
            or status.st_mode & stat.S_IWOTH
            or (status.st_mode & stat.S_IWGRP and status.st_gid != 0)
        )
        if os.geteuid() == 0 and by_others:
            raise UserError(
                f"root writes no file into {self.file_path.parent}, where others may write too: give --output in a directory of root's (/root), or take standard output (> FILE)."
            )

    def write(self, content: Iterable[str]) -> None:
        """Make the file. Raises OSError; then nothing is left of it."""
        name = self.file_path.name
        descriptor = os.open(name, _MAKE, OWN, dir_fd=self._descriptor)
        try:
            with open(descriptor, "wb") as file, _packed(file) if name.endswith(".gz") else _plain(file) as target:
                for text in content:
                    target.write(text.encode("ascii"))
        except BaseException:
            os.unlink(name, dir_fd=self._descriptor)
            raise


def _packed(file: BinaryIO) -> gzip.GzipFile:
    """What packs into this file, without the time of packing: the same facts are the same file."""
    return gzip.GzipFile("", "wb", 9, file, 0)


@contextmanager
def _plain(file: BinaryIO) -> Iterator[BinaryIO]:
    """The file itself: contextlib.nullcontext is newer."""
    yield file
