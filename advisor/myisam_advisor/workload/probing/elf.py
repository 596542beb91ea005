"""What a server's binary says of itself: where functions that it exports begin in the file, and its build id. The file is not trusted: each table is bounded.

Source: System V ABI, chapters 4 and 5 (ELF-64); elf(5).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from myisam_exporter.declaring.lean_dataclasses import dataclass

X86_64 = 62
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC_SYMBOLS, _NOTE, _LOADED, _FUNCTION, _BUILD_ID = 11, 7, 1, 2, 3
# MySQL 9.7 has 12 MB of names; sections and segments are some 40.
_MAXIMUM_TABLE_BYTES, _MAXIMUM_ENTRIES, _MAXIMUM_NOTE_BYTES = 64 << 20, 4096, 4096


class NoElfError(ValueError):
    """A file is no program of Linux, or a broken one: why."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is exported.

    Attributes:
        name: mangled.
        offset: in the file.
    """

    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Section:
    """A section's kind, place and link."""

    kind: int
    offset: int
    size: int
    link: int


class Elf:
    """An open program. Raises NoElfError."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._bytes = file.seek(0, 2)
        head = _HEADER.unpack(self.read(0, _HEADER.size))
        if head[0][:6] != b"\x7fELF\x02\x01":
            raise NoElfError("it is not an ELF file of 64 bits, little endian")
        self.machine: int = head[2]
        self._segments = list(self._table(_SEGMENT, head[5], head[9], head[10]))
        self.sections = [
            Section(entry[1], entry[4], entry[5], entry[6])
            for entry in self._table(_SECTION, head[6], head[11], head[12])
        ]

    def read(self, offset: int, size: int) -> bytes:
        """Bytes of the file, all of them. Raises NoElfError."""
        if size > _MAXIMUM_TABLE_BYTES or offset + size > self._bytes:
            raise NoElfError("a table of it lies outside of the file, or is too long")
        self._file.seek(offset)
        part = self._file.read(size)
        if len(part) != size:
            raise NoElfError("it is shorter than it was")
        return part

    def functions(self, prefix: str) -> Iterator[Function]:
        """Exported functions whose names begin so. Raises NoElfError."""
        for section in self.sections:
            if section.kind == _DYNAMIC_SYMBOLS:
                yield from self._functions_of(section, prefix.encode("ascii"))

    def build_id(self) -> str:
        """In hexadecimal; empty where it has none."""
        for section in self.sections:
            if section.kind == _NOTE and 16 < section.size <= _MAXIMUM_NOTE_BYTES:
                note = self.read(section.offset, section.size)
                name_bytes, id_bytes, kind = struct.unpack_from("<III", note)
                if kind == _BUILD_ID and name_bytes == 4 and note[12:16] == b"GNU\0" and id_bytes <= 64:
                    return note[16 : 16 + id_bytes].hex()
        return ""

    def _functions_of(self, section: Section, prefix: bytes) -> Iterator[Function]:
        if section.link >= len(self.sections):
            raise NoElfError("its symbols have no names")
        names_at = self.sections[section.link]
        names = self.read(names_at.offset, names_at.size)
        wanted: dict[int, str] = {}
        at = -1
        while (at := names.find(b"\0" + prefix, at + 1)) >= 0 and len(wanted) < _MAXIMUM_ENTRIES:
            end = names.find(b"\0", at + 1)
            wanted[at + 1] = names[at + 1 : end if end > 0 else None].decode("ascii", "replace")
        table = self.read(section.offset, section.size - section.size % _SYMBOL.size)
        for name, info, _, defined_in, address, _ in _SYMBOL.iter_unpack(table):
            if name in wanted and defined_in and info & 0xF == _FUNCTION:
                yield Function(wanted[name], self._offset_of(address))

    def _offset_of(self, address: int) -> int:
        for kind, _, offset, begin, _, size, _, _ in self._segments:
            if kind == _LOADED and begin <= address < begin + size:
                return int(address - begin + offset)
        raise NoElfError("a function of it lies in no part that is loaded")

    def _table(self, entry: struct.Struct, offset: int, size: int, count: int) -> Iterator[tuple[int, ...]]:
        if count > _MAXIMUM_ENTRIES or (count and size != entry.size):
            raise NoElfError("its tables have no known form")
        return entry.iter_unpack(self.read(offset, size * count))
