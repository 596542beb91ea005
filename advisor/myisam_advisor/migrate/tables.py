"""The tables that are asked for: what their files tell. Nothing is asked of the server, and no table is opened."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from myisam_advisor.migrate.sizes import Contents
from myisam_advisor.texts.near import did_you_mean
from myisam_advisor.texts.table_names import possible_names
from myisam_advisor.texts.templates import object_name
from myisam_exporter.files.data_directory import SYSTEM_SCHEMAS, DataDirectoryScan, read_root, scan_data_directory
from myisam_exporter.files.file_names import decode_schema
from myisam_exporter.files.fulltext_pages import IndexWords, sample_words
from myisam_exporter.files.schema_reader import TableFile
from myisam_exporter.files.structure import FULLTEXT, Structure
from myisam_exporter.files.structure_reader import FoundStructure, named_in, read_structures

TableName = tuple[str, str]
MYISAM, MERGE = "MyISAM", "MRG_MyISAM"
DATA, INDEX = ".MYD", ".MYI"
# A compressed file may lack these at its end (storage/myisam/mi_check.c, chk_size: MEMMAP_EXTRA_MARGIN).
MARGIN_BYTES = 7
# MariaDB 11.7 and later keep a VECTOR index in files of this ending, without a definition: they belong to their table, and go with it.
OF_VECTORS = re.compile(r"#i#[0-9]{2}\Z", re.ASCII)
# A file that was written later than this before the look may be in the middle of a change.
STEADY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class FoundTable:
    """One table of MyISAM or MERGE. `idle_seconds` is how long ago it was written; `index_elsewhere`: it has an INDEX DIRECTORY."""

    name: TableName
    structure: Structure
    contents: Contents | None
    crashed: bool = False
    problem: str = ""
    idle_seconds: float | None = None
    union: tuple[TableName, ...] = ()
    merged_in: tuple[TableName, ...] = ()
    index_elsewhere: bool = False


@dataclass(slots=True)
class Found:
    """What was asked for: the tables, and what is said of the rest, by name; `not_found` of it is what there is none of."""

    tables: list[FoundTable] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    not_found: list[tuple[str, str]] = field(default_factory=list)

    def none_is(self, name: str, why: str) -> None:
        """There is none of this name."""
        self.left_out.append((name, why))
        self.not_found.append((name, why))


def find_tables(directory: Path, owner: int | None, asked: Sequence[str]) -> Found:
    """The tables that the words name (all, where there are none), each with what its files tell. Raises OSError."""
    scan = scan_data_directory(directory, owner, reads_frm=False)
    folders = {
        decode_schema(name): name for name in read_root(directory, scan.owner if scan.owner is not None else -1).schemas
    }
    found = Found()
    wanted = _wanted(asked, scan, folders, found)
    for schema in sorted(wanted):
        _read_schema(directory / folders[schema], schema, wanted[schema], scan, found)
    return found


def _wanted(
    asked: Sequence[str], scan: DataDirectoryScan, folders: Mapping[str, str], found: Found
) -> dict[str, set[str] | None]:
    """Which tables of which databases: None stands for all of a database."""
    if not asked:
        return dict.fromkeys(folders)
    wanted: dict[str, set[str] | None] = {}
    known = {(file.schema_name, file.table_name) for file in scan.files}
    for text in asked:
        names = possible_names(text)
        if text in folders:
            wanted[text] = None
            continue
        name = next((one for one in names if one in known), next((one for one in names if one[0] in folders), None))
        if name is None:
            found.none_is(text, _no_such(text, names, folders, known))
            continue
        tables = wanted.setdefault(name[0], set())
        if tables is not None:
            tables.add(name[1])
    return wanted


def _no_such(text: str, names: Sequence[TableName], folders: Mapping[str, str], known: Collection[TableName]) -> str:
    if text in SYSTEM_SCHEMAS or any(schema in SYSTEM_SCHEMAS for schema, _ in names):
        return "the server's own tables stay as they are"
    candidates = [*folders, *(object_name(*name) for name in known)]
    return f"there is no such database or table.{did_you_mean(text, candidates)}"


def _read_schema(path: Path, schema: str, tables: set[str] | None, scan: DataDirectoryScan, found: Found) -> None:
    try:
        structures = read_structures(str(path), schema, scan.owner, named_in(tables))
    except OSError as error:
        found.left_out.append(
            (schema, f"its directory cannot be read ({error.strerror}): run as root, or as the server's user")
        )
        return
    files: dict[str, list[TableFile]] = {}
    for file in scan.files:
        if file.schema_name == schema and (tables is None or file.table_name in tables):
            files.setdefault(file.table_name, []).append(file)
    seen = set()
    for one in structures:
        seen.add(one.table_name)
        _take(one, schema, files.get(one.table_name, []), scan, found, named=tables is not None)
    for table in sorted(name for name in files.keys() - seen if not OF_VECTORS.search(name)):
        found.left_out.append(
            (
                object_name(schema, table),
                "there is no definition beside its rows (.frm or .sdi): nothing can be predicted",
            )
        )
    for table in sorted((tables or set()) - seen - files.keys()):
        near = did_you_mean(table, files)
        found.none_is(
            object_name(schema, table), f"there is no MyISAM table of this name; it may be another engine's.{near}"
        )


def _take(
    one: FoundStructure, schema: str, files: Sequence[TableFile], scan: DataDirectoryScan, found: Found, *, named: bool
) -> None:
    label = object_name(schema, one.table_name)
    if one.structure is None:
        # Views are no tables of anybody's engine: only whoever names one is told.
        if named or not one.is_view:
            found.left_out.append((label, one.problem))
        return
    structure = one.structure
    name = (schema, one.table_name)
    if structure.engine == MERGE:
        union = next((merge.tables for merge in scan.merge_tables if (merge.schema_name, merge.table_name) == name), ())
        found.tables.append(FoundTable(name, structure, None, union=tuple(union)))
        return
    if structure.engine != MYISAM:
        if named:
            found.left_out.append((label, f"it is a table of {structure.engine}, not of MyISAM"))
        return
    merged = tuple((merge.schema_name, merge.table_name) for merge in scan.merge_tables if name in merge.tables)
    problem = next(
        (file.problem for file in files if file.problem), "" if files else "its index file (.MYI) is not there"
    ) or next(filter(None, (_cut(file, scan.now) for file in files)), "")
    headers = [file.header for file in files if file.header is not None]
    contents = (
        Contents(
            sum(header.rows for header in headers),
            sum(header.data_bytes for header in headers),
            sum(header.index_bytes for header in headers),
            sum(header.free_bytes for header in headers),
            headers[0].row_format,
            any(header.not_analyzed for header in headers),
            _words(structure, files, scan.owner),
        )
        if headers and not problem
        else None
    )
    written = max((file.data_modified for file in files if file.data_modified is not None), default=None)
    idle = None if written is None else max(scan.now - written, 0.0)
    crashed = any(header.crashed for header in headers)
    elsewhere = any(Path(file.directory, f"{file.stem}{INDEX}").is_symlink() for file in files)
    found.tables.append(FoundTable(name, structure, contents, crashed, problem, idle, (), merged, elsewhere))


def _words(structure: Structure, files: Sequence[TableFile], owner: int | None) -> tuple[IndexWords, ...]:
    """What pages of FULLTEXT indexes tell; nothing of a table in partitions."""
    indexes = structure.of_kind(FULLTEXT)
    if not indexes or len(files) != 1:
        return ()
    collations = [structure.columns[index.parts[0].column].collation for index in indexes]
    return sample_words(files[0].directory, files[0].stem, owner, collations)


def _cut(file: TableFile, now: float) -> str:
    """What is said of rows that end before their header says; nothing where they may be in the middle of a change."""
    if file.header is None:
        return ""
    try:
        status = Path(file.directory, f"{file.stem}{DATA}").stat()
    except OSError:
        return ""
    missing = file.header.data_bytes - status.st_size
    if missing <= 0 or missing == MARGIN_BYTES or now - status.st_mtime < STEADY_SECONDS:
        return ""
    return (
        f"it is damaged: its rows ({file.stem}{DATA}) are {status.st_size} bytes, and its header tells of {file.header.data_bytes}; by where they end the "
        "error is 1034, 1194 or 1030"
    )
