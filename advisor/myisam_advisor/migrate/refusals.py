"""Which errors the server gives for ALTER TABLE ... ENGINE=..., in the order in which it finds them: the first one hides the others.

Sources: sql/sql_table.cc (mysql_prepare_create_table), storage/innobase/handler/ha_innodb.cc (create_table_info_t) of MySQL 5.6, 9.7 and
MariaDB 10.11; each was tried on MySQL 5.6 and 9.7, MariaDB 10.11 and 11.8, and on 2,119 tables of sixteen applications on each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from myisam_advisor.migrate.aria_keys import aria_keys, virtual_keys
from myisam_advisor.migrate.float_limits import refused_counters, refused_floats, refused_limits
from myisam_advisor.migrate.fulltext_parsers import parsers_not_loaded, parsers_refused, parsers_refused_by_aria
from myisam_advisor.migrate.innodb_formats import (
    BLOCK_SIZE,
    NEEDS_BARRACUDA,
    compressed_page_bytes,
    effective_row_format,
    words_of_no_use,
)
from myisam_advisor.migrate.innodb_names import document_index, names_of_no_use, reserved_index, reserved_names
from myisam_advisor.migrate.kept_texts import refused_texts
from myisam_advisor.migrate.key_lengths import (
    LARGEST_KEY_BYTES,
    OLD_PART_BYTES,
    blob_parts,
    cuts_parts,
    key_bytes_allowed,
    key_parts,
    short_parts,
    trees_of,
)
from myisam_advisor.migrate.odd_dates import refused_dates, refused_defaults
from myisam_advisor.migrate.partition_keys import hashes_refused_by_aria, refused_hashes
from myisam_advisor.migrate.places import refused_places
from myisam_advisor.migrate.refusal import WARNING, Check, Refusal, drop_index
from myisam_advisor.migrate.repeated_members import refused_members
from myisam_advisor.migrate.row_size import OLD_FORMATS, counted_trees, full_row_bytes, has_row_identity, limit_bytes
from myisam_advisor.migrate.server_kind import ARIA, INNODB, ServerKind
from myisam_advisor.migrate.table_spaces import as_placed, missing_tablespace, refused_compression, refused_tablespaces
from myisam_advisor.texts.lists import listed
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Index, Structure
from myisam_exporter.server.sql import Sql, quote_identifier, statement

# Before MySQL 5.6 InnoDB "plays safe" with fewer (ha_innobase::create); tried on 5.5.
MAXIMUM_COLUMNS, OLD_MAXIMUM_COLUMNS = 1017, 1000
# Of an engine that is not the enforced one: 1286 in MariaDB 10.5, 1290 in 10.11 and 11.8; those between were not tried.
ENFORCED_BY_OPTION_SINCE = (10, 6)
INT_BYTES = 4
# Of the errors that a server which recovers ends writes with.
AT_THE_FIRST_ROW = frozenset({1030, 1881})


THE_TABLE = quote_identifier("table")


def refusals(structure: Structure, to: str, kind: ServerKind, table: Sql = THE_TABLE) -> tuple[Refusal, ...]:
    """All of them, what comes first before the others; `table` is its name in what mends them."""
    missing = tuple(_missing_engine(to, kind))
    kind = as_placed(structure, kind)
    return missing or tuple(found for check in _checks_of(to, kind) for found in check(structure, kind, table))


def _missing_engine(to: str, kind: ServerKind) -> Iterator[Refusal]:
    if kind.read_only:
        yield Refusal(
            1290,
            "the server is read-only, as replicas are",
            "It is a member of a group: the script says what is done on the primary."
            if kind.group
            else "Run it on the source: replication brings it here.",
            may=True,
        )
    if to.lower() in kind.forbidden_engines:
        mend = "Take it out of disabled_storage_engines and restart."
        yield _of_engine(3161, f"disabled_storage_engines holds {to}", "the table stays as it is", mend, kind)
    elif to in kind.missing_engines:
        aria = ", or choose --to aria" if kind.is_mariadb else ""
        mend = "Choose --to innodb." if to == ARIA else f"Start the server with InnoDB{aria}."
        yield _of_engine(1286, f"{kind.label} runs without the engine {to}", "the table stays as it is", mend, kind)
    elif kind.enforced_engine and kind.enforced_engine.lower() != to.lower():
        other = kind.enforced_engine
        why, otherwise = f"enforce_storage_engine={other} allows no {to}", f"the table becomes one of {other}"
        code = 1290 if kind.version >= ENFORCED_BY_OPTION_SINCE else 1286
        yield _of_engine(code, why, otherwise, f"Set enforce_storage_engine to {to} first.", kind)


def _of_engine(code: int, why: str, otherwise: str, mend: str, kind: ServerKind) -> Refusal:
    """An error under NO_ENGINE_SUBSTITUTION; without it a warning, which nobody sees, and another engine."""
    if not kind.substitutes:
        return Refusal(code, why, mend)
    lacks = "sql_mode lacks NO_ENGINE_SUBSTITUTION: the ALTER ends with a warning"
    return Refusal(WARNING, f"{why}, and {lacks}, and {otherwise}", mend)


def _algorithm(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if kind.refused_algorithm:
        yield Refusal(
            1845,
            f"alter_algorithm={kind.refused_algorithm} allows no ALTER that copies the table",
            "SET SESSION alter_algorithm = COPY;",
        )


def _writes(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if kind.refused_writes and kind.refused_writes not in AT_THE_FIRST_ROW:
        yield from _stopped(kind)


def _rows(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if kind.refused_writes in AT_THE_FIRST_ROW:
        yield from _stopped(kind)


def _stopped(kind: ServerKind) -> Iterator[Refusal]:
    why = "InnoDB was started to write nothing (innodb_read_only, innodb_force_recovery)"
    yield Refusal(kind.refused_writes, why, "Restart the server without that.")


def _spatial(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if structure.of_kind(types.SPATIAL) and not kind.since((5, 7), (10, 2)):
        names = [index.name for index in structure.of_kind(types.SPATIAL)]
        yield Refusal(
            1464, f"InnoDB of {kind.label} has no SPATIAL index: {listed(names)}", drop_index(table, names[0])
        )


def _fulltext(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    if structure.of_kind(types.FULLTEXT) and not kind.since((5, 6), (10, 0)):
        names = [index.name for index in structure.of_kind(types.FULLTEXT)]
        yield Refusal(
            1214, f"InnoDB of {kind.label} has no FULLTEXT index: {listed(names)}", drop_index(table, names[0])
        )


def _whole_keys(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    allowed = key_bytes_allowed(kind)
    for index in structure.of_kind(types.BTREE):
        # Without strict sql_mode a part that is too long by itself is cut first: of BLOB and TEXT by the limit of the whole.
        cut = not index.unique and not kind.refuses_long_parts
        longest = OLD_PART_BYTES if cuts_parts(structure, kind) else LARGEST_KEY_BYTES
        total = sum(
            min(part.length, allowed if structure.columns[part.column].is_blob else longest) if cut else part.length
            for part in index.parts
        )
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
                + f" It counts through the whole table then{_counts_to(column)}. Or number in the application.",
            )


def _counts_to(column: Column) -> str:
    """How far a counter comes that was large enough within a group; of INT and larger ones nothing."""
    if column.maximum_bytes >= INT_BYTES:
        return ""
    bits = 8 * column.maximum_bytes - (not column.unsigned)
    return f", no further than {(1 << bits) - 1:,}: where that is too few, make the column wider first"


def _options(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Formats and page sizes that InnoDB does not have; without innodb_strict_mode they are passed over with a warning."""
    code = 1031 if not kind.is_mariadb and kind.version >= (5, 6) else 1005
    wrong = words_of_no_use(structure, kind)
    reset = statement("ALTER TABLE {} ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;", table)
    if not kind.strict_innodb:
        return
    if kind.read_only_compressed and (structure.row_format == "COMPRESSED" or structure.option(BLOCK_SIZE)):
        yield Refusal(4047, "innodb_read_only_compressed allows no ROW_FORMAT=COMPRESSED and KEY_BLOCK_SIZE", reset)
    elif wrong:
        yield Refusal(
            code,
            f"the table was made with {' '.join(wrong)}, and innodb_strict_mode refuses that",
            reset,
        )


def _columns(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    # MariaDB adds a column for each UNIQUE index that is kept by a hash in InnoDB, too.
    trees = trees_of(structure, kind)
    hashes = sum(index not in trees for index in structure.of_kind(types.LONG_UNIQUE))
    allowed = MAXIMUM_COLUMNS if kind.since((5, 6), (10, 0)) else OLD_MAXIMUM_COLUMNS
    if len(structure.columns) + hashes > allowed:
        code = 1117 if not kind.is_mariadb and kind.version >= (5, 6) else 1005
        hidden = f" and {hashes} hidden for UNIQUE indexes by hash" if hashes else ""
        yield Refusal(
            code,
            f"it has {len(structure.columns)} columns{hidden}, and InnoDB takes {allowed}",
            "Divide the table.",
        )


def _row_size(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    row_format, compressed = effective_row_format(structure, kind), compressed_page_bytes(structure, kind)
    mend = "Make long VARCHAR columns TEXT, or divide the table."
    trees = counted_trees(structure, kind, row_format, compressed, trees_of(structure, kind))
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
    lacks = structure.primary is None and not structure.sequence
    if kind.requires_primary_key and lacks and (not kind.is_mariadb or not has_row_identity(structure)):
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
    if structure.partitioned and kind.keeps_dictionary:
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


def _virtual_words(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    for index in structure.of_kind(types.FULLTEXT):
        names = [structure.columns[part.column] for part in index.parts]
        virtual = [column.name for column in names if column.generated == types.VIRTUAL]
        if virtual:
            yield Refusal(
                1907,
                f"FULLTEXT index {index.name} is over {listed(virtual)}, which is computed when it is read (VIRTUAL): InnoDB has no such index",
                f"Make the column STORED, or {drop_index(table, index.name)}",
            )


def shortened_indexes(structure: Structure, to: str, kind: ServerKind) -> tuple[Index, ...]:
    """Those of which MySQL shortens a prefix with a warning only, where sql_mode is not strict."""
    old = not kind.large_prefix or effective_row_format(structure, kind) in OLD_FORMATS
    if not old or any(not one.may and one.code in (1071, 1709) for one in refusals(structure, to, kind)):
        return ()
    trees = structure.of_kind(types.BTREE)
    return tuple(index for index in trees if any(part.length > OLD_PART_BYTES for part in index.parts))


OF_INDEXES: tuple[Check, ...] = (_spatial, blob_parts, _fulltext, short_parts, _whole_keys)


def _by_index(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """What is looked at index by index, in their order: of two kinds of errors that of the earlier index is first."""

    def first_place(check: Check) -> int:
        alone = (replace(structure, indexes=(index,)) for index in structure.indexes)
        return next((place for place, one in enumerate(alone) if any(check(one, kind, table))), 0)

    refusing = [check for check in OF_INDEXES if any(check(structure, kind, table))]
    for check in sorted(refusing, key=first_place) if len(refusing) > 1 else refusing:
        yield from check(structure, kind, table)


# As the server goes through a table: its indexes and defaults, and then what the engine says.
OF_THE_SERVER: tuple[Check, ...] = (
    refused_members,
    refused_counters,
    _by_index,
    _counter,
    refused_defaults,
    refused_limits,
    _primary_key,
    refused_hashes,
)
OF_MARIADB: tuple[Check, ...] = (
    _writes, _columns, reserved_index, refused_places, _options, document_index, refused_texts, _virtual_words, key_parts, reserved_names, _row_size,
)  # fmt: skip
OF_OLD_MYSQL: tuple[Check, ...] = (
    _writes, _columns, refused_places, _options, document_index, reserved_index, reserved_names, _row_size, parsers_refused, key_parts,
)  # fmt: skip
# MySQL 8.0 and later look at names before they ask the engine (ha_innobase::get_extra_columns_and_keys).
OF_MYSQL: tuple[Check, ...] = (
    document_index, reserved_names, _writes, _columns, reserved_index, refused_tablespaces, refused_places, refused_compression, _options, names_of_no_use, _row_size, key_parts,
)  # fmt: skip
OF_ROWS: tuple[Check, ...] = (refused_dates, refused_floats, _checks)
OF_ARIA: tuple[Check, ...] = (
    _partitions, refused_members, refused_defaults, hashes_refused_by_aria, aria_keys, virtual_keys,
)  # fmt: skip


def _checks_of(to: str, kind: ServerKind) -> tuple[Check, ...]:
    if to != INNODB:
        return (_algorithm, parsers_not_loaded, *OF_ARIA, *OF_ROWS, parsers_refused_by_aria)
    of_engine = OF_MARIADB if kind.is_mariadb else OF_MYSQL if kind.keeps_dictionary else OF_OLD_MYSQL
    return (
        _algorithm,
        parsers_not_loaded,
        missing_tablespace,
        _history,
        _partitions,
        *OF_THE_SERVER,
        *of_engine,
        _rows,
        *OF_ROWS,
    )
