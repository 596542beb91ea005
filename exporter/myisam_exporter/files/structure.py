"""What a table is made of - columns, indexes, options - as far as another engine asks for it, whichever file told it.

Two files tell: .frm (frm_structure.py) and, of MySQL 8.0 and later, .sdi (sdi_structure.py). Types have the numbers of mysql_com.h,
enum enum_field_types, which both kinds of files are written with.
"""

from __future__ import annotations

from myisam_exporter.declaring.lean_dataclasses import dataclass

# mysql_com.h, enum enum_field_types. MySQL 5.6.4 and later write 17 to 19 for times; 245 is JSON in MySQL, and a computed column in old MariaDB.
DECIMAL, TINY, SHORT, LONG, FLOAT, DOUBLE, TIMESTAMP, LONGLONG, INT24, DATE, TIME, DATETIME, YEAR, NEWDATE = (
    0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14,
)  # fmt: skip
VARCHAR, BIT, TIMESTAMP2, DATETIME2, TIME2, JSON, NEWDECIMAL, ENUM, SET = 15, 16, 17, 18, 19, 245, 246, 247, 248
TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB, VAR_STRING, STRING, GEOMETRY = 249, 250, 251, 252, 253, 254, 255
# MariaDB's UUID, INET6 and INET4, which have a name and no number: so many bytes, whatever their values.
FIXED_BINARY = 256

BLOBS = frozenset({TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB, GEOMETRY, JSON})
VARIABLE = frozenset({VARCHAR, VAR_STRING})
DATES = frozenset({TIMESTAMP, DATE, DATETIME, NEWDATE, TIMESTAMP2, DATETIME2})
BLOB_BYTES = {TINY_BLOB: 255, BLOB: 65_535, MEDIUM_BLOB: (1 << 24) - 1}
LARGEST_BLOB = (1 << 32) - 1

VIRTUAL, STORED = "virtual", "stored"
BTREE, FULLTEXT, SPATIAL, LONG_UNIQUE, VECTOR = "btree", "fulltext", "spatial", "long unique", "vector"


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `maximum_bytes` is what its value takes at most, without length bytes.

    `zero_default` tells of a default of 0000-00-00, `partly_zero_default` of one such as 2010-00-00, `impossible_default` of one such as 2010-02-30,
    `text_default` of a TEXT or BLOB that has one. `generated` is "", VIRTUAL or STORED. `members` are those of an ENUM or SET, in its character set, where
    some collation could take two of them for one, or MySQL before 8.0 misreads them, as `misread_members`, for columns share a list (frm_members.py);
    else (). `float_limit` is the largest value of a FLOAT(M,D) where four bytes make a larger one of it; else 0;
    `limit_default` tells that this one is the default. `short_year` tells of a YEAR(2).
    """

    name: str
    type: int
    maximum_bytes: int
    collation: int
    nullable: bool
    unsigned: bool = False
    auto_increment: bool = False
    zero_default: bool = False
    text_default: bool = False
    generated: str = ""
    partly_zero_default: bool = False
    impossible_default: bool = False
    members: tuple[bytes, ...] = ()
    float_limit: float = 0.0
    limit_default: bool = False
    short_year: bool = False
    misread_members: tuple[bytes, ...] = ()

    @property
    def is_blob(self) -> bool:
        """Whether its values may lie outside of the row: BLOB, TEXT, JSON, GEOMETRY."""
        return self.type in BLOBS


@dataclass(frozen=True, slots=True)
class Part:
    """A column of an index, by its place in the table; `length` in bytes, the whole column's where it is no `prefix`."""

    column: int
    length: int
    prefix: bool
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Index:
    """One index; PRIMARY is the primary key.

    `parser` is the plugin that takes the texts of a FULLTEXT index apart, "" where the server does it itself. `block_bytes` is the size of its pages
    that was asked for, for it or for the table (KEY_BLOCK_SIZE, 0 where none was); `algorithm` the one that was asked for, BTREE or HASH;
    `ignored` tells that no statement uses it (MySQL: INVISIBLE, MariaDB: IGNORED).
    """

    name: str
    unique: bool
    kind: str
    parts: tuple[Part, ...]
    parser: str = ""
    block_bytes: int = 0
    comment: str = ""
    algorithm: str = ""
    ignored: bool = False

    @property
    def primary(self) -> bool:
        """Whether it is the primary key."""
        return self.name == "PRIMARY"


@dataclass(frozen=True, slots=True)
class Structure:
    """One table. `row_format` is the one that was asked for ("" where none was), in capitals, and so are the options' names.

    `options` hold what is not at its default. `engine` is the one that keeps the rows, of a partitioned table its partitions'.
    Of MariaDB's: whether the server keeps the rows' history (`system_versioned`), whether there is a CHECK (`checks`), and what is kept as text
    for whichever engine knows it (`texts`: names in capitals, values as they were written), and whether it is a SEQUENCE, whose one row NEXTVAL writes.
    `connection` tells that a CONNECTION was written for it, which may hold a password, and is not kept.
    `partitioned_by` are the places of the columns that decide in which partition a row lies, where its .frm tells.
    What links beside the definition tell: `data_directory` is its DATA DIRECTORY, "" where it has none, `index_elsewhere` whether it has an INDEX DIRECTORY.
    """

    engine: str
    collation: int
    row_format: str
    options: tuple[tuple[str, int], ...]
    partitioned: bool
    columns: tuple[Column, ...]
    indexes: tuple[Index, ...]
    system_versioned: bool = False
    checks: bool = False
    texts: tuple[tuple[str, str], ...] = ()
    data_directory: str = ""
    index_elsewhere: bool = False
    sequence: bool = False
    connection: bool = False
    partitioned_by: tuple[int, ...] = ()

    @property
    def primary(self) -> Index | None:
        """The primary key."""
        return next((index for index in self.indexes if index.primary), None)

    def option(self, name: str) -> int:
        """An option's value, 0 at its default."""
        return dict(self.options).get(name, 0)

    def of_kind(self, kind: str) -> tuple[Index, ...]:
        """The indexes of one kind."""
        return tuple(index for index in self.indexes if index.kind == kind)
