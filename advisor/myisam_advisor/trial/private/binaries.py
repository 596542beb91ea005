"""Server programs: the one that somebody names, or the one that a running server was started from."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import struct
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.reaped_directory import changed_by_others
from myisam_advisor.trial.private.unprivileged import words_before
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.bounded_reading import first_bytes

PROGRAM_NAMES = ("mariadbd", "mysqld", "mysqld-debug")
PROGRAM_FOLDERS = ("sbin", "bin", "libexec", "")
SHARE_FOLDERS = ("share/mariadb", "share/mysql", "share/mysql-8.0", "share/mysql-9.7", "share", "share/mysql/mysql")
VERSION_SECONDS = 20
# From here on mysqld makes its data directory itself (--initialize); before, SQL scripts are fed to --bootstrap.
INITIALIZE_FROM = (5, 7, 6)
# From here on a MySQL keeps definitions in its dictionary, and in .sdi files; before, as MariaDB always, in .frm files.
DICTIONARY_SINCE = (8, 0)
# Readable even where our user may not pass to where it lies.
OWN_PROGRAM = Path("/proc/self/exe")
# The program is among the first words; one word may have 128 KiB (execve(2), MAX_ARG_STRLEN).
COMMAND_LINE_BYTES = 128 << 10
_VERSION = re.compile(r"Ver (\d+)\.(\d+)\.(\d+)(\S*)")


@dataclass(frozen=True, slots=True)
class ServerBinaries:
    """One server's programs and data files.

    `loader` is set where the server lives in a private root with its own C library: its programs then run through that root's
    own dynamic loader, never against this machine's libraries. `family` is how the data directory is made: mariadb, mysql, or
    mysql-bootstrap for those before 5.7.6. `release` is what the program itself says that it is.
    """

    name: str
    flavour: str
    mysqld: Path
    basedir: Path
    share: Path
    loader: Path | None = None
    family: str = "mariadb"
    release: tuple[int, int, int] | None = None

    @property
    def version(self) -> tuple[int, int]:
        """The release series, out of the name (mysql-9.7)."""
        major, minor = self.name.rpartition("-")[2].split(".")[:2]
        return int(major), int(minor)

    @property
    def keeps_dictionary(self) -> bool:
        """Whether it is a MySQL that reads no .frm."""
        return self.flavour == "mysql" and self.version >= DICTIONARY_SINCE

    @property
    def library_directory(self) -> Path | None:
        """The private root's libraries, or None where the machine's own are right."""
        return self.loader.parent if self.loader else None

    def command(self, program: Path) -> list[str]:
        """The words that start PROGRAM of this server (mysqld, myisamchk, myisampack)."""
        if self.loader:
            return [str(self.loader), "--library-path", str(self.library_directory), str(program)]
        return [str(program)]

    def tool(self, name: str) -> list[str] | None:
        """The words that start myisamchk or myisampack, or None where the server came without them."""
        program = self.basedir / "bin" / name
        if program.exists():
            return self.command(program)
        installed = shutil.which(name)
        return [installed] if installed and not self.loader else None


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """Which program a private server is to run, before anything of it was opened: that is for an unprivileged process to do.

    `chosen` is what --server says; `candidates` are where the watched server's program may be; `known` are binaries that are known already.
    """

    chosen: str = ""
    candidates: tuple[str, ...] = ()
    known: ServerBinaries | None = None

    @classmethod
    def named(cls, text: str) -> ServerChoice:
        """What --server says, from wherever it will be looked for."""
        return cls(str(Path(text).absolute()))

    def binaries(self) -> ServerBinaries:
        """The program, asked for its version where it must be. Raises TrialError when there is none that runs here."""
        if self.known is not None:
            return self.known
        return server_at(Path(self.chosen)) if self.chosen else binary_among(map(Path, self.candidates))


def as_document(binaries: ServerBinaries) -> dict[str, str]:
    """Binaries as JSON can hold them."""
    return {name: str(value) for name, value in asdict(binaries).items() if value is not None}


def from_document(document: Mapping[str, Any]) -> ServerBinaries:
    """Binaries that were `as_document`. Raises TrialError for anything else."""
    try:
        name, flavour, family = (str(document[key]) for key in ("name", "flavour", "family"))
        mysqld, basedir, share = (Path(str(document[key])) for key in ("mysqld", "basedir", "share"))
    except (KeyError, TypeError):
        raise TrialError("the trial's process names no server program.") from None
    loader = Path(str(document["loader"])) if "loader" in document else None
    return ServerBinaries(name, flavour, mysqld, basedir, share, loader, family)


def server_at(mysqld: Path) -> ServerBinaries:
    """The server whose program this is. Raises TrialError when it is none, or of another architecture."""
    try:
        mysqld = mysqld.resolve(strict=True)
        head = _elf_head(mysqld) if mysqld.is_file() else b""
    except PermissionError:
        raise TrialError(
            f"{mysqld} cannot be read by the user that is to run it ({os.geteuid()}; root's trials have one of their own): "
            "install it where everybody may read."
        ) from None
    except OSError as error:
        raise TrialError(
            f"no server program {mysqld}: {error.strerror}. --server takes the path of mysqld or mariadbd."
        ) from None
    _expect_this_architecture(mysqld, head)
    basedir = mysqld.parent.parent if mysqld.parent.name in PROGRAM_FOLDERS else mysqld.parent
    share = share_of(basedir)
    if share is None:
        raise TrialError(
            f"{mysqld} has no messages and character sets beside it (looked in {', '.join(SHARE_FOLDERS)} below {basedir})."
        )
    loader = private_loader(basedir)
    words = [str(loader), "--library-path", str(loader.parent), str(mysqld)] if loader else [str(mysqld)]
    flavour, version = _version(words)
    family = "mariadb" if flavour == "mariadb" else "mysql" if version >= INITIALIZE_FROM else "mysql-bootstrap"
    name = f"{flavour}-{version[0]}.{version[1]}"
    return ServerBinaries(name, flavour, mysqld, basedir, share, loader, family, version)


def programs_of_watched(pid: int | None, variables: Mapping[str, str]) -> list[Path]:
    """Where the watched server's program may be: by its process, then by its basedir. Names only: nothing is opened.

    What answers in a server's place names whatever it likes. Root's trials run that as a user of their own; anybody else runs it as themselves, so that
    it has to be of root's or of their own. Raises TrialError where what is there is somebody else's.
    """
    named = [*_of_process(pid), *_below(Path(variables.get("basedir", "")))]
    if os.geteuid() == 0:
        return named
    there = [real for real in map(_real, named) if real is not None]
    trusted = [one for one in there if changed_by_others(one) is None]
    if there and not trusted:
        raise TrialError(
            f"the server says that its program is {there[0]}, and {changed_by_others(there[0])} can be changed by others than root and you: what is there would "
            f"run with your rights. If it is what you want to run, say so: --server {shlex.quote(str(there[0]))}."
        )
    return trusted


def _real(program: Path) -> Path | None:
    """The file that this name leads to; None where it leads to none that we see."""
    try:
        real = program.resolve(strict=True)
        return real if real.is_file() else None
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle, before Python 3.13
        return None


def binary_among(programs: Iterable[Path]) -> ServerBinaries:
    """The first of the programs that is there. Raises TrialError when there is none to be found."""
    for candidate in programs:
        if candidate.is_file():
            return server_at(candidate)
    raise TrialError(
        "no server program found: neither the watched server's process nor its basedir shows one to this user. "
        "Name it (--server /usr/sbin/mariadbd), or run as root."
    )


def _of_process(pid: int | None) -> Iterable[Path]:
    if pid is None:
        return
    try:
        program = Path(f"/proc/{pid}/exe").resolve(strict=True)
        words = first_bytes(f"/proc/{pid}/cmdline", COMMAND_LINE_BYTES).split(b"\0")
    except OSError:
        return
    if program.name in PROGRAM_NAMES:
        yield program
    # Started through a dynamic loader of its own, the program is a word of the command line.
    yield from (Path(os.fsdecode(word)) for word in words if os.fsdecode(word).rpartition("/")[2] in PROGRAM_NAMES)


def _below(basedir: Path) -> Iterable[Path]:
    if basedir.is_absolute():
        yield from (basedir / folder / name for folder in PROGRAM_FOLDERS for name in PROGRAM_NAMES)


def share_of(basedir: Path) -> Path | None:
    """The folder of messages and character sets below a basedir, or None."""
    folders = (basedir / folder for folder in SHARE_FOLDERS)
    return next((one for one in folders if (one / "english").exists() or (one / "charsets").exists()), None)


def private_loader(basedir: Path) -> Path | None:
    """The loader of a private root; the machine's own programs need none named."""
    return None if basedir == Path("/usr") else next(iter(sorted(basedir.glob("lib/*/ld-linux-*.so.*"))), None)


def _expect_this_architecture(program: Path, head: bytes) -> None:
    """Compare the ELF header's class and machine with those of the Python that runs: elf(5)."""
    if head[:4] != b"\x7fELF":
        raise TrialError(f"{program} does not run on this system: --server takes the path of mysqld or mariadbd.")
    own = _elf_head(OWN_PROGRAM)
    if (head[4], _machine(head)) != (own[4], _machine(own)):
        raise TrialError(
            f"{program} was built for another architecture than this machine's ({os.uname().machine}): it cannot run here."
        )


def _elf_head(program: Path) -> bytes:
    with program.open("rb") as file:
        return file.read(20)


def _machine(head: bytes) -> int:
    return int(struct.unpack("<H" if head[5] == 1 else ">H", head[18:20])[0])


def _version(words: Sequence[str]) -> tuple[str, tuple[int, int, int]]:
    try:
        done = subprocess.run(
            [*words_before(), *words, "--no-defaults", "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_SECONDS,
            check=False,
        )
    except OSError as error:
        raise TrialError(f"{words[-1]} does not run: {error}.") from None
    except subprocess.TimeoutExpired:
        raise TrialError(
            f"{words[-1]} did not say within {VERSION_SECONDS:.0f} s which server it is: --server takes the path of mysqld or mariadbd."
        ) from None
    found = _VERSION.search(done.stdout)
    if found is None:
        raise TrialError(
            f"{words[-1]} does not say which server it is: {' '.join((done.stderr or done.stdout).split())[:300].rstrip('.') or 'no output'}."
        )
    flavour = "mariadb" if "mariadb" in found[4].lower() or "mariadbd" in words[-1] else "mysql"
    return flavour, (int(found[1]), int(found[2]), int(found[3]))
