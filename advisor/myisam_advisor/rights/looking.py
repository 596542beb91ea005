"""Looking as the service does: the program's own examination, run with the user, groups, capabilities and file system of the service.

While the service runs, its main process tells them (proc(5)), and its namespaces are entered: what its unit hides from it is hidden here
too. The examining process is started anew, so that it has none of root's memory, and what it prints is believed as little as anybody's.
Sources: nsenter(1), setpriv(1), capabilities(7), systemd.exec(5).
"""

from __future__ import annotations

import grp
import os
import pwd
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fcntl import ioctl
from pathlib import Path
from typing import Any

import myisam_advisor
import myisam_exporter
from myisam_advisor.rights.service import Service
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.outside.bounded_reading import bounded_bytes, bounded_text
from myisam_exporter.outside.documents import DocumentError, parse_json

MAXIMUM_DOCUMENT_BYTES = 4 << 20
MAXIMUM_MEMORY_BYTES = 64 << 20
LOOK_SECONDS = 120.0
PIECE_BYTES = 1 << 16
OUR_USERS = Path("/proc/self/ns/user")
# ioctl_ns(2): the user namespace that owns another one.
NS_GET_USERNS = 0xB701
CAPABILITY_BITS = 64
# Of some 40: root's own, whatever its unit took away.
MANY_CAPABILITIES = 30
# capability.h
NAMES = {"cap_1": "cap_dac_override", "cap_2": "cap_dac_read_search", "cap_3": "cap_fowner", "cap_19": "cap_sys_ptrace"}
# Where our own packages lie may be a place that Python does not look in by itself (the RPM's /usr/lib/myisam-advisor).
OWN_FOLDERS = tuple(
    dict.fromkeys(str(Path(one).parent) for one in (*myisam_advisor.__path__, *myisam_exporter.__path__))
)
ENTRY = (
    "import sys; sys.path[:0] = [one for one in sys.argv.pop(1).split('\\n') if one not in sys.path]; "
    "from myisam_advisor.cli.main import main; main()"
)
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Identity:
    """As whom and where a process runs; `process` is the one whose namespaces are entered, None for our own."""

    user: int
    group: int
    groups: tuple[int, ...]
    capabilities: tuple[str, ...]
    process: int | None = None

    def told(self) -> str:
        """Its capabilities in words."""
        if len(self.capabilities) > MANY_CAPABILITIES:
            return "all"
        return ", ".join(NAMES.get(name, name).upper() for name in self.capabilities) or "none"


def identity_of(service: Service, proc: Path = Path("/proc")) -> Identity:
    """As whom the service runs; while it does not, as whom it would. Raises UserError for a user or group that there is not."""
    if service.process is not None:
        try:
            return _of_process(service.process, proc)
        except (OSError, KeyError, ValueError):
            pass  # it ended since systemd told of it
    account = _account(service)
    group = _group(service, service.group) if service.group else account.pw_gid
    groups = tuple(_group(service, name) for name in service.groups)
    return Identity(account.pw_uid, group, groups, service.capabilities)


def _of_process(pid: int, proc: Path) -> Identity:
    if (proc / str(pid) / "ns" / "user").stat().st_ino != OUR_USERS.stat().st_ino:
        raise UserError(
            f"process {pid} has users of its own (user_namespaces(7)): what it calls its rights are none here, and nobody looks as it."
        )
    lines = bounded_text(proc / str(pid) / "status").splitlines()
    told = dict(line.partition(":")[::2] for line in lines)
    effective = int(told["CapEff"], 16)
    capabilities = tuple(f"cap_{bit}" for bit in range(CAPABILITY_BITS) if effective >> bit & 1)
    groups = tuple(map(int, told["Groups"].split()))
    return Identity(int(told["Uid"].split()[1]), int(told["Gid"].split()[1]), groups, capabilities, pid)


def _account(service: Service) -> pwd.struct_passwd:
    name = service.user or "root"
    try:
        return pwd.getpwuid(int(name)) if name.isdecimal() else pwd.getpwnam(name)
    except (KeyError, OverflowError):
        raise UserError(
            f"{service.name} is to run as {name!r}, and there is no such user: systemd-sysusers makes the package's own, "
            f"`systemctl edit {service.name}` names another (User=)."
        ) from None


def _group(service: Service, name: str) -> int:
    try:
        return int(name) if name.isdecimal() else grp.getgrnam(name).gr_gid
    except KeyError:
        raise UserError(f"{service.name} is to run in the group {name!r}, and there is no such group.") from None


@contextmanager
def _entered(pid: int | None, proc: Path = Path("/proc")) -> Iterator[dict[str, int]]:
    """Open descriptors of the process's namespaces by their names, each made by root: in another's mount namespace a program of that name is another's.

    Raises UserError for one that is not, OSError where the process has ended.
    """
    with ExitStack() as stack:
        opened: dict[str, int] = {}
        for name in () if pid is None else ("mnt", "net"):
            file = stack.enter_context((proc / str(pid) / "ns" / name).open("rb"))
            owner = ioctl(file.fileno(), NS_GET_USERNS)
            stack.callback(os.close, owner)
            if os.fstat(owner).st_ino != OUR_USERS.stat().st_ino:
                raise UserError(f"process {pid} has a {name} namespace that somebody else made: it is not entered.")
            opened[name] = file.fileno()
        yield opened


def words_before(identity: Identity, namespaces: Mapping[str, int]) -> list[str]:
    """Words before a command that runs as somebody, in these namespaces (open descriptors), and ends when we do."""
    flags = {"mnt": "--mount", "net": "--net"}
    entering = [f"{flags[name]}=/proc/self/fd/{descriptor}" for name, descriptor in namespaces.items()]
    if entering:
        entering = ["nsenter", *entering, "--"]
    capabilities = ",".join(["-all", *map(_added, identity.capabilities)])
    groups = f"--groups={','.join(map(str, identity.groups))}" if identity.groups else "--clear-groups"
    return [
        *entering,
        "setpriv",
        f"--reuid={identity.user}",
        f"--regid={identity.group}",
        groups,
        *(f"--{kind}={capabilities}" for kind in ("bounding-set", "inh-caps", "ambient-caps")),
        "--no-new-privs",
        "--pdeathsig=KILL",
        "--",
    ]


def _added(capability: str) -> str:
    """As setpriv wants it: +cap_2 by its number, +dac_read_search by its name."""
    name = capability.removeprefix("cap_")
    return f"+{capability}" if name.isdecimal() else f"+{name}"


def daemon_words(service: Service, proc: Path = Path("/proc")) -> tuple[str, ...]:
    """The words that the running daemon was started with, behind `serve`; nothing while it does not run."""
    if service.process is None:
        return ()
    try:
        words = bounded_bytes(proc / str(service.process) / "cmdline").decode("utf-8", "replace").split("\0")
    except OSError:
        return ()
    return tuple(words[words.index("serve") + 1 : -1]) if "serve" in words else ()


def look_as(identity: Identity, words: Sequence[str], state_directory: Path | None) -> dict[str, Any]:
    """What `doctor` finds as that user, as its document; one with `error` where the server could not be asked. Raises UserError."""
    environment = {"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": _home(identity.user)}
    if state_directory is not None:
        environment["STATE_DIRECTORY"] = str(state_directory)
    command = [sys.executable, "-I", "-c", ENTRY, "\n".join(OWN_FOLDERS), "doctor", "--format", "json", *words]
    try:
        with (
            _entered(identity.process) as namespaces,
            subprocess.Popen(
                [*words_before(identity, namespaces), *command],
                pass_fds=tuple(namespaces.values()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd="/",
                # Who takes the service over has no way to our terminal.
                start_new_session=True,
            ) as process,
        ):
            told, complaint = _heard(process)
    except OSError as error:
        raise UserError(f"nobody can look as the service: {error.filename}: {error.strerror}.") from None
    return _document(told, complaint)


def _heard(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """What it says in bounded time, and to a bounded length."""
    assert process.stdout is not None
    assert process.stderr is not None
    heard = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    told, complaint = heard.values()
    waiting, end = dict(heard), time.monotonic() + LOOK_SECONDS
    try:
        # Whoever else holds the pipe open keeps nobody longer than that.
        while waiting and (left := end - time.monotonic()) > 0:
            for descriptor in select.select(list(waiting), [], [], left)[0]:
                piece = os.read(descriptor, PIECE_BYTES)
                waiting[descriptor] += piece
                if not piece or len(waiting[descriptor]) > MAXIMUM_DOCUMENT_BYTES:
                    del waiting[descriptor]
    finally:
        process.kill()
    return bytes(told), bytes(complaint)


def _document(told: bytes, complaint: bytes) -> dict[str, Any]:
    try:
        document = parse_json(told.decode("utf-8", "replace"), MAXIMUM_MEMORY_BYTES)
    except DocumentError:
        document = None
    if isinstance(document, dict):
        return document
    said = complaint.decode("utf-8", "replace").strip().splitlines()
    why = said[-1] if said else f"nothing was said within {LOOK_SECONDS:.0f} s"
    raise UserError(
        f"what the service sees could not be found out: {why}. Its user must be able to run {sys.executable} with this program: "
        "install it where everybody may read it."
    )


def _home(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_dir
    except KeyError:
        return "/"
