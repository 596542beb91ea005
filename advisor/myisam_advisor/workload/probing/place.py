"""Where a server's statements go through: `dispatch_command` in its binary, and which register has what there. Found by its exported name, never guessed.

A name as C++ compilers write it has the types of all arguments: which place each has, the ABI says. `push` at the beginning is what the kernel
emulates (1 µs); before another instruction it would stop the thread twice (12 µs), so a probe stands on a `push` or nowhere.

Sources: sql/sql_parse.cc of MySQL 5.5 to 9.x and MariaDB 10.5 to 11.8; include/mysql/com_data.h; System V ABI, AMD64, 3.2.3; arch/x86/kernel/uprobes.c.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path

from myisam_advisor.workload.probing.elf import X86_64, Elf, NoElfError
from myisam_advisor.workload.probing.layers import DELETED, named_below
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.outside.bounded_reading import KERNEL_TEXT_BYTES, first_bytes
from myisam_exporter.server.server_process import SERVER_PROGRAMS, program_of

PREFIX = "_Z16dispatch_command"
_LANDING_PAD = b"\xf3\x0f\x1e\xfa"
# push of a register, without and with the prefix that r8 to r15 have.
_PUSHES = range(0x50, 0x58)
_PREFIXED_PUSH = 0x41
# Of --from: `prove` has that alone.
INSTEAD = "Record with the slow log (leave --from out), or with --from performance-schema where its history is on."


class Command(IntEnum):
    """What a client may ask for, by its number in include/my_command.h: the same in MySQL and MariaDB."""

    QUIT = 1
    QUERY = 3
    CHANGE_USER = 17
    PREPARE = 22
    EXECUTE = 23
    LONG_DATA = 24
    CLOSE = 25
    RESET = 26
    RESET_CONNECTION = 31
    # MariaDB.
    BULK_EXECUTE = 250


# What comes as numbers and values, and not as a text.
PACKETS = frozenset((Command.EXECUTE, Command.LONG_DATA, Command.CLOSE, Command.RESET))
TEXTS = frozenset((Command.QUERY, Command.PREPARE))


@dataclass(frozen=True, slots=True)
class Layout:
    """Which register has what when the function begins.

    Attributes:
        command: the number of the command, 32 bits.
        session: the THD's address.
        text: the text's address; empty where `union` has it.
        length: its length, 32 bits; empty where `union` has it.
        union: the address of a union whose first member is the text's address, the second its length.
        commands: those that have a text, or what was sent, there.
        may_suspend: it may return before a statement has ended, with a value that says so, and is called anew to end it.
    """

    command: str
    session: str
    text: str = ""
    length: str = ""
    union: str = ""
    commands: frozenset[Command] = TEXTS
    may_suspend: bool = False


_PACKET = Layout("di", "si", "dx", "cx", commands=TEXTS | PACKETS)
# MariaDB 10.6 and later, in a pool of threads: who commits lets its thread go until the log is written.
_SUSPENDED = Layout("di", "si", "dx", "cx", commands=TEXTS | PACKETS, may_suspend=True)
_UNION = Layout("dx", "di", union="si")
LAYOUTS = {
    f"{PREFIX}19enum_server_commandP3THDPcj": _PACKET,
    f"{PREFIX}19enum_server_commandP3THDPcjb": _SUSPENDED,
    f"{PREFIX}19enum_server_commandP3THDPcjbb": _PACKET,
    f"{PREFIX}P3THDPK8COM_DATA19enum_server_command": _UNION,
}


@dataclass(frozen=True, slots=True)
class Packet:
    """Where a session has what was sent to it, before anything was parsed.

    Attributes:
        holder: address of an object, in the session.
        address: of what was sent, in that object.
        length: of it, 32 bits, there.
    """

    holder: int
    address: int
    length: int


@dataclass(frozen=True, slots=True)
class Offsets:
    """Where a session has what, from the beginning of its THD: learned from connections of our own (learning.py).

    Attributes:
        connection: its number, 32 bits.
        schema: address of the default database's name; its length stands behind it.
        prepared: how many statements were prepared, 32 bits; None where that was not found.
        packet: of what was sent; None where the registers have it, or it was not found.
    """

    connection: int
    schema: int
    prepared: int | None
    packet: Packet | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a probe goes.

    Attributes:
        binary: the file, by the process that runs it: in a container, and after an upgrade, what that one has.
        offset: in the file.
        layout: what is where, there.
        build_id: of the binary.
    """

    binary: str
    offset: int
    layout: Layout
    build_id: str

    @property
    def is_replaced(self) -> bool:
        """Whether that file has no name any more: an upgrade put another in its place."""
        try:
            return os.readlink(os.fsencode(self.binary)).endswith(DELETED)  # noqa: PTH115 - in bytes, as layers.py has it
        except OSError:
            return False


class _NoFunctionError(NoElfError):
    """A program has none of the functions that a server is probed at: it is no server, or an unknown one."""


def place_of(pid: int, proc: Path = Path("/proc")) -> Place:
    """Where the statements of this process go through. Raises UserError where nobody knows."""
    binary = str(proc / str(pid) / "exe")
    try:
        return _probed(binary)
    except NoElfError as error:
        refused = error
    except OSError as error:
        why = error.strerror or "it is gone"
        raise UserError(f"the server's binary ({binary}) cannot be read: {why}. Run this as root.") from None
    # What a loader that was called by name has loaded.
    for mapped in _mapped(proc / str(pid)):
        try:
            return _probed(mapped)
        except NoElfError as error:
            refused = error
        except OSError:
            continue
    program = program_of(pid, proc)
    if isinstance(refused, _NoFunctionError) and program not in SERVER_PROGRAMS:
        raise UserError(
            f"process {pid} ({program or 'which is gone'}) is not a server: its program has no dispatch_command. Name the server's own socket (--socket), not a proxy's. {INSTEAD}"
        )
    raise UserError(f"the server's binary cannot be probed: {refused}. Record with the slow log: leave --from out.")


def places_of(pid: int) -> list[Place]:
    """`place_of`; and where that program was replaced, the same one in each layer of a container's files. Raises UserError."""
    first = place_of(pid)
    found = [first]
    if first.is_replaced:
        for path in named_below(first.binary, Path("/proc") / str(pid)):
            with contextlib.suppress(NoElfError, OSError):
                below = _probed(path)
                # That it runs is proved by what is seen there.
                if (below.build_id, below.offset) == (first.build_id, first.offset):
                    found.append(below)
    return found


def _probed(binary: str) -> Place:
    with open(binary, "rb") as file:
        return _found(Elf(file), binary)


def _mapped(process: Path) -> Iterator[str]:
    """The programs that a process has in its memory, as the kernel knows them: also where their names are others' by now."""
    with contextlib.suppress(OSError):
        for line in first_bytes(process / "maps", KERNEL_TEXT_BYTES).splitlines():
            words = line.split(None, 5)
            if (
                len(words) == 6
                and b"x" in words[1]
                and words[5].rpartition(b"/")[2].startswith((b"mysqld", b"mariadbd"))
            ):
                yield str(process / "map_files" / words[0].decode("ascii"))


def _found(elf: Elf, binary: str) -> Place:
    build_id = elf.build_id()
    build = f"build id {build_id}" if build_id else "without a build id"
    if elf.machine != X86_64:
        raise NoElfError(f"it is for another processor than x86-64 ({build})")
    functions = list(elf.functions(PREFIX))
    known = [function for function in functions if function.name in LAYOUTS]
    if len(known) != 1:
        names = ", ".join(function.name[:120] for function in functions) or "none"
        raise (NoElfError if functions else _NoFunctionError)(
            f"it is an unknown build ({build}; its functions dispatch_command: {names}). To add it, write that name and where its arguments are "
            "into LAYOUTS of workload/probing/place.py"
        )
    offset = known[0].offset
    begin = elf.read(offset, 8)
    if begin.startswith(_LANDING_PAD):
        offset, begin = offset + len(_LANDING_PAD), begin[len(_LANDING_PAD) :]
    if not (begin[0] in _PUSHES or (begin[0] == _PREFIXED_PUSH and begin[1] in _PUSHES)):
        raise NoElfError(
            f"its dispatch_command begins with {begin[:4].hex()}, no push: a probe there would cost twelve times as much ({build})"
        )
    return Place(binary, offset, LAYOUTS[known[0].name], build_id)
