"""One MyISAM table, or one partition of it, on disk: a daemon keeps one of these for each of a hundred thousand tables.

So what its header says is kept packed, and read each time that it is asked for: as a tuple of numbers it takes 300 bytes, packed 71 with the
file's times, or 107 where a number needs more than four bytes. What only few files have takes room in these alone, and what all files of a database share is kept once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from myisam_exporter.files.definition_reader import NOT_THERE
from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.frm_definition import TableDefinition
from myisam_exporter.files.myi_definition import Definition
from myisam_exporter.files.myi_header import (
    DATA_BYTES_PLACE,
    ENABLED_KEYS_PLACE,
    INDEX_BYTES_PLACE,
    NARROW,
    NARROW_COUNTS,
    WIDE,
    WIDE_COUNTS,
    Header,
    PackedHeader,
    packed_header,
    unpacked_header,
)

# What is known, the state of the .MYI, when the data file changed; then the header, and behind it the state of the .frm, where there is one.
_TIMES, _STATE, _DEFINITION_STATE = struct.Struct("<Bqd"), struct.Struct("<xq"), struct.Struct("<q")
_MODIFIED, _HEADER_START = struct.Struct("<d"), _TIMES.size
_MODIFIED_START = _HEADER_START - _MODIFIED.size
_IS_MODIFIED_KNOWN, _IS_STATE_KNOWN = 1, 2
# Of many files at once: whether and when the data file changed, and what the header counts.
_OF_NARROW, _OF_WIDE = struct.Struct(f"<B8xd{NARROW_COUNTS}"), struct.Struct(f"<B8xd{WIDE_COUNTS}")
_NARROW_END, _WIDE_END = _OF_NARROW.size, _OF_WIDE.size
_NARROW_WITH_STATE = _NARROW_END + _DEFINITION_STATE.size
_NO_HEADER = bytes(NARROW.size)
_WITHOUT_DEFINITION_STATE = frozenset({_HEADER_START, _NARROW_END, _WIDE_END})
# Of many files at once: a property of each takes three times as long.
_definitions_of_file, _named_of_file = attrgetter("_definitions"), attrgetter("_named")


class Database(NamedTuple):
    """What all files of a database have in common: its name, and the directory that they are in."""

    schema_name: str
    directory: str


class FileCounts(NamedTuple):
    """What the headers of many files count, column by column. Of a file without a header all is 0.

    `row_format` is a place in ROW_FORMATS, `flags` are those of myi_header.py.
    """

    data_modified: Sequence[float | None]
    rows: Sequence[int]
    deleted_rows: Sequence[int]
    data_blocks: Sequence[int]
    index_bytes: Sequence[int]
    data_bytes: Sequence[int]
    free_bytes: Sequence[int]
    auto_increment: Sequence[int]
    enabled_keys: Sequence[int]
    open_count: Sequence[int]
    row_format: Sequence[int]
    flags: Sequence[int]


class _Damaged(NamedTuple):
    """The name of files that something is wrong with: few are, so that what it is takes no room in the others."""

    named: str | NamedFile
    problem: str


class _Definitions:
    """What the two files of a table say of what it is made of: one object for all tables of the same shape, as each would take 16 bytes more."""

    __slots__ = ("__weakref__", "frm", "myi")

    def __init__(self, myi: Definition | None, frm: TableDefinition | None) -> None:
        self.myi: Final = myi
        self.frm: Final = frm


# By the ids of both, which no others can have while an object here keeps them.
_definitions: WeakValueDictionary[tuple[int, int], _Definitions] = WeakValueDictionary()


def _kept_once(myi: Definition | None, frm: TableDefinition | None) -> _Definitions:
    place = id(myi), id(frm)
    found = _definitions.get(place)
    if found is None:
        found = _definitions[place] = _Definitions(myi, frm)
    return found


class TableFile:
    """One table, or one partition of it, on disk. Without a header, `problem` says what is wrong with the file.

    `definition` is what its .frm says, None without one, and of one that cannot be read; it was read in the state `definition_state`.
    `state` is that of the .MYI when it was read, None where it has to be read again whatever that is. Neither state makes two of them differ.
    """

    __slots__ = ("_definitions", "_named", "_packed", "database")

    def __init__(
        self, database: Database, named: NamedFile, header: Header | PackedHeader | None, problem: str | None, data_modified: float | None,
        definition: TableDefinition | None = None, definition_state: int = 0, state: int | None = None,
    ) -> None:  # fmt: skip
        self.database: Final = database
        # Most are named as their table: then the name is all, which takes no object more where no two tables have the same.
        shortest = named.stem if named.partition is None and named.table == named.stem else named
        self._named = shortest if problem is None else _Damaged(shortest, problem)
        if isinstance(header, Header):
            header = packed_header(header)
        self._definitions = _kept_once(header and header.definition, definition)
        known = (data_modified is not None) * _IS_MODIFIED_KNOWN | (state is not None) * _IS_STATE_KNOWN
        packed = _TIMES.pack(known, state or 0, data_modified or 0.0)
        if header is not None:
            packed += header.packed
        self._packed = packed + _DEFINITION_STATE.pack(definition_state) if definition_state else packed

    @property
    def schema_name(self) -> str:
        """The database's name."""
        return self.database.schema_name

    @property
    def directory(self) -> str:
        """The directory that the files are in."""
        return self.database.directory

    @property
    def named(self) -> NamedFile:
        """The files' name, and what it stands for."""
        named = self._named.named if isinstance(self._named, _Damaged) else self._named
        return NamedFile(named, named, None) if isinstance(named, str) else named

    @property
    def table_name(self) -> str:
        """The table's name."""
        named = self._named
        return named if isinstance(named, str) else self.named.table

    @property
    def stem(self) -> str:
        """The files' name without its ending."""
        named = self._named
        return named if isinstance(named, str) else self.named.stem

    @property
    def partition(self) -> str | None:
        """Which partition it is; None of a table that has none."""
        return None if isinstance(self._named, str) else self.named.partition

    @property
    def problem(self) -> str | None:
        """What is wrong with the file."""
        return self._named.problem if isinstance(self._named, _Damaged) else None

    @property
    def has_header(self) -> bool:
        """Whether its header could be read."""
        return self._definitions.myi is not None

    @property
    def myi(self) -> Definition | None:
        """What its header says of its columns and indexes."""
        return self._definitions.myi

    @property
    def definition(self) -> TableDefinition | None:
        """What its .frm says."""
        return self._definitions.frm

    @property
    def header(self) -> Header | None:
        """What its header says."""
        myi = self._definitions.myi
        return None if myi is None else unpacked_header(self._width, self._packed, _HEADER_START, myi)

    @property
    def is_damaged(self) -> bool:
        """Whether the server has marked it so, or nothing can be read of it."""
        header = self.header
        return header is None or header.crashed or header.recovery_failed

    @property
    def packed(self) -> PackedHeader | None:
        """The same as it is kept."""
        myi = self._definitions.myi
        return None if myi is None else PackedHeader(self._packed[_HEADER_START : self._header_end], myi)

    @property
    def _width(self) -> struct.Struct:
        """Of the header: a narrow one with the state of the .frm is shorter than a wide one."""
        return NARROW if len(self._packed) < _WIDE_END else WIDE

    @property
    def _header_end(self) -> int:
        return _HEADER_START + self._width.size if self.has_header else _HEADER_START

    def _numbers(self) -> tuple[int, ...]:
        """Those of the header, of which there is one."""
        return self._width.unpack_from(self._packed, _HEADER_START)

    @property
    def indexes(self) -> tuple[Definition, int] | None:
        """How its indexes are defined, and which of them are kept up to date: one bit each."""
        myi = self._definitions.myi
        return None if myi is None else (myi, self._numbers()[ENABLED_KEYS_PLACE])

    @property
    def file_bytes(self) -> int:
        """Bytes in both files, as its header says; 0 without one."""
        if not self.has_header:
            return 0
        numbers = self._numbers()
        return numbers[INDEX_BYTES_PLACE] + numbers[DATA_BYTES_PLACE]

    @property
    def data_modified(self) -> float | None:
        """When the data file changed last; seconds since 1970."""
        if not self._packed[0] & _IS_MODIFIED_KNOWN:
            return None
        modified: float = _MODIFIED.unpack_from(self._packed, _MODIFIED_START)[0]
        return modified

    @property
    def definition_state(self) -> int:
        """In which state the .frm was read."""
        state = self._packed[self._header_end :]
        return int(_DEFINITION_STATE.unpack(state)[0]) if state else NOT_THERE.state

    @property
    def state(self) -> int | None:
        """In which state the .MYI was read."""
        return int(_STATE.unpack_from(self._packed)[0]) if self._packed[0] & _IS_STATE_KNOWN else None

    @property
    def definition_unread(self) -> bool:
        """Whether there is a .frm that cannot be read, or says nothing that could be right."""
        return self.definition is None and self.definition_state != NOT_THERE.state

    def has_header_of(self, other: TableFile) -> bool:
        """Whether both headers say the same."""
        return self.packed == other.packed

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TableFile):
            return NotImplemented
        return self._told() == other._told()

    def __hash__(self) -> int:
        return hash((self.directory, self.stem))

    def __repr__(self) -> str:
        told = (
            "schema_name",
            "table_name",
            "partition",
            "directory",
            "stem",
            "header",
            "problem",
            "data_modified",
            "definition",
        )
        return f"TableFile({', '.join(f'{name}={getattr(self, name)!r}' for name in told)})"

    def _told(self) -> tuple[object, ...]:
        is_known = self._packed[0] & _IS_MODIFIED_KNOWN
        times_and_header = self._packed[_MODIFIED_START : self._header_end]
        return is_known, times_and_header, self.myi, self._named, self.database, self.definition


def counts_of(files: Sequence[TableFile]) -> FileCounts:
    """What many files say, at least one: all headers are taken apart by one call, which takes a tenth of asking one by one."""
    # Each file's own method would be most of the time.
    packed, width = [file._packed for file in files], _OF_NARROW
    if any(len(one) != _NARROW_END for one in packed):
        packed = [
            one[:_NARROW_END] if len(one) == _NARROW_WITH_STATE else _without_definition_state(file)
            for one, file in zip(packed, files, strict=True)
        ]
        if any(len(one) != _NARROW_END for one in packed):
            packed, width = list(map(_widened, packed)), _OF_WIDE
    known, modified, *counts = zip(*width.iter_unpack(b"".join(packed)), strict=True)
    if not all(map(_IS_MODIFIED_KNOWN.__and__, known)):
        pairs = zip(modified, known, strict=True)
        modified = tuple(moment if flags & _IS_MODIFIED_KNOWN else None for moment, flags in pairs)
    return FileCounts(modified, *counts)


def stems_of(files: Sequence[TableFile]) -> list[str]:
    """The same as `TableFile.stem` of many files."""
    named = list(map(_named_of_file, files))
    if set(map(type, named)) <= {
        str
    }:  # nearly always, and in C: of a database of which one table was written, all are named
        return named
    return [one if isinstance(one, str) else file.stem for one, file in zip(named, files, strict=True)]


def indexes_of_files(files: Sequence[TableFile]) -> Iterator[tuple[Definition | None, int]]:
    """The same as `TableFile.indexes` of many files, at least one; the definition is None of a file without a header."""
    definitions = (definitions.myi for definitions in map(_definitions_of_file, files))
    return zip(definitions, counts_of(files).enabled_keys, strict=True)


def read_definitions_in(files: Sequence[TableFile]) -> tuple[bool, list[TableFile]]:
    """Whether the .frm of any of these files was read, and those of which it is there and says nothing that could be right."""
    any_read = any(definitions.frm is not None for definitions in set(map(_definitions_of_file, files)))
    noted = (file for file in files if len(file._packed) not in _WITHOUT_DEFINITION_STATE)
    return any_read, [file for file in noted if file.definition_unread]


def _without_definition_state(file: TableFile) -> bytes:
    """The times and the header, without a header a narrow one of noughts."""
    return file._packed[: file._header_end] + (b"" if file.has_header else _NO_HEADER)


def _widened(packed: bytes) -> bytes:
    if len(packed) == _WIDE_END:
        return packed
    return packed[:_HEADER_START] + WIDE.pack(*NARROW.unpack_from(packed, _HEADER_START))
