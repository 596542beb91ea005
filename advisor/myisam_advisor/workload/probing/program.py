"""What the kernel does at each statement's begin and end: a program for its own machine, and the records that it writes.

A record is written where it stays (reserve, fill, submit): a program may lose its processor to another thread in the midst of it, so that memory of
a processor's own would mix two texts up. The kernel wants to know a record's size beforehand: there are classes of them.

Sources: kernel/bpf/ringbuf.c; kernel/trace/bpf_trace.c; arch/x86/include/uapi/asm/ptrace.h; include/my_command.h.
"""

from __future__ import annotations

import struct

from myisam_advisor.workload.probing.instructions import Assembler, Compared, Helper, Register
from myisam_advisor.workload.probing.place import PACKETS, Command, Layout, Offsets, Packet
from myisam_exporter.declaring.lean_dataclasses import dataclass

LARGEST_TEXT_BYTES = 1 << 16
SCHEMA_BYTES = 64
BEGIN, END, SUSPENDED = 1, 2, 3
# Where pt_regs has a register.
_REGISTERS = {"ax": 80, "di": 112, "si": 104, "dx": 96, "cx": 88, "r8": 72, "r9": 64}
_CLASSES = (128, 512, 2048, 8192, 32768, LARGEST_TEXT_BYTES)
# time, thread, kind | session, command, length, connection, length of the schema's name, whether something could not be read, how many
# were prepared | schema | text
COMMON = struct.Struct("<QII")
ABOUT = struct.Struct("<QIIIIiI")
_SESSION, _COMMAND, _LENGTH, _CONNECTION, _SCHEMA_LENGTH, _FAILED, _PREPARED = 16, 24, 28, 32, 36, 40, 44
SCHEMA_AT = COMMON.size + ABOUT.size
TEXT_AT = SCHEMA_AT + SCHEMA_BYTES
# Places on the stack: a pair that is read at once, command and length.
_PAIR, _ASKED = -16, -24
# Nobody is woken: the rings are emptied by the clock.
_WITHOUT_WAKEUP = 1
# DISPATCH_COMMAND_WOULDBLOCK of MariaDB's sql/sql_parse.h.
_WOULD_BLOCK = 2
# What could not be noted, by kind: two numbers of 64 bits in the map of counters.
COUNTERS = {BEGIN: 0, END: 8}
COUNTER_BYTES = 16


@dataclass(frozen=True, slots=True)
class Maps:
    """Descriptors of what a program writes into.

    Attributes:
        ring: of records.
        counters: of what could not be noted.
    """

    ring: int
    counters: int


def begin_program(maps: Maps, layout: Layout, offsets: Offsets | None) -> bytes:
    """At the begin of a statement: who sent what."""
    code = Assembler()
    code.copy(Register.KEPT_A, Register.FIRST)
    _arguments(code, layout, offsets)
    _reserve(code, maps)
    _text(code)
    _about(code, offsets)
    _submit(code, BEGIN)
    _end(code, maps, BEGIN)
    return code.assembled()


def end_program(maps: Maps, layout: Layout) -> bytes:
    """At the end of a statement: in which thread; and whether it only waits there, without a thread, to be ended by a further call."""
    code = Assembler()
    code.load(Register.KEPT_A, Register.FIRST, _REGISTERS["ax"], 4)
    _reserve_of(code, maps, COMMON.size)
    code.jump_if(Register.ANSWER, Compared.EQUAL, 0, "lost")
    code.copy(Register.KEPT_D, Register.ANSWER)
    if layout.may_suspend:
        code.jump_if(Register.KEPT_A, Compared.UNEQUAL, _WOULD_BLOCK, "ended")
        _submit(code, SUSPENDED)
        code.label("ended")
    _submit(code, END)
    _end(code, maps, END)
    return code.assembled()


def _arguments(code: Assembler, layout: Layout, offsets: Offsets | None) -> None:
    """The session in A, the length of the text in B, its address in C; what has no text has none."""
    if layout.union:
        _read(code, Register.STACK, _PAIR, 16, (Register.KEPT_A, _REGISTERS[layout.union]))
        code.load(Register.KEPT_C, Register.STACK, _PAIR, 8)
        code.load(Register.KEPT_B, Register.STACK, _PAIR + 8, 4)
    else:
        code.load(Register.KEPT_C, Register.KEPT_A, _REGISTERS[layout.text], 8)
        code.load(Register.KEPT_B, Register.KEPT_A, _REGISTERS[layout.length], 4)
    code.load(Register.FIRST, Register.KEPT_A, _REGISTERS[layout.command], 4)
    code.store(Register.STACK, _ASKED, Register.FIRST, 4)
    code.load(Register.KEPT_A, Register.KEPT_A, _REGISTERS[layout.session], 8)
    for command in sorted(layout.commands):
        code.jump_if(Register.FIRST, Compared.EQUAL, command, "has text")
    code.set(Register.KEPT_B, 0)
    if layout.union and offsets is not None and offsets.packet is not None:
        _packet(code, offsets.packet)
    code.label("has text")
    code.store(Register.STACK, _ASKED + 4, Register.KEPT_B, 4)


def _packet(code: Assembler, packet: Packet) -> None:
    """What the session has read, where the function is given it as parsed; a place that cannot be read gives a length of none."""
    for command in sorted(PACKETS):
        code.jump_if(Register.FIRST, Compared.EQUAL, command, "packet")
    code.jump("has text")
    code.label("packet")
    _fetch(code, _PAIR, 8, Register.KEPT_A, packet.holder)
    code.load(Register.KEPT_C, Register.STACK, _PAIR, 8)
    _fetch(code, _PAIR, 8, Register.KEPT_C, packet.address)
    _fetch(code, _PAIR + 8, 4, Register.KEPT_C, packet.length)
    code.load(Register.KEPT_C, Register.STACK, _PAIR, 8)
    code.load(Register.KEPT_B, Register.STACK, _PAIR + 8, 4)


def _fetch(code: Assembler, at: int, size: int, base: Register, offset: int) -> None:
    """Bytes of the process's memory onto the stack; zero bytes where they cannot be read."""
    code.address(Register.THIRD, base, offset)
    code.address(Register.FIRST, Register.STACK, at)
    code.set(Register.SECOND, size)
    code.call(Helper.READ_USER_MEMORY)


def _read(code: Assembler, into: Register, at: int, size: int, source: tuple[Register, int]) -> None:
    """Bytes of the process's memory, from the address that stands there."""
    code.load(Register.THIRD, *source, 8)
    code.address(Register.FIRST, into, at)
    code.set(Register.SECOND, size)
    code.call(Helper.READ_USER_MEMORY)


def _reserve(code: Assembler, maps: Maps) -> None:
    """The record in D, with room for the text; a text that is too long is not read."""
    for size in _CLASSES:
        code.jump_if(Register.KEPT_B, Compared.GREATER, size, f"more than {size}")
        _reserve_of(code, maps, TEXT_AT + size)
        code.jump("reserved")
        code.label(f"more than {size}")
    code.set(Register.KEPT_B, 0)
    _reserve_of(code, maps, TEXT_AT)
    code.label("reserved")
    code.jump_if(Register.ANSWER, Compared.EQUAL, 0, "lost")
    code.copy(Register.KEPT_D, Register.ANSWER)


def _reserve_of(code: Assembler, maps: Maps, size: int) -> None:
    code.set_map(Register.FIRST, maps.ring)
    code.set(Register.SECOND, size)
    code.set(Register.THIRD, 0)
    code.call(Helper.RESERVE)


def _text(code: Assembler) -> None:
    """The text into the record; whether that failed in B. None of no bytes is read: there is no address then."""
    code.set(Register.ANSWER, 0)
    code.jump_if(Register.KEPT_B, Compared.EQUAL, 0, "no text")
    code.address(Register.FIRST, Register.KEPT_D, TEXT_AT)
    code.copy(Register.SECOND, Register.KEPT_B)
    code.copy(Register.THIRD, Register.KEPT_C)
    code.call(Helper.READ_USER_MEMORY)
    code.label("no text")
    code.copy(Register.KEPT_B, Register.ANSWER)


def _about(code: Assembler, offsets: Offsets | None) -> None:
    """Session, command, length; where its number and its database are known, they too."""
    code.store(Register.KEPT_D, _SESSION, Register.KEPT_A, 8)
    code.load(Register.FIRST, Register.STACK, _ASKED, 4)
    code.store(Register.KEPT_D, _COMMAND, Register.FIRST, 4)
    code.load(Register.FIRST, Register.STACK, _ASKED + 4, 4)
    code.store(Register.KEPT_D, _LENGTH, Register.FIRST, 4)
    code.store_number(Register.KEPT_D, _CONNECTION, 0)
    code.store_number(Register.KEPT_D, _SCHEMA_LENGTH, 0)
    code.store_number(Register.KEPT_D, _PREPARED, 0)
    if offsets is not None:
        _from_session(code, Register.KEPT_D, _CONNECTION, 4, offsets.connection)
        _from_session(code, Register.STACK, _PAIR, 16, offsets.schema)
        _schema(code)
        _counted(code, offsets)
    code.store(Register.KEPT_D, _FAILED, Register.KEPT_B, 4)


def _from_session(code: Assembler, into: Register, at: int, size: int, offset: int) -> None:
    code.address(Register.THIRD, Register.KEPT_A, offset)
    code.address(Register.FIRST, into, at)
    code.set(Register.SECOND, size)
    code.call(Helper.READ_USER_MEMORY)
    code.join(Register.KEPT_B, Register.ANSWER)


def _schema(code: Assembler) -> None:
    code.load(Register.SECOND, Register.STACK, _PAIR + 8, 4)
    code.store(Register.KEPT_D, _SCHEMA_LENGTH, Register.SECOND, 4)
    code.jump_if(Register.SECOND, Compared.EQUAL, 0, "no schema")
    code.jump_if(Register.SECOND, Compared.GREATER, SCHEMA_BYTES, "no schema")
    code.load(Register.THIRD, Register.STACK, _PAIR, 8)
    code.address(Register.FIRST, Register.KEPT_D, SCHEMA_AT)
    code.call(Helper.READ_USER_MEMORY)
    code.join(Register.KEPT_B, Register.ANSWER)
    code.label("no schema")


def _counted(code: Assembler, offsets: Offsets) -> None:
    """How many were prepared, where another one is."""
    if offsets.prepared is None:
        return
    code.load(Register.FIRST, Register.STACK, _ASKED, 4)
    code.jump_if(Register.FIRST, Compared.UNEQUAL, Command.PREPARE, "none prepared")
    _from_session(code, Register.KEPT_D, _PREPARED, 4, offsets.prepared)
    code.label("none prepared")


def _submit(code: Assembler, kind: int) -> None:
    """When, in which thread, of which kind; and the record is the reader's. Fetching the text is not counted as the statement's time."""
    code.call(Helper.TIME)
    code.store(Register.KEPT_D, 0, Register.ANSWER, 8)
    # The upper half is the process, which is known: the kernel calls us in no other one.
    code.call(Helper.THREAD)
    code.store(Register.KEPT_D, 8, Register.ANSWER, 4)
    code.store_number(Register.KEPT_D, 12, kind)
    code.copy(Register.FIRST, Register.KEPT_D)
    code.set(Register.SECOND, _WITHOUT_WAKEUP)
    code.call(Helper.SUBMIT)
    code.jump("out")


def _end(code: Assembler, maps: Maps, kind: int) -> None:
    code.label("lost")
    code.set_map_value(Register.FIRST, maps.counters, COUNTERS[kind])
    code.set(Register.SECOND, 1)
    code.count(Register.FIRST, 0, Register.SECOND)
    code.label("out")
    code.leave()
