"""One MyISAM table, or one partition of it, on disk: a daemon keeps one of these for each of a hundred thousand tables.

So what its header says is kept packed, and read each time that it is asked for: as a tuple of numbers it takes 300 bytes, packed 150 with
the file's times.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from myisam_exporter.files.definition_reader import NOT_THERE
from myisam_exporter.files.frm_definition import TableDefinition
from myisam_exporter.files.myi_definition import Definition
from myisam_exporter.files.myi_header import (
    PACKED_COUNTS,
    PACKED_HEADER_BYTES,
    Header,
    PackedHeader,
    packed_enabled_keys,
    packed_file_bytes,
    packed_header,
    unpacked_header,
)

# When the data file changed; and the states of the .frm and of the .MYI, which compare to nobody's.
_MODIFIED, _STATES, _TIMES = struct.Struct("<d"), struct.Struct("<qq"), struct.Struct("<qqd")
TableName = tuple[str, str]
_HEADER_START = _TIMES.size
_IS_MODIFIED_KNOWN, _IS_STATE_KNOWN = 1, 2
# Of many files at once: when the data file changed, and what the header counts.
_COUNTS = struct.Struct(f"<{_STATES.size}xd{PACKED_COUNTS}")
_NO_HEADER = bytes(PACKED_HEADER_BYTES)


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
    open_count: Sequence[int]
    row_format: Sequence[int]
    flags: Sequence[int]


class TableFile:
    """One table, or one partition of it, on disk. Without a header, `problem` says what is wrong with the file.

    `definition` is what its .frm says, None without one, and of one that cannot be read; it was read in the state `definition_state`.
    `state` is that of the .MYI when it was read, None where it has to be read again whatever that is. Neither state makes two of them differ.
    """

    __slots__ = (
        "_known",
        "_myi",
        "_packed",
        "definition",
        "directory",
        "partition",
        "problem",
        "schema_name",
        "stem",
        "table_name",
    )

    def __init__(
        self, schema_name: str, table_name: str, partition: str | None, directory: str, stem: str, header: Header | PackedHeader | None,
        problem: str | None,
        data_modified: float | None, definition: TableDefinition | None = None, definition_state: int = 0, state: int | None = None,
    ) -> None:  # fmt: skip
        self.schema_name: Final = schema_name
        self.table_name: Final = table_name
        self.partition: Final = partition
        self.directory: Final = directory
        self.stem: Final = stem
        self.problem: Final = problem
        self.definition: Final = definition
        if isinstance(header, Header):
            header = packed_header(header)
        self._myi = header and header.definition
        self._known = (data_modified is not None) * _IS_MODIFIED_KNOWN | (state is not None) * _IS_STATE_KNOWN
        times = _TIMES.pack(definition_state, state or 0, data_modified or 0.0)
        self._packed = times if header is None else times + header.packed

    @property
    def has_header(self) -> bool:
        """Whether its header could be read."""
        return self._myi is not None

    @property
    def myi(self) -> Definition | None:
        """What its header says of its columns and indexes."""
        return self._myi

    @property
    def header(self) -> Header | None:
        """What its header says."""
        return None if self._myi is None else unpacked_header(self._packed, _HEADER_START, self._myi)

    @property
    def packed(self) -> PackedHeader | None:
        """The same as it is kept."""
        return None if self._myi is None else PackedHeader(self._packed[_HEADER_START:], self._myi)

    @property
    def indexes(self) -> tuple[Definition, int] | None:
        """How its indexes are defined, and which of them are kept up to date: one bit each."""
        return None if self._myi is None else (self._myi, packed_enabled_keys(self._packed, _HEADER_START))

    @property
    def file_bytes(self) -> int:
        """Bytes in both files, as its header says; 0 without one."""
        return 0 if self._myi is None else packed_file_bytes(self._packed, _HEADER_START)

    @property
    def data_modified(self) -> float | None:
        """When the data file changed last; seconds since 1970."""
        if not self._known & _IS_MODIFIED_KNOWN:
            return None
        modified: float = _MODIFIED.unpack_from(self._packed, _STATES.size)[0]
        return modified

    @property
    def definition_state(self) -> int:
        """In which state the .frm was read."""
        return int(_STATES.unpack_from(self._packed)[0])

    @property
    def state(self) -> int | None:
        """In which state the .MYI was read."""
        return int(_STATES.unpack_from(self._packed)[1]) if self._known & _IS_STATE_KNOWN else None

    @property
    def definition_unread(self) -> bool:
        """Whether there is a .frm that cannot be read, or says nothing that could be right."""
        return self.definition is None and self.definition_state != NOT_THERE.state

    def has_header_of(self, other: TableFile) -> bool:
        """Whether both headers say the same."""
        return self._packed[_HEADER_START:] == other._packed[_HEADER_START:] and self._myi == other._myi

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
        return (
            self._packed[_STATES.size :], self._myi, self.stem, self.directory, self.schema_name, self.table_name, self.partition, self.problem,
            self.definition, self._known & _IS_MODIFIED_KNOWN,
        )  # fmt: skip


def counts_of(files: Sequence[TableFile]) -> FileCounts:
    """What many files say, at least one: all headers are taken apart by one call, which takes a tenth of asking one by one."""
    # Each file's own method would be most of the time.
    packed = b"".join([file._packed if file._myi is not None else file._packed + _NO_HEADER for file in files])
    modified, *counts = zip(*_COUNTS.iter_unpack(packed), strict=True)
    known = [file._known & _IS_MODIFIED_KNOWN for file in files]
    if 0 in known:
        modified = tuple(moment if is_known else None for moment, is_known in zip(modified, known, strict=True))
    return FileCounts(modified, *counts)
