"""The tables that are asked for: what their files tell. Nothing is asked of the server, and no table is opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from myisam_advisor.catalogue.copy_work import copy_work
from myisam_advisor.migrate.change import TableName
from myisam_advisor.migrate.database_folder import DATA, INDEX, DatabaseFolder, tables_of_any_engine
from myisam_advisor.migrate.foreign_keys import ForeignKey
from myisam_advisor.migrate.killed_alters import KilledAlter, killed_alters
from myisam_advisor.migrate.sizes import Contents
from myisam_advisor.texts.near import did_you_mean
from myisam_advisor.texts.table_names import possible_names
from myisam_advisor.texts.templates import object_name
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files.data_directory import SYSTEM_SCHEMAS, DataDirectoryScan, read_root, scan_data_directory
from myisam_exporter.files.file_names import TEMPORARY_PREFIX, decode_schema, undivided
from myisam_exporter.files.file_state import refuse_exhaustion
from myisam_exporter.files.fulltext_pages import IndexWords, sample_words
from myisam_exporter.files.left_out import NOT_READ
from myisam_exporter.files.merge_members import merges_of_members
from myisam_exporter.files.myi_header import Header
from myisam_exporter.files.structure import FULLTEXT, Structure
from myisam_exporter.files.structure_reader import FoundStructure, read_structures
from myisam_exporter.files.table_file import TableFile

MYISAM, MERGE = "MyISAM", "MRG_MyISAM"
TRIGGERS = ".TRG"
AS_OWNER = ": run as root, or as the server's user"
# MariaDB 11.7 and later keep a VECTOR index in files of this ending, without a definition: they belong to their table, and go with it.
OF_VECTORS = re.compile(r"#i#[0-9]{2}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class FoundTable:
    """One table of MyISAM or MERGE. `idle_seconds` is how long ago it was written.

    `problem` is damage of the rows, `header_problem` of the index file's header. `missing` is the ending of the file that is not there;
    `triggers` lie beside it, which MySQL 8.0 and later keep elsewhere. `referred_by` no file tells: see foreign_look.py. `gone` of `union` are
    members of which no file is there, of no engine. `renamed_away` is the name under which its missing files may lie, where a server was killed in an
    ALTER. `rebuild_files` are what a rebuild left, or works on; `left_rows` of them are the rows of each file that is not there, empty where those of one are not.
    """

    name: TableName
    structure: Structure
    contents: Contents | None
    crashed: bool = False
    problem: str = ""
    idle_seconds: float | None = None
    union: tuple[TableName, ...] = ()
    merged_in: tuple[TableName, ...] = ()
    missing: str = ""
    triggers: bool = False
    header_problem: str = ""
    referred_by: tuple[ForeignKey, ...] = ()
    gone: tuple[TableName, ...] = ()
    renamed_away: str = ""
    rebuild_files: tuple[str, ...] = ()
    left_rows: tuple[str, ...] = ()


@dataclass(slots=True)
class _Asked:
    """What is asked for of one database: all of its tables, some by their names, or both."""

    whole: bool = False
    names: set[str] = field(default_factory=set)

    def has(self, table: str) -> bool:
        """Whether it is asked for."""
        return self.whole or table in self.names


@dataclass(slots=True)
class Found:
    """What was asked for: the tables, and what is said of the rest, by name; `not_found` of it is what there is none of. `killed` are ALTERs that a server was killed in.

    `merges` are the MERGE tables of the whole server.
    """

    tables: list[FoundTable] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    not_found: list[tuple[str, str]] = field(default_factory=list)
    killed: list[KilledAlter] = field(default_factory=list)
    merges: tuple[TableName, ...] = ()

    def none_is(self, name: str, why: str) -> None:
        """There is none of this name."""
        self.left_out.append((name, why))
        self.not_found.append((name, why))


class _Known:
    """What the scan tells of all tables, by their names: asked of each of a hundred thousand."""

    def __init__(self, scan: DataDirectoryScan) -> None:
        self.owner, self.now = scan.owner, scan.now
        self.unread = _unread(scan)
        self.unions = {(merge.schema_name, merge.table_name): merge.tables for merge in scan.merge_tables}
        self.merges = merges_of_members(scan)
        self.rebuild_files: dict[TableName, list[str]] = {}
        for one in scan.rebuild_files:
            if one.file is not None:
                self.rebuild_files.setdefault((one.schema_name, one.table_name), []).append(one.file)
        self._files: dict[str, dict[str, list[TableFile]]] = {}
        for file in scan.files:
            self._files.setdefault(file.schema_name, {}).setdefault(file.table_name, []).append(file)

    def files(self, schema: str, asked: _Asked) -> dict[str, list[TableFile]]:
        """The files of a database that are asked for, by table."""
        return {table: files for table, files in self._files.get(schema, {}).items() if asked.has(table)}


def find_tables(
    directory: Path,
    owner: int | None,
    asked: Sequence[str],
    *,
    folds: bool = False,
    databases: Collection[str] | None = None,
) -> Found:
    """The tables that the words name (all, where there are none), each with what its files tell. Raises OSError.

    `folds`: small letters and capitals are the same to the server (lower_case_table_names). `databases` are the only ones to look into, where MERGE tables of others
    do not matter.
    """
    scan = scan_data_directory(directory, owner, reads_frm=False, databases=databases)
    folders = {
        decode_schema(name): name for name in read_root(directory, scan.owner if scan.owner is not None else -1).schemas
    }
    found = Found(merges=tuple((merge.schema_name, merge.table_name) for merge in scan.merge_tables))
    wanted = _wanted(asked, scan, folders, found, str.lower if folds else str)
    known = _Known(scan)
    for schema in sorted(wanted):
        path = str(directory / folders[schema])
        try:
            structures = read_structures(path, known.owner, wanted[schema].has)
            with DatabaseFolder.opened(path, known.owner) as folder:
                _take_all(structures, schema, wanted[schema], known, folder, found)
        except OSError as error:
            refuse_exhaustion(error)
            found.left_out.append(
                (
                    schema,
                    f"its directory cannot be read ({error.strerror}){AS_OWNER if isinstance(error, PermissionError) else ''}",
                )
            )
    _look_for_members(found, directory, folders, known.owner)
    return found


def _look_for_members(found: Found, directory: Path, folders: Mapping[str, str], owner: int | None) -> None:
    """Which members of the MERGE tables are gone: one that became another engine's has a file yet, and a view can have it."""
    members = {member for table in found.tables for member in table.union}
    present = {
        schema: tables_of_any_engine(str(directory / folders[schema]), owner) if schema in folders else frozenset()
        for schema, _ in members
    }
    gone = {(schema, table) for schema, table in members if (here := present[schema]) is not None and table not in here}
    if gone:
        found.tables = [
            replace(one, gone=tuple(member for member in one.union if member in gone)) for one in found.tables
        ]


def _wanted(
    asked: Sequence[str],
    scan: DataDirectoryScan,
    folders: Collection[str],
    found: Found,
    folded: Callable[[str], str],
) -> dict[str, _Asked]:
    """Which tables of which databases. `folded` is a name as the server compares it."""
    if not asked:
        return {schema: _Asked(whole=True) for schema in folders}
    wanted: dict[str, _Asked] = {}
    schemas = {folded(schema): schema for schema in folders}
    tables = {(file.schema_name, file.table_name) for file in scan.files}
    known = {(folded(schema), folded(table)): (schema, table) for schema, table in tables}
    for text in asked:
        if folded(text) in schemas:
            wanted.setdefault(schemas[folded(text)], _Asked()).whole = True
            continue
        names = possible_names(folded(text))
        name = next((known[one] for one in names if one in known), None)
        name = name or next(((schemas[one[0]], one[1]) for one in names if one[0] in schemas), None)
        if name is None:
            found.none_is(text, _no_such(text, names, folders, tables))
            continue
        wanted.setdefault(name[0], _Asked()).names.add(name[1])
    return wanted


def _no_such(text: str, names: Sequence[TableName], folders: Collection[str], known: Collection[TableName]) -> str:
    if text in SYSTEM_SCHEMAS or any(schema in SYSTEM_SCHEMAS for schema, _ in names):
        return "the server's own tables stay as they are"
    candidates = [*folders, *(object_name(*name) for name in known)]
    return f"there is no such database or table.{did_you_mean(text, candidates)}"


def _take_all(
    structures: Sequence[FoundStructure],
    schema: str,
    asked: _Asked,
    known: _Known,
    folder: DatabaseFolder,
    found: Found,
) -> None:
    """What is told of the tables of one database. Raises OSError."""
    files = known.files(schema, asked)
    killed = killed_alters(schema, folder.files)
    found.killed += killed
    renamed_away = next((one.old for one in killed if not (one.is_backup or one.goes_back)), "")
    seen = set()
    for one in structures:
        seen.add(one.table_name)
        _take(
            one, schema, files.get(one.table_name, []), known, folder, found,
            named=one.table_name in asked.names, renamed_away=renamed_away,
        )  # fmt: skip
    orphans = (files.keys() | {name for name in folder.without_index if asked.has(name)}) - seen
    for table in sorted(name for name in orphans if not OF_VECTORS.search(name)):
        found.left_out.append(
            (
                object_name(schema, table),
                "there is no definition beside its rows (.frm or .sdi): nothing can be predicted",
            )
        )
    for table in sorted(asked.names - seen - orphans):
        near = did_you_mean(table, files)
        found.none_is(
            object_name(schema, table), f"there is no MyISAM table of this name; it may be another engine's.{near}"
        )


def _take(
    one: FoundStructure, schema: str, files: Sequence[TableFile], known: _Known, folder: DatabaseFolder, found: Found, *,
    named: bool, renamed_away: str,
) -> None:  # fmt: skip
    label = object_name(schema, one.table_name)
    if one.structure is None:
        # Views are no tables of anybody's engine: only whoever names one is told.
        if named or not one.is_view:
            found.left_out.append((label, one.problem))
        return
    structure = one.structure
    name = (schema, one.table_name)
    if structure.engine == MERGE:
        found.tables.append(FoundTable(name, structure, None, union=known.unions.get(name, ())))
        return
    if structure.engine != MYISAM:
        if named:
            found.left_out.append((label, f"it is a table of {structure.engine}, not of MyISAM"))
        return
    if not files and one.table_name.startswith(TEMPORARY_PREFIX):
        # What is left of an ALTER in which MySQL 8.0 or later was killed has a definition under that name.
        return
    unread = known.unread.get(f"{schema}.{one.table_name}") or known.unread.get(schema, "")
    if not unread and not files and one.table_name in folder.tables_with_index:
        unread = "it is being written at this moment; look again"
    if unread:
        found.left_out.append((label, f"its index file ({INDEX}) was not looked into: {unread}"))
        return
    merged = tuple(known.merges.get(name, ()))
    missing = folder.missing(structure, one.table_name, files)
    damaged = next((file.problem for file in files if file.problem), "")
    problem = next(filter(None, (folder.cut_off(file, known.now) for file in files)), "")
    headers = [file.header for file in files if file.header is not None]
    contents = None if problem or damaged or missing else _contents(headers, _words(structure, files, known.owner))
    written = max((file.data_modified for file in files if file.data_modified is not None), default=None)
    idle = None if written is None else max(known.now - written, 0.0)
    crashed = any(header.crashed for header in headers)
    index_elsewhere = any(folder.leads_into(f"{file.stem}{INDEX}") for file in files)
    data_directory = next(filter(None, (folder.leads_into(f"{file.stem}{DATA}") for file in files)), "")
    if index_elsewhere or data_directory:
        structure = replace(structure, data_directory=data_directory, index_elsewhere=index_elsewhere)
    triggers = any(folder.has(f"{undivided(file.stem)}{TRIGGERS}") for file in files)
    rebuild_files = tuple(sorted(known.rebuild_files.get(name, ())))
    told = FoundTable(
        name, structure, contents, crashed, problem, idle, (), merged, missing, triggers, damaged,
        renamed_away=renamed_away if missing == INDEX else "", rebuild_files=rebuild_files,
        left_rows=folder.left_rows(files, rebuild_files) if missing == DATA else (),
    )  # fmt: skip
    found.tables.append(told)


def _contents(headers: Sequence[Header], words: tuple[IndexWords, ...]) -> Contents | None:
    """What headers tell, those of partitions together."""
    if not headers:
        return None
    rows, data_bytes, index_bytes, free_bytes = (
        sum(numbers)
        for numbers in zip(
            *((one.rows, one.data_bytes, one.index_bytes, one.free_bytes) for one in headers), strict=True
        )
    )
    never_sorted = any(one.not_analyzed for one in headers)
    return Contents(
        rows, data_bytes, index_bytes, free_bytes, headers[0].row_format, never_sorted, words,
        copy_work(
            headers[0].definition, rows, max(data_bytes - free_bytes, 0), index_bytes, never_sorted=never_sorted, words=words
        ),
    )  # fmt: skip


def _unread(scan: DataDirectoryScan) -> dict[str, str]:
    """Why nothing is known of an index file that is there, by DATABASE.TABLE: that is no damage."""
    return {
        **{one.name: one.why for one in scan.left_out},
        **dict.fromkeys(scan.unreadable, f"{NOT_READ}{AS_OWNER}"),
    }


def _words(structure: Structure, files: Sequence[TableFile], owner: int | None) -> tuple[IndexWords, ...]:
    """What pages of FULLTEXT indexes tell; nothing of a table in partitions."""
    indexes = structure.of_kind(FULLTEXT)
    if not indexes or len(files) != 1:
        return ()
    collations = [structure.columns[index.parts[0].column].collation for index in indexes]
    return sample_words(files[0].directory, files[0].stem, owner, collations)
