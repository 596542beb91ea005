"""Instructions of the kernel's own machine, put together by hand: what a probe's few steps need, and no more. A compiler would be a dependency of 100 MB.

Sources: Documentation/bpf/standardization/instruction-set.rst; include/uapi/linux/bpf.h.
"""

from __future__ import annotations

import struct
from enum import IntEnum

from myisam_exporter.declaring.lean_dataclasses import dataclass

_INSTRUCTION = struct.Struct("<BBhi")
INSTRUCTION_BYTES = _INSTRUCTION.size
# How an address of a map, and one within its only value, are marked in the 64-bit load.
_MAP, _MAP_VALUE = 1, 2


class Register(IntEnum):
    """What a program works with: an answer, arguments that a call takes away, four that stay, and the stack's end."""

    ANSWER = 0
    FIRST = 1
    SECOND = 2
    THIRD = 3
    KEPT_A = 6
    KEPT_B = 7
    KEPT_C = 8
    KEPT_D = 9
    STACK = 10


class Helper(IntEnum):
    """What the kernel does for a program, by its number in bpf.h."""

    TIME = 5
    THREAD = 14
    READ_USER_MEMORY = 112
    RESERVE = 131
    SUBMIT = 132


class Compared(IntEnum):
    """When a jump is taken."""

    EQUAL = 0x15
    GREATER = 0x25
    UNEQUAL = 0x55


@dataclass(frozen=True, slots=True)
class _Jump:
    at: int
    label: str


class Assembler:
    """A program, instruction by instruction; labels are names, and each jump goes forward, as old kernels want it."""

    def __init__(self) -> None:
        self._code = bytearray()
        self._jumps: list[_Jump] = []
        self._labels: dict[str, int] = {}

    def label(self, name: str) -> None:
        """Jumps to this name come here."""
        if name in self._labels:
            raise ValueError(f"the label {name} is there already")
        self._labels[name] = len(self._code)

    def load(self, into: Register, base: Register, at: int, size: int) -> None:
        """Take 4 or 8 bytes from memory."""
        self._add({4: 0x61, 8: 0x79}[size], into, base, at)

    def store(self, base: Register, at: int, value: Register, size: int) -> None:
        """Put 4 or 8 bytes into memory."""
        self._add({4: 0x63, 8: 0x7B}[size], base, value, at)

    def store_number(self, base: Register, at: int, number: int) -> None:
        """Put a number of 4 bytes into memory."""
        self._add(0x62, base, 0, at, number)

    def count(self, base: Register, at: int, more: Register) -> None:
        """Add to 8 bytes of memory that other processors add to."""
        self._add(0xDB, base, more, at)

    def copy(self, into: Register, value: Register) -> None:
        """Take all 64 bits."""
        self._add(0xBF, into, value)

    def set(self, into: Register, number: int) -> None:
        """Take a number of 31 bits."""
        self._add(0xB7, into, 0, 0, number)

    def set_map(self, into: Register, descriptor: int) -> None:
        """Take the address of a map."""
        self._long(into, _MAP, descriptor, 0)

    def set_map_value(self, into: Register, descriptor: int, at: int) -> None:
        """Take an address within the only value of a map."""
        self._long(into, _MAP_VALUE, descriptor, at)

    def add(self, into: Register, number: int) -> None:
        """Add a number."""
        self._add(0x07, into, 0, 0, number)

    def join(self, into: Register, bits: Register) -> None:
        """Bits that either has."""
        self._add(0x4F, into, bits)

    def address(self, into: Register, base: Register, at: int) -> None:
        """Take the address of what stands there."""
        self.copy(into, base)
        self.add(into, at)

    def call(self, helper: Helper) -> None:
        """Let the kernel do it."""
        self._add(0x85, 0, 0, 0, helper)

    def jump_if(self, value: Register, compared: Compared, number: int, label: str) -> None:
        """Go on there where it is so."""
        self._jumps.append(_Jump(len(self._code), label))
        self._add(compared, value, 0, 0, number)

    def jump(self, label: str) -> None:
        """Go on there."""
        self._jumps.append(_Jump(len(self._code), label))
        self._add(0x05, 0, 0)

    def leave(self) -> None:
        """The program ends with 0: nothing else is to be done with the event."""
        self.set(Register.ANSWER, 0)
        self._add(0x95, 0, 0)

    def assembled(self) -> bytes:
        """The program. Raises ValueError for a jump that goes nowhere, or back."""
        code = bytearray(self._code)
        for jump in self._jumps:
            distance = (self._labels.get(jump.label, -1) - jump.at) // INSTRUCTION_BYTES - 1
            if distance < 0:
                raise ValueError(f"no way forward to {jump.label}")
            struct.pack_into("<h", code, jump.at + 2, distance)
        return bytes(code)

    def _long(self, into: Register, kind: int, low: int, high: int) -> None:
        self._code += struct.pack("<BBhI", 0x18, into | kind << 4, 0, low) + struct.pack("<BBhI", 0, 0, 0, high)

    def _add(self, operation: int, into: int, source: int, at: int = 0, number: int = 0) -> None:
        self._code += _INSTRUCTION.pack(operation, into | source << 4, at, number)
