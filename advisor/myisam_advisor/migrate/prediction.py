"""One migration as it is predicted: its tables, what becomes of each, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import dropwhile
from pathlib import Path

from myisam_advisor.catalogue.conversions import Conversion
from myisam_advisor.migrate.change import Change, Subject, TableName
from myisam_advisor.migrate.database_folder import DATA
from myisam_advisor.migrate.foreign_keys import foreign_changes, foreign_refusals, with_foreign
from myisam_advisor.migrate.innodb_formats import BLOCK_SIZE
from myisam_advisor.migrate.limits import limits
from myisam_advisor.migrate.meaning import changes
from myisam_advisor.migrate.old_names import refused_names
from myisam_advisor.migrate.redo_log import long_rows, rows_beyond_log
from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.refusals import refusals, shortened_indexes
from myisam_advisor.migrate.server_kind import DEFAULT_PAGE_BYTES, INNODB, ServerKind
from myisam_advisor.migrate.sizes import Contents, Range, bytes_after
from myisam_advisor.migrate.tables import MERGE, FoundTable
from myisam_advisor.migrate.times import Lasting, Machine, lasting, own_copy
from myisam_advisor.migrate.unchanged import still_the_same
from myisam_advisor.migrate.widths import PACKED, is_size_told
from myisam_advisor.texts.lists import listed
from myisam_advisor.texts.templates import object_name
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files import structure as types
from myisam_exporter.files.myi_header import NO_HEADER
from myisam_exporter.files.structure import Index, Structure
from myisam_exporter.server.sql import Sql, quote_table, sql_list, statement

# The target refuses partitions of MyISAM; converted before the upgrade, they are none any more.
OF_PARTITIONS = 1178
# KEY_BLOCK_SIZE=0 of a table takes that of its indexes in MySQL 8.0 and 9.7, not in 5.6 (5.7 was not tried), and in no MariaDB.
RESETS_INDEXES_SINCE = ((5, 7), (100, 0))
# Of longer keys MyISAM makes larger pages than were asked for; those that keep an index's size keep that one, and round it up (storage/myisam/mi_create.c).
LONG_KEY_BYTES = 200
MYISAM_KEY_BYTES = 1000  # of one index
REMADE = frozenset({types.BTREE, types.FULLTEXT, types.SPATIAL, types.LONG_UNIQUE})
# Of a .MYI the server says that it is not there, of a .MYD the layer below it does (mysys/errors.c).
NO_INDEX_FILE, NO_DATA_FILE = 1017, 29
# my_base.h, HA_ERR_NOT_A_TABLE and HA_ERR_CRASHED, which the server passes on as they are.
NO_TABLE, DAMAGED_HEADER = 130, 126
WRITES_OVER_NONE_SINCE = (5, 6)  # tried on 5.6, 8.0 and 9.7; 5.5.34 writes over what a rebuild left
MOST_IN_VIEW = 12  # members that a statement is written out for


@dataclass(frozen=True, slots=True)
class Prediction:
    """What becomes of one table. Times and sizes are None where they are not known.

    `errors` are those of a bare ALTER TABLE ... ENGINE=..., `script_errors` of the script's own, which leaves out options of MyISAM's; both on this
    server. `target_errors` are what an ALTER run on the target would end with besides. `remade` are indexes that the way back has to make again.
    `unchanged` is the statement that ends with an error where this is another table by then.
    """

    name: TableName
    structure: Structure
    to: str
    errors: tuple[Refusal, ...]
    changes: tuple[Change, ...]
    contents: Contents | None
    lasting: Lasting | None
    bytes_after: Range | None
    script_errors: tuple[Refusal, ...] = ()
    target_errors: tuple[Refusal, ...] = ()
    remade: tuple[Index, ...] = ()
    # What may stop a copy beside writers.
    has_triggers: bool = False
    target_script_errors: tuple[Refusal, ...] = ()
    unchanged: Sql = statement("")

    @property
    def fails(self) -> bool:
        """Whether the ALTER is refused on this server, whatever rows there are."""
        return bool(self.errors)

    @property
    def seconds(self) -> Range | None:
        """Between which times the ALTER lasts, where both are known."""
        return self.lasting.ends if self.lasting else None


@dataclass(frozen=True, slots=True)
class Migration:
    """All tables that were asked for, in the order in which to convert them, and those of which nothing can be said; of these, the names that are nobody's (`not_found`).

    `foreign_keys_unknown` is why nobody knows which InnoDB tables refer to these, empty where that is known. `killed` is what a server that was killed
    in an ALTER left of tables, and how they get their names back;
    `is_replica` is whether the server is known to take its changes from another, `own_disks` what databases with a file system of their own have free there.
    `merges` are the names of all MERGE tables of the server.
    """

    here: ServerKind
    target: ServerKind | None
    to: str
    predictions: tuple[Prediction, ...]
    order: tuple[TableName, ...]
    left_out: tuple[tuple[str, str], ...]
    key_buffer_bytes: int | None
    cache_bytes: int | None
    disk_free_bytes: int | None
    not_found: tuple[tuple[str, str], ...] = ()
    foreign_keys_unknown: str = ""
    killed: tuple[tuple[str, str], ...] = ()
    is_replica: bool = False
    own_disks: Mapping[str, int | None] = field(default_factory=dict)
    merges: tuple[TableName, ...] = ()
    data_directory: Path | None = None

    def on_target(self, error: Refusal) -> str:
        """What is said of an error that the target would end an ALTER with."""
        label = self.target.label if self.target else "it"
        return f"An ALTER run on {label}, as its settings are by default, would end with {error.label}: {error.why}."

    @property
    def dump_needed(self) -> str:
        """How the target is reached where it is of the other product; empty where it opens the tables as they are."""
        here, target = self.here, self.target
        if target is None or target.flavour == here.flavour:
            return ""
        return (
            f"From {here.label} to {target.label} it goes by dump and load: neither product opens the other's tables as they are. Of {target.label} only "
            "what its engine refuses is told here; whether it takes the syntax of definitions, views and routines is not."
        )


def predict(
    found: Sequence[FoundTable], to: str, here: ServerKind, target: ServerKind | None, machine: Machine
) -> list[Prediction]:
    """What becomes of each table, on this server; and what would be otherwise on the target. Of `left_alone` nothing does."""
    members, moved = _members(found), _moved(found)
    return [
        _one(table, to, here, target, machine, members, moved) for table in found if not _is_left_alone(table, moved)
    ]


def left_alone(found: Sequence[FoundTable]) -> list[tuple[str, str]]:
    """The MERGE tables whose members stay, and why nothing is to be converted of them: the ALTER would succeed, and make another thing of them."""
    moved = _moved(found)
    return [
        (
            object_name(*one.name),
            f"it is a MERGE table that opens no more (error 1168): {_without(one)}. {_instead(one).rstrip(';')}"
            if one.gone
            else "it is a MERGE table and holds no rows: converted, it becomes a copy of its members, which follows them no more. It stays while they stay MyISAM; "
            f"once they are converted, a view takes its place for reading: {_as_view(one).rstrip(';')}",
        )
        for one in found
        if _is_left_alone(one, moved)
    ]


def _is_left_alone(table: FoundTable, moved: set[TableName]) -> bool:
    return table.structure.engine == MERGE and not any(member in moved for member in table.union)


def _moved(found: Sequence[FoundTable]) -> set[TableName]:
    return {one.name for one in found if one.structure.engine != MERGE}


def _one(
    table: FoundTable, to: str, here: ServerKind, target: ServerKind | None, machine: Machine,
    members: Mapping[TableName, list[TableName]], moved: set[TableName],
) -> Prediction:  # fmt: skip
    first = [*refused_names(table.name, here), *_of_state(table, here), *_of_merge(table, moved)]
    name = quote_table(*table.name)
    foreign = foreign_refusals(table.structure, table.referred_by, here) if to == INNODB else []
    of_rows = list(rows_beyond_log(table.structure, table.contents, here)) if to == INNODB else []

    def on_this_server(made: Structure, kind: ServerKind) -> list[Refusal]:
        return [*first, *with_foreign(_certain(made, to, kind, name), foreign, here), *of_rows]

    errors = on_this_server(table.structure, here)
    bare = replace(table.structure, row_format="", options=_without_block_size(table.structure))
    packed = table.contents is not None and table.contents.row_format == PACKED
    subject = Subject(table.name, table.structure, to, here, members.get(table.name, ()), here=here, packed=packed)
    alive = foreign_changes(subject, table.referred_by) if to == INNODB and not foreign else ()
    long = long_rows(table.structure, table.contents, here, name) if to == INNODB and not of_rows else ()
    contents = table.contents if table.contents and is_size_told(table.structure, table.contents.row_format) else None
    own = own_copy(table.name, contents, to, here, machine) if contents else None
    after = _size(table.structure, contents, to, here, own) if contents else None
    lasts = lasting(contents, after, to, here, machine, own) if contents and after else None
    # What the script writes, which resets options, is refused of less.
    there, of_script = (_on_target(table, made, to, target, name, errors) for made in (table.structure, bare))
    return Prediction(
        name=table.name,
        structure=table.structure,
        to=to,
        errors=tuple(errors),
        changes=(*limits(table, to, here, machine, after, lasts), *long, *alive, *_changes(subject, target)),
        contents=table.contents,
        lasting=lasts,
        bytes_after=after,
        script_errors=tuple(on_this_server(bare, replace(here, refused_algorithm=""))),
        target_errors=there,
        remade=_remade(bare, table.structure.option(BLOCK_SIZE), to, here),
        has_triggers=table.triggers,
        target_script_errors=of_script,
        unchanged=still_the_same(table.name, table.structure, here),
    )


def _size(structure: Structure, contents: Contents, to: str, here: ServerKind, own: Conversion | None) -> Range | None:
    """Between which sizes it will be: by what its copy became, where that had pages as large as here, else by how pages are filled."""
    if own is not None and contents.work is not None and (to != INNODB or here.page_bytes == DEFAULT_PAGE_BYTES):
        return own.size_of(contents.work)
    return bytes_after(structure, contents, to, here)


def _certain(structure: Structure, to: str, kind: ServerKind, name: Sql) -> list[Refusal]:
    """What is refused of a table so made, whatever its rows are."""
    return [one for one in refusals(structure, to, kind, name) if not one.may]


def _on_target(
    table: FoundTable, made: Structure, to: str, target: ServerKind | None, name: Sql, errors: Sequence[Refusal]
) -> tuple[Refusal, ...]:
    """The same on the target, with the constraints that refer to the table: a dump, and an upgrade, takes them along. What is refused here for the same reason is told."""
    if target is None:
        return ()
    foreign = foreign_refusals(made, table.referred_by, target) if to == INNODB else []
    reasons, codes = {one.why for one in errors}, {one.code for one in errors} | {OF_PARTITIONS}
    found = with_foreign(_certain(made, to, target, name), foreign, target)
    return tuple(one for one in found if one.why not in reasons and one.code not in codes)


def _changes(subject: Subject, target: ServerKind | None) -> tuple[Change, ...]:
    """Those of this server, where the ALTER runs; then what the target adds."""
    here = changes(subject)
    if target is None:
        return here
    known = {one.id for one in here}
    there = (one for one in changes(replace(subject, kind=target)) if one.id not in known)
    return (*here, *(replace(one, what=f"On {target.label}: {one.what}") for one in there))


def _remade(bare: Structure, block_bytes: int, to: str, here: ServerKind) -> tuple[Index, ...]:
    """The indexes of which the way there takes a part (of prefixes, or the size of pages: `block_bytes` was asked for the table), and those behind them.

    An index that is made again is the last of its kind: made again in their order, all stand as they stood, which MERGE tables ask for.
    """
    short = shortened_indexes(bare, to, here) if to == INNODB else ()

    def is_whole(index: Index) -> bool:
        return index not in short and not _loses_hash(index) and not _loses_block_size(index, block_bytes, to, here)

    return tuple(index for index in dropwhile(is_whole, bare.indexes) if index.kind in REMADE)


def _loses_hash(index: Index) -> bool:
    """One that MariaDB keeps by a hash only as it was asked to: any ALTER that copies makes one over the values of it, and MyISAM can hold that."""
    lengths = [part.length for part in index.parts]
    return index.kind == types.LONG_UNIQUE and all(lengths) and sum(lengths) <= MYISAM_KEY_BYTES


def _loses_block_size(index: Index, block_bytes: int, to: str, here: ServerKind) -> bool:
    if not index.block_bytes or index.kind not in REMADE:
        return False
    if to != INNODB:
        return True
    if here.since(*RESETS_INDEXES_SINCE):
        return index.block_bytes != block_bytes
    return sum(part.length for part in index.parts) > LONG_KEY_BYTES


def _without_block_size(structure: Structure) -> tuple[tuple[str, int], ...]:
    return tuple(option for option in structure.options if option[0] != BLOCK_SIZE)


def _members(found: Sequence[FoundTable]) -> dict[TableName, list[TableName]]:
    merged: dict[TableName, list[TableName]] = {}
    for table in found:
        for member in table.union:
            tables = merged.setdefault(member, [])
            if table.name not in tables:
                tables.append(table.name)
        for one in table.merged_in:
            if one not in merged.setdefault(table.name, []):
                merged[table.name].append(one)
    return merged


def _of_state(table: FoundTable, here: ServerKind) -> list[Refusal]:
    """A damaged table is not copied, nor one of which a file is gone: in the order in which the server finds it. Tried on six of them, 5.6 to 11.8."""
    if table.header_problem:
        code = NO_TABLE if table.header_problem in NO_HEADER else DAMAGED_HEADER
        return [Refusal(code, f"its index file (.MYI) is damaged: {table.header_problem}", _from_definition(table))]
    if table.missing:
        return [_of_missing(table)]
    if table.problem:
        return [Refusal(1034, table.problem, _repair(table, here))]
    if table.crashed and not here.recovers:
        return [Refusal(1194, "it is marked as crashed", _repair(table, here))]
    return []


def _of_missing(table: FoundTable) -> Refusal:
    """The .MYI can be made of the definition and the rows; the rows of nothing."""
    if table.renamed_away:
        old = object_name(table.name[0], table.renamed_away)
        return Refusal(
            NO_INDEX_FILE,
            "its index file (.MYI) is not there",
            f"It may lie under another name, as its rows: see what is said of {old}.",
        )
    if table.missing == DATA:
        return Refusal(NO_DATA_FILE, "its rows (.MYD) are not there", _rows_had_back(table))
    if table.structure.partitioned:
        # REPAIR TABLE ... USE_FRM of a partitioned table is refused: "Can't open table", "Incorrect information in file".
        return Refusal(NO_INDEX_FILE, "the index file (.MYI) of a partition is not there", "Restore it from a backup.")
    return Refusal(NO_INDEX_FILE, "its index file (.MYI) is not there", _from_definition(table))


def _rows_had_back(table: FoundTable) -> str:
    """From what a rebuild left, where it left all that is missing: a partition that has its rows keeps them."""
    if not table.left_rows:
        return "Restore them from a backup."
    repair = statement("REPAIR TABLE {};", quote_table(*table.name))
    each = "it so that it ends" if len(table.left_rows) == 1 else "each so that it ends"
    return f"A rebuild that ended with the server left them in {', '.join(table.left_rows)}: rename {each} in .MYD, then {repair}"


def _repair(table: FoundTable, here: ServerKind) -> str:
    """The statement, with what MySQL fails by: it writes over no file that a rebuild left (remedies/rebuild_files.py)."""
    repair = statement("REPAIR TABLE {};", quote_table(*table.name))
    if not table.rebuild_files or here.is_mariadb or here.version < WRITES_OVER_NONE_SINCE:
        return repair
    return f"Move {listed(table.rebuild_files)} away, unless a rebuild is at work on the table, then {repair}"


def _from_definition(table: FoundTable) -> Sql:
    """What makes the .MYI anew; REPAIR TABLE alone opens it first."""
    return statement("REPAIR TABLE {} USE_FRM;", quote_table(*table.name))


def _of_merge(table: FoundTable, moved: set[TableName]) -> list[Refusal]:
    """A MERGE table cannot be opened any more once a member is of another engine."""
    if table.gone:
        return [Refusal(1168, f"it is a MERGE table that opens no more: {_without(table)}", _instead(table))]
    converted = [member for member in table.union if member in moved]
    if not converted:
        return []
    why = f"it is a MERGE table, and its member {object_name(*converted[0])} is converted in this run: it opens no more"
    return [Refusal(1168, why, f"A view of its members takes its place for reading: {_as_view(table)}")]


def _without(table: FoundTable) -> str:
    plural = "s" if len(table.gone) > 1 else ""
    return f"there is no file of its member{plural} {listed([object_name(*member) for member in table.gone])}"


def _instead(table: FoundTable) -> str:
    """What is left to do with a MERGE table that lost members."""
    if set(table.union) <= set(table.gone):
        return f"None of its members is left: {statement('DROP TABLE {};', quote_table(*table.name))}"
    return f"A view of the members that are left takes its place for reading: {_as_view(table)}"


def _as_view(table: FoundTable) -> str:
    """What takes the place of a MERGE table; dropping it leaves its members as they are. No view can have a member that is gone."""
    name = quote_table(*table.name)
    drop = statement("DROP TABLE {};", name)
    members = [member for member in table.union if member not in table.gone]
    if not 0 < len(members) <= MOST_IN_VIEW:
        return f"{drop} and CREATE VIEW with UNION ALL over its {len(members)} members."
    all_of_them = sql_list((quote_table(*member) for member in members), " UNION ALL SELECT * FROM ")
    return f"{drop} {statement('CREATE VIEW {} AS SELECT * FROM {};', name, all_of_them)}"


def in_order(predictions: Sequence[Prediction], idle: Mapping[TableName, float]) -> tuple[TableName, ...]:
    """Databases of few bytes first, each one's tables together; of one, by size in steps of four times, and of a step the longest unwritten first.

    Which tables one transaction changes no file tells: that they are of one database is all that is known. Those that fail come last, as
    they need work before. `idle` says how many seconds ago each was written; who read it is not known.
    """
    by_schema: dict[str, float] = {}
    for one in predictions:
        size = float(one.contents.total_bytes if one.contents else 0)
        by_schema[one.name[0]] = by_schema.get(one.name[0], 0.0) + size

    def key(one: Prediction) -> tuple[object, ...]:
        size = one.contents.total_bytes if one.contents else 0
        step = size.bit_length() // 2
        return (one.fails, by_schema[one.name[0]], one.name[0], step, -idle.get(one.name, 0.0), size, one.name[1])

    return tuple(one.name for one in sorted(predictions, key=key))


def wanted_cache_bytes(predictions: Sequence[Prediction]) -> Range:
    """What the new engine's cache would take to hold all of them."""
    known = [one.bytes_after for one in predictions if one.bytes_after and not one.script_errors]
    return sum(low for low, _ in known), sum(high for _, high in known)
