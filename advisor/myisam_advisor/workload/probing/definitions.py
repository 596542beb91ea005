"""Events that the kernel makes of a probe, as tracefs has them: defined under a name that tells whose they are, and removed with it.

A statement's text is fetched as arrays of 512 bytes and never as a string: a string of 4,037 to 4,096 bytes does not fit into the page that the
kernel keeps for one event, which it answers with a warning and a stack trace in its log (seen on 6.18: prepare_uprobe_buffer); with
panic_on_warn the machine stops. Arrays have a size that is known when the probe is made, and take zero bytes too.

Sources: Documentation/trace/uprobetracer.rst; kernel/trace/trace_uprobe.c and trace_probe.h (MAX_ARRAY_LEN, MAX_PROBE_EVENT_SIZE).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from myisam_advisor.workload.probing.place import Place
from myisam_exporter.errors import UserError

PIECE_BYTES = 512
SCHEMA_BYTES = 64
# What one event may hold: 3,072 bytes of arguments.
_FIRST_PIECES, _FURTHER_PIECES = 4, 5
_PREFIX = "myisam_advisor"
_GROUP = re.compile(rf"{_PREFIX}_(\d+)_(\d+)_(\d+)_(\d+)", re.ASCII)
_DEFINED = re.compile(r"^[pr]:([^/\s]+)/(\S+) ", re.MULTILINE)
_FIELD = re.compile(r"field:[^;]*?(\w+)(?:\[\d*\])?;\toffset:(\d+);\tsize:(\d+);")
INSTEAD = "Record with the slow log (leave --source out), or with --source performance-schema where its history is on."


@dataclass(frozen=True, slots=True)
class Offsets:
    """Where a session has what, from the beginning of its THD: learned from connections of our own (learning.py).

    Attributes:
        connection: its number, 32 bits.
        schema: address of the default database's name; its length stands behind it.
    """

    connection: int
    schema: int


@dataclass(frozen=True, slots=True)
class Defined:
    """An event that is defined.

    Attributes:
        name: within its group.
        number: as perf_event_open wants it, and as its records begin.
        fields: place and size of each argument in a record.
    """

    name: str
    number: int
    fields: dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Group:
    """Whose events these are: in which process namespace, which process, begun when, of which server."""

    namespace: int
    pid: int
    begun: int
    server: int

    def __str__(self) -> str:
        return f"{_PREFIX}_{self.namespace}_{self.pid}_{self.begun}_{self.server}"

    def is_alive(self) -> bool:
        """Whether its recorder still runs, as far as that can be told from here."""
        return self.namespace != _namespace() or _begun(self.pid) == self.begun


def own_group(server: int) -> Group:
    """That of this process."""
    return Group(_namespace(), os.getpid(), _begun(os.getpid()), server)


def start_events(place: Place, text_bytes: int, offsets: Offsets | None) -> list[tuple[str, str]]:
    """Names and arguments of the events of a statement's begin: as many as its text needs."""
    layout = place.layout
    about = [f"session={layout.session}:x64", f"length={layout.length}:u32", f"command={layout.command}:u32"]
    if offsets is not None:
        schema = f"+{offsets.schema}({layout.session})"
        about += [
            f"connection=+{offsets.connection}({layout.session}):u32",
            f"schema_bytes=+{offsets.schema + 8}({layout.session}):u32",
            f"schema=+0({schema}):x64[{SCHEMA_BYTES // 8}]",
        ]
    pieces = [
        f"text{number}=+{number * PIECE_BYTES}({layout.text}):x64[{PIECE_BYTES // 8}]"
        for number in range(text_bytes // PIECE_BYTES)
    ]
    events = [("begin", " ".join(about + pieces[:_FIRST_PIECES]))]
    for number, at in enumerate(range(_FIRST_PIECES, len(pieces), _FURTHER_PIECES)):
        events.append((f"further{number}", " ".join(pieces[at : at + _FURTHER_PIECES])))
    return events


class Definitions:
    """Our events in tracefs. `remove` takes them away."""

    def __init__(self, root: Path, group: Group) -> None:
        self.root, self.group = root, group

    def add(self, place: Place, events: list[tuple[str, str]], end: bool) -> list[Defined]:
        """Define them. Raises UserError where the kernel refuses."""
        at = f"{place.binary}:{place.offset:#x}"
        lines = [(name, f"p:{self.group}/{name} {at} {arguments}") for name, arguments in events]
        lines += [("end", f"r:{self.group}/end {at}")] if end else []
        for _, line in lines:
            try:
                _command(self.root, line)
            except OSError as error:
                raise UserError(f"the kernel refused the probe: {error.strerror}. {INSTEAD}") from None
        return [self._defined(name) for name, _ in lines]

    def remove(self, patience_seconds: float = 0.0) -> bool:
        """Take away all of them; whether none is left. An event that is still counted somewhere is tried again for so long."""
        deadline = time.monotonic() + patience_seconds
        while True:
            for name in _names(self.root, str(self.group)):
                with contextlib.suppress(OSError):
                    _command(self.root, f"-:{self.group}/{name}")
            if not _names(self.root, str(self.group)):
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.05)

    def _defined(self, name: str) -> Defined:
        folder = self.root / "events" / str(self.group) / name
        fields = {
            field: (int(offset), int(size))
            for field, offset, size in _FIELD.findall((folder / "format").read_text("ascii"))
        }
        return Defined(name, int((folder / "id").read_text("ascii")), fields)


def tracing_root(
    candidates: tuple[Path, ...] = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing")),
) -> Path:
    """Where tracefs is mounted. Raises UserError, with what to do, where there are no probes."""
    if os.geteuid():
        raise UserError(f"a probe needs root (tracefs and perf_event_open). Run this with sudo. {INSTEAD}")
    for root in candidates:
        if (root / "uprobe_events").exists():
            return root
    if any((root / "events").exists() for root in candidates):
        raise UserError(f"this kernel has no probes in programs (CONFIG_UPROBE_EVENTS). {INSTEAD}")
    raise UserError(f"tracefs is not mounted. mount -t tracefs tracefs {candidates[0]}; or: {INSTEAD}")


def clear_stale(root: Path, server: int) -> None:
    """Remove what recorders of ours that are gone have left. Raises UserError where another one records this server."""
    for name in sorted(set(_groups(root))):
        found = _GROUP.fullmatch(name)
        if found is None:
            continue
        group = Group(*(int(number) for number in found.groups()))
        if not group.is_alive():
            Definitions(root, group).remove()
        elif group.server == server:
            raise UserError(f"another recording has a probe in this server (process {group.pid}). Wait for its end.")


def _groups(root: Path) -> list[str]:
    return [group for group, _ in _defined_in(root)]


def _names(root: Path, group: str) -> list[str]:
    return [name for of, name in _defined_in(root) if of == group]


def _defined_in(root: Path) -> list[tuple[str, str]]:
    try:
        text = (root / "uprobe_events").read_text("utf-8", "replace")
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES):
            raise UserError(
                f"tracefs refuses: {error.strerror} (lockdown, or a container). Run this on the host. {INSTEAD}"
            ) from None
        raise
    return _DEFINED.findall(text)


def _command(root: Path, line: str) -> None:
    """One definition: each has to be one write, and the file must not be truncated, which would remove everybody's."""
    descriptor = os.open(root / "uprobe_events", os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        os.write(descriptor, line.encode() + b"\n")
    finally:
        os.close(descriptor)


def _namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116


def _begun(pid: int) -> int:
    """When a process began, in ticks since boot; 0 for one that is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[19])
