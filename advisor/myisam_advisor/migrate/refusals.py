"""Which errors the server gives for ALTER TABLE ... ENGINE=..., in the order in which it finds them: the first one hides the others.

Sources: sql/sql_table.cc (mysql_prepare_create_table), storage/innobase/handler/ha_innodb.cc (create_table_info_t) of MySQL 5.6, 9.7 and
MariaDB 10.11; each was tried on MySQL 5.6 and 9.7, MariaDB 10.11 and 11.8, and on 2,119 tables of sixteen applications on each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from myisam_advisor.migrate.row_size import counted_trees, full_row_bytes, has_row_identity, limit_bytes
from myisam_advisor.migrate.server_kind import ARIA, INNODB, ServerKind
from myisam_exporter.files import structure as types
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.structure import Column, Structure
from myisam_exporter.server.sql import Sql, quote_identifier, sql_list, statement

OLD_PART_BYTES = 767  # of one column in an index, in COMPACT and REDUNDANT rows
# Of one index in pages of each size; MyISAM's own limit is 1,000.
KEY_BYTES = {4096: 768, 8192: 1536}
LARGEST_KEY_BYTES = 3072
MAXIMUM_COLUMNS = 1017
# Of one index in Aria: measured on MariaDB 10.5, and on 10.11 to 11.8.
OLD_ARIA_KEY_BYTES, ARIA_KEY_BYTES, LONGER_ARIA_KEYS_SINCE = 2000, 2300, (10, 6)
RESERVED_COLUMNS = frozenset({"DB_ROW_ID", "DB_TRX_ID", "DB_ROLL_PTR"})
DOCUMENT_COLUMN, RESERVED_INDEX = "FTS_DOC_ID", "GEN_CLUST_INDEX"
# What InnoDB has no rows of; COMPRESSED and DYNAMIC it has only in the newer file format.
NEEDS_BARRACUDA = frozenset({"DYNAMIC", "COMPRESSED"})
FOREIGN_ROW_FORMATS = frozenset({"FIXED", "PAGE"})
PAGE_SIZES_KB = (1, 2, 4, 8, 16)
LARGEST_COMPRESSED_BYTES = 16_384
BLOCK_SIZE = "KEY_BLOCK_SIZE"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One error that there will be, or may be: `may` where that depends on the rows. `code` is the server's number, 0 for a warning."""

    code: int
    why: str
    mend: str
    may: bool = False


Check = Callable[[Structure, ServerKind, Sql], Iterator[Refusal]]
THE_TABLE = quote_identifier("table")


def refusals(structure: Structure, to: str, kind: ServerKind, table: Sql = THE_TABLE) -> tuple[Refusal, ...]:
    """All of them, what comes first before the others; `table` is its name in what mends them."""
    first = (_history,) if to == INNODB else ()
    checks = (*first, *OF_EVERY_ENGINE, *(OF_INNODB if to == INNODB else OF_ARIA))
    missing = tuple(_missing_engine(to, kind))
    return missing or tuple(found for check in checks for found in check(structure, kind, table))


def effective_row_format(structure: Structure, kind: ServerKind) -> str:
    """The format that rows get in InnoDB: the one that the table was made with goes along, unless the ALTER says ROW_FORMAT=DEFAULT."""
    asked = structure.row_format
    if asked in NEEDS_BARRACUDA and not kind.barracuda:
        return "COMPACT"
    if not asked and kind.barracuda and structure.option(BLOCK_SIZE) in page_sizes_kb(kind):
        return "COMPRESSED"
    if asked in ("", "FIXED", "PAGE"):
        return kind.row_format if kind.since((5, 7), (10, 2)) else "COMPACT"
    return asked


def compressed_page_bytes(structure: Structure, kind: ServerKind) -> int:
    """How large the table's compressed pages are; 0 where they are as large as others, or not compressed. Without a KEY_BLOCK_SIZE they are half."""
    if effective_row_format(structure, kind) != "COMPRESSED":
        return 0
    asked = structure.option(BLOCK_SIZE)
    size = asked * 1024 if asked in page_sizes_kb(kind) else kind.page_bytes // 2
    return size if size < kind.page_bytes else 0


def page_sizes_kb(kind: ServerKind) -> tuple[int, ...]:
    """The sizes that compressed pages can have: none where pages are larger than 16 kB."""
    return tuple(size for size in PAGE_SIZES_KB if size * 1024 <= kind.page_bytes <= LARGEST_COMPRESSED_BYTES)


def _missing_engine(to: str, kind: ServerKind) -> Iterator[Refusal]:
    if kind.read_only:
        yield Refusal(1290, "the server is read_only", "Run it on the source: replication brings it here.", may=True)
    if to.lower() in kind.forbidden_engines:
        yield Refusal(
            3161, f"disabled_storage_engines holds {to}", "Take it out of disabled_storage_engines and restart."
        )
    elif to in kind.missing_engines:
        mend = "Choose --to innodb." if to == ARIA else "Start the server with InnoDB, or choose --to aria."
        yield Refusal(1286, f"{kind.label} has no engine {to} here", mend)


def _defaults(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    zero = [column.name for column in structure.columns if column.zero_default and kind.refuses_zero_defaults]
    partly = [
        column.name for column in structure.columns if column.partly_zero_default and kind.refuses_zero_in_defaults
    ]
    for names, what, mode in (
        (zero, "0000-00-00", "NO_ZERO_DATE"),
        (partly, "a date without a month or a day", "NO_ZERO_IN_DATE"),
    ):
        if not names:
            continue
        yield Refusal(
            1067,
            f"the default of {_listed(names)} is {what}, which sql_mode refuses here ({mode})",
            statement(
                "ALTER TABLE {} {};",
                table,
                sql_list(statement("ALTER COLUMN {} DROP DEFAULT", quote_identifier(name)) for name in names),
            )
            + f" Or run the ALTER with an sql_mode without {mode}.",
        )


def date_columns(structure: Structure) -> list[str]:
    """The columns of which a zero may stop the copy."""
    return [
        column.name for column in structure.columns if column.type in types.DATES and column.type != types.TIMESTAMP
    ]


def _zero_dates(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    names = date_columns(structure)
    what = [
        text
        for text, refused in (("0000-00-00", kind.refuses_zero_dates), ("2010-00-00", kind.refuses_zero_in_dates))
        if refused
    ]
    if names and what:
        yield Refusal(
            1292,
            f"a row with {' or '.join(what)} in {_listed(names)} stops the copy: may fail at the first such row",
            "Look for such rows first.",
            may=True,
        )


def _spatial(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if structure.of_kind(types.SPATIAL) and not kind.since((5, 7), (10, 2)):
        names = [index.name for index in structure.of_kind(types.SPATIAL)]
        yield Refusal(
            1464, f"InnoDB of {kind.label} has no SPATIAL index: {_listed(names)}", _drop_index(table, names[0])
        )


def _fulltext(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if structure.of_kind(types.FULLTEXT) and not kind.since((5, 6), (10, 0)):
        names = [index.name for index in structure.of_kind(types.FULLTEXT)]
        yield Refusal(
            1214, f"InnoDB of {kind.label} has no FULLTEXT index: {_listed(names)}", _drop_index(table, names[0])
        )


def _key_parts(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """One column of an index that is longer than its rows' format allows."""
    old_rows = effective_row_format(structure, kind) in ("COMPACT", "REDUNDANT")
    large = kind.large_prefix or kind.since((8, 0), (10, 3))
    if large and not old_rows:
        return
    for index in structure.of_kind(types.BTREE):
        for part in index.parts:
            if part.length <= OLD_PART_BYTES:
                continue
            column = structure.columns[part.column]
            why = f"index {index.name} holds {part.length} bytes of {column.name}, and {OLD_PART_BYTES} are allowed"
            characters = OLD_PART_BYTES // character_set(column.collation)[2]
            mend = f"Index {quote_identifier(column.name)}({characters}), or let rows be DYNAMIC: ROW_FORMAT=DYNAMIC"
            mend += (
                "."
                if kind.barracuda and kind.large_prefix
                else " with innodb_file_format=Barracuda, innodb_large_prefix=ON."
            )
            if large and (kind.is_mariadb or kind.version < (8, 0)):
                yield Refusal(1709, why, mend)
            elif index.unique or kind.strict:
                yield Refusal(1071, why, mend)


def _whole_keys(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    allowed = KEY_BYTES.get(kind.page_bytes, LARGEST_KEY_BYTES)
    for index in structure.of_kind(types.BTREE):
        total = sum(part.length for part in index.parts)
        if total > allowed:
            yield Refusal(
                1071,
                f"index {index.name} has {total} bytes, and {allowed} are allowed in pages of {kind.page_bytes} bytes",
                "Shorten its columns' prefixes.",
            )


def _counter(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    first = {index.parts[0].column for index in structure.indexes if index.parts and index.kind == types.BTREE}
    for place, column in enumerate(structure.columns):
        if column.auto_increment and place not in first:
            name = quote_identifier(column.name)
            yield Refusal(
                1075,
                f"{column.name} counts within an index whose first column is another: no engine but MyISAM and Aria counts so",
                statement("ALTER TABLE {} ADD KEY ({});", table, name)
                + " It counts through the whole table then. Or number in the application.",
            )


def _names(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    for column in structure.columns:
        if column.name.upper() in RESERVED_COLUMNS:
            yield Refusal(1166, f"{column.name} is a name that InnoDB keeps for itself", _rename(column))
        elif column.name.upper() == DOCUMENT_COLUMN and not _is_document_number(column):
            new = structure.of_kind(types.FULLTEXT) and not kind.is_mariadb and kind.version >= (8, 0)
            why = f"{column.name} is the name of InnoDB's own number of a document: it must be BIGINT UNSIGNED NOT NULL"
            yield Refusal(1797 if new else 1166, why, _rename(column))
    if any(index.name.upper() == RESERVED_INDEX for index in structure.indexes):
        yield Refusal(
            1280, f"{RESERVED_INDEX} is a name that InnoDB keeps for itself", _drop_index(table, RESERVED_INDEX)
        )


def _is_document_number(column: Column) -> bool:
    return column.name == DOCUMENT_COLUMN and column.type == types.LONGLONG and column.unsigned and not column.nullable


def _rename(column: Column) -> str:
    return f"Give {quote_identifier(column.name)} another name."


def _options(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Formats and page sizes that InnoDB does not have; without innodb_strict_mode they are passed over with a warning."""
    code = 1005 if kind.is_mariadb else 1031
    block_size = structure.option(BLOCK_SIZE)
    asked, sizes = structure.row_format, page_sizes_kb(kind)
    wrong = []
    no_pages = asked == "COMPRESSED" and not sizes
    if asked in FOREIGN_ROW_FORMATS or no_pages or (asked in NEEDS_BARRACUDA and not kind.barracuda):
        wrong.append(f"ROW_FORMAT={asked}")
    if block_size and (block_size not in sizes or asked not in ("", "COMPRESSED") or not kind.barracuda):
        wrong.append(f"KEY_BLOCK_SIZE={block_size}")
    if wrong and kind.strict_innodb:
        yield Refusal(
            code,
            f"the table was made with {' '.join(wrong)}, and innodb_strict_mode refuses that",
            statement("ALTER TABLE {} ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;", table),
        )


def _columns(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if len(structure.columns) > MAXIMUM_COLUMNS:
        code = 1005 if kind.is_mariadb else 1117
        yield Refusal(
            code, f"it has {len(structure.columns)} columns, and InnoDB takes {MAXIMUM_COLUMNS}", "Divide the table."
        )


def _row_size(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    row_format, compressed = effective_row_format(structure, kind), compressed_page_bytes(structure, kind)
    mend = "Make long VARCHAR columns TEXT, or divide the table."
    trees = counted_trees(structure, kind, row_format, compressed)
    over = next((one for one in trees if one.counted >= one.allowed), None)
    # Before 5.7 the newer formats were held to it whatever innodb_strict_mode (dict0crea.cc: UNIV_FORMAT_B).
    held = kind.strict_innodb or (not kind.since((5, 7), (10, 2)) and row_format in NEEDS_BARRACUDA)
    if over is not None and held:
        of = f"an entry of index {over.index}" if over.index else "a row"
        what = f"a compressed page of {compressed} bytes" if compressed else "a page"
        why = f"{of} can take {over.counted} bytes of {what}, and fewer than {over.allowed} are allowed"
        by_page = "ROW_FORMAT=DYNAMIC, KEY_BLOCK_SIZE=0 needs no compressed pages. Or: "
        yield Refusal(1118, why, f"{by_page if compressed else ''}{mend}")
        return
    full, allowed = full_row_bytes(structure, row_format), limit_bytes(kind, row_format)
    if full >= allowed:
        yield Refusal(
            1118,
            f"a full row takes {full} bytes of a page, and fewer than {allowed} are allowed: may fail at the first full row, at the ALTER or at an INSERT years later",
            mend,
            may=True,
        )


def _primary_key(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if (
        kind.requires_primary_key
        and structure.primary is None
        and (not kind.is_mariadb or not has_row_identity(structure))
    ):
        yield Refusal(
            1173 if kind.is_mariadb else 3750,
            "it has no primary key, and this server requires one",
            _add_primary_key(structure, table),
        )


def _add_primary_key(structure: Structure, table: Sql) -> str:
    """A column that counts; a table has one at most, so an own one becomes the key."""
    counter = next((column.name for column in structure.columns if column.auto_increment), None)
    if counter is not None:
        key = statement("ALTER TABLE {} ADD PRIMARY KEY ({});", table, quote_identifier(counter))
        return f"{key} It fails where a number stands twice."
    taken = {column.name.lower() for column in structure.columns}
    name = next(name for name in ("id", *(f"id{number}" for number in range(2, 5000))) if name not in taken)
    return statement(
        "ALTER TABLE {} ADD {} BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY;", table, quote_identifier(name)
    )


def _partitions(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if structure.partitioned and not kind.is_mariadb and kind.version >= (8, 0):
        yield Refusal(
            1178, f"{kind.label} opens no partitioned MyISAM table", "Convert it under MySQL 5.7, before the upgrade."
        )


def _history(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if structure.system_versioned:
        yield Refusal(
            4120,
            "the server keeps the history of its rows (SYSTEM VERSIONING), and InnoDB keeps it in another way: no ALTER goes from one to the other",
            f"Choose --to aria. Or give the history up: {statement('ALTER TABLE {} DROP SYSTEM VERSIONING;', table)}",
        )


def _checks(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if structure.checks and kind.is_mariadb:
        yield Refusal(
            4025,
            "the ALTER holds every row to the table's CHECK constraints: it stops at one that came in before them, or with check_constraint_checks=OFF",
            "Look for such rows first.",
            may=True,
        )


def _aria_keys(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Aria has no index by the hash of long values: a UNIQUE one of them becomes one over the values, where these are short enough."""
    allowed = ARIA_KEY_BYTES if kind.version >= LONGER_ARIA_KEYS_SINCE else OLD_ARIA_KEY_BYTES
    for index in structure.of_kind(types.LONG_UNIQUE):
        total = sum(part.length for part in index.parts)
        whole = [structure.columns[part.column].name for part in index.parts if not part.length]
        if whole or total > allowed:
            size = f"all of {_listed(whole)}" if whole else f"{total} bytes"
            yield Refusal(
                1071,
                f"UNIQUE index {index.name} is over {size}, and {allowed} bytes are allowed in Aria",
                f"Choose --to innodb, which can do so. Or shorten it to a prefix: {_drop_index(table, index.name)}",
            )


def _virtual_keys(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    for index in structure.indexes:
        names = [structure.columns[part.column].name for part in index.parts]
        virtual = [
            name
            for name, part in zip(names, index.parts, strict=True)
            if structure.columns[part.column].generated == types.VIRTUAL
        ]
        if virtual:
            yield Refusal(
                1904,
                f"index {index.name} is over {_listed(virtual)}, which is computed when it is read (VIRTUAL): Aria has no such index",
                f"Choose --to innodb, make the column STORED, or {_drop_index(table, index.name)}",
            )


OF_EVERY_ENGINE: tuple[Check, ...] = (_partitions, _defaults)
OF_INNODB: tuple[Check, ...] = (
    _spatial, _fulltext, _key_parts, _whole_keys, _counter, _primary_key, _options, _columns, _names, _row_size, _zero_dates, _checks,
)  # fmt: skip
OF_ARIA: tuple[Check, ...] = (_aria_keys, _virtual_keys, _zero_dates, _checks)


def _listed(names: list[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _drop_index(table: Sql, name: str) -> str:
    return statement("ALTER TABLE {} DROP INDEX {};", table, quote_identifier(name))
