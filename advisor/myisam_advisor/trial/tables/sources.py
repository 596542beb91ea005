"""The watched server's tables as files to copy: found, opened once, and counted.

A file counts when it is regular and belongs to the owner of the data directory (ForeignFiles): a link to anybody else's, a device or a
FIFO is refused. What is counted against the limit is what the open files hold, not what a header says; no more than that is ever copied.

A data file may be longer than its header says, and is so while somebody writes; a shorter one is damaged (MyISAM, chk_size in
storage/myisam/mi_check.c: a warning, and an error). The check of the copy tells.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.texts.near import did_you_mean
from myisam_advisor.texts.table_names import possible_names
from myisam_advisor.texts.templates import object_name, size
from myisam_advisor.trial.private.full_disks import told
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName
from myisam_exporter.files.data_directory import SYSTEM_SCHEMAS, scan_data_directory
from myisam_exporter.files.file_names import decode_schema, decode_table
from myisam_exporter.files.myi_header import Header, HeaderError, parse_header, read_header_bytes
from myisam_exporter.files.schema_reader import OTHER_ENGINE_ENDINGS
from myisam_exporter.files.sdi_structure import MAXIMUM_FILE_BYTES, SdiError, parse_sdi
from myisam_exporter.files.table_file import TableFile
from myisam_exporter.outside.foreign_files import ForeignFileError, ForeignFiles
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.sql import quote_table

COMPRESSED = "compressed"
DATA, INDEX = ".MYD", ".MYI"
SERIALISED = ".sdi"
DEFINITIONS = (".frm", SERIALISED)
# What helps where files may not be read.
AS_OWNER = "run as root or as the server's user"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One open file of a table: its name in the database's directory, its descriptor, and its bytes when it was opened."""

    name: str
    descriptor: int
    counted_bytes: int

    def state(self) -> os.stat_result:
        """What the file is now."""
        return os.fstat(self.descriptor)


@dataclass(frozen=True, slots=True)
class Source:
    """One table to be copied. `folder` is its database's directory by name; `limit_bytes` is the most that its files may hold.

    `is_spatial`: it has a SPATIAL index, into which only an extended check looks.
    """

    schema: str
    table: str
    folder: str
    stem: str
    rows: int
    limit_bytes: int
    files: tuple[SourceFile, ...]
    is_spatial: bool = False

    @property
    def label(self) -> str:
        """The name to print."""
        return object_name(self.schema, self.table)

    @property
    def counted_bytes(self) -> int:
        """All bytes to copy, as they were counted."""
        return sum(file.counted_bytes for file in self.files)

    @property
    def data_bytes(self) -> int:
        """Bytes of the rows."""
        return self.file(DATA).counted_bytes

    def file(self, ending: str) -> SourceFile:
        """The file of rows or of the index."""
        return next(file for file in self.files if file.name == f"{self.stem}{ending}")


class _Tables:
    """The tables of a data directory by name, and which of its databases could not be read."""

    def __init__(self, directory: Path, owner: int | None) -> None:
        scan = scan_data_directory(directory, owner, reads_frm=False)
        self.directory, self.unreadable, self.opener = directory, scan.unreadable, ForeignFiles(scan.owner)
        self.files: dict[TableName, list[TableFile]] = {}
        for file in scan.files:
            self.files.setdefault((file.schema_name, file.table_name), []).append(file)


@contextlib.contextmanager
def find_sources(directory: Path, names: Sequence[str], limit_bytes: int, owner: int | None) -> Iterator[list[Source]]:
    """The tables that were named, open for as long as this lasts; `owner` is whose the server's files are, where that is known.

    Raises TrialError for one that does not exist, is no MyISAM table, is crashed, compressed or partitioned, whose files are not the
    server's own, or that exceeds the limit with those before it.
    """
    tables = _Tables(directory, owner)
    split = [table_named(name, tables.files) for name in names]
    with ExitStack() as stack:
        yield _within_limit([_source(tables, name, stack) for name in split], limit_bytes)


@contextlib.contextmanager
def find_named(
    directory: Path, names: Sequence[str], limit_bytes: int, owner: int | None
) -> Iterator[tuple[list[Source], dict[str, str]]]:
    """As `find_copyable`, of tables that somebody named; the reasons by these names.

    Raises TrialError for a name without a database, and where those that can be copied exceed the limit together.
    """
    tables = _Tables(directory, owner)
    split = {table_named(name, tables.files): name for name in names}
    with ExitStack() as stack:
        sources, reasons = _copyable(tables, split, limit_bytes, stack)
        yield sources, {split[table]: reason for table, reason in reasons.items()}


@contextlib.contextmanager
def find_copyable(
    directory: Path,
    names: Iterable[TableName],
    limit_bytes: int,
    owner: int | None = None,
    *,
    packed: bool = False,
    fitting: bool = False,
) -> Iterator[tuple[list[Source], dict[TableName, str]]]:
    """Of these tables the ones that can be copied, open for as long as this lasts, and why the others cannot be.

    `packed` lets compressed tables be among them, of which copies can be read only; `fitting` leaves those out, without a reason, that exceed the limit with
    those before them. Without it TrialError is raised where those that can be copied exceed the limit together.
    """
    with ExitStack() as stack:
        sources, reasons = _copyable(
            _Tables(directory, owner), names, sys.maxsize if fitting else limit_bytes, stack, packed=packed
        )
        yield (_within_limit(_fitting(sources, limit_bytes), limit_bytes) if fitting else sources), reasons


def _fitting(sources: Sequence[Source], limit_bytes: int) -> list[Source]:
    totals = accumulate(source.counted_bytes for source in sources)
    return [source for source, total in zip(sources, totals, strict=True) if total <= limit_bytes]


def _copyable(
    tables: _Tables, names: Iterable[TableName], limit_bytes: int, stack: ExitStack, *, packed: bool = False
) -> tuple[list[Source], dict[TableName, str]]:
    sources, reasons = [], dict[TableName, str]()
    for name in names:
        try:
            sources.append(_source(tables, name, stack, packed=packed))
        except TrialError as error:
            reasons[name] = str(error).rstrip(".")
    return _within_limit(sources, limit_bytes), reasons


def _within_limit(sources: list[Source], limit_bytes: int) -> list[Source]:
    total = sum(source.counted_bytes for source in sources)
    if total > limit_bytes:
        raise over_limit(sources, total, limit_bytes)
    return [replace(one, limit_bytes=limit_bytes - total + one.counted_bytes) for one in sources]


def over_limit(sources: Sequence[Source], total_bytes: int, limit_bytes: int) -> TrialError:
    """What is said of tables that hold more than may be copied."""
    return TrialError(
        f"{', '.join(source.label for source in sources)}: {size(total_bytes)} to copy, and --copy-limit is {size(limit_bytes)}. "
        "Choose smaller tables, or a higher limit."
    )


def table_named(name: str, files: Collection[TableName]) -> TableName:
    """SCHEMA.TABLE, where either may hold dots or be quoted as in SQL. Raises TrialError for a name without a database."""
    splits = possible_names(name)
    if not splits:
        known = [object_name(*one) for one in files]
        same = [one for one in known if one.endswith(f".{name}")]
        is_database = name in {schema for schema, _ in files}
        lacks = "is a database and names no table" if is_database else "names no database"
        raise TrialError(
            f"{name} {lacks}: write --table DATABASE.TABLE.{did_you_mean(same[0] if same else name, known)}"
        )
    return next((split for split in splits if split in files), splits[0])


def _source(tables: _Tables, name: TableName, stack: ExitStack, *, packed: bool = False) -> Source:
    found, label, opener = tables.files.get(name, []), object_name(*name), tables.opener
    if name[0] in tables.unreadable:
        raise TrialError(f"{label}: the files of this database cannot be read by this user: {AS_OWNER}.")
    if name[0] in SYSTEM_SCHEMAS:
        raise TrialError(f"{label} is one of the server's own tables: a trial copies only yours.")
    if not found:
        raise TrialError(f"{label}: {_why_not(tables.directory, name, tables.files)}")
    if len(found) > 1 or found[0].partition is not None:
        raise TrialError(f"{label} is partitioned: a trial copies tables without partitions.")
    folder, stem = Path(found[0].directory), found[0].stem
    file_names = _file_names(label, folder, stem, name[1], opener)
    opened = tuple(_opened(label, folder, file, opener, stack) for file in file_names)
    source = Source(*name, folder.name, stem, 0, 0, opened)
    header = header_of(label, source.file(INDEX).descriptor)
    if header.crashed:
        raise TrialError(f"{label} is marked crashed: repair it first (REPAIR TABLE {quote_table(*name)};).")
    if header.row_format == COMPRESSED and not packed:
        raise TrialError(f"{label} is compressed and takes no rows, and a trial writes to its copies.")
    is_spatial = any(key.kind == "rtree" for key in header.definition.keys or ())
    return replace(source, rows=header.rows, is_spatial=is_spatial)


def _file_names(label: str, folder: Path, stem: str, table: str, opener: ForeignFiles) -> list[str]:
    """A table's files."""
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise TrialError(f"{label}: {folder} cannot be listed: {error.strerror}.") from None
    definitions = [f"{stem}.frm"] if f"{stem}.frm" in names else []
    return [f"{stem}{DATA}", f"{stem}{INDEX}", *definitions, *_serialised(folder, names, table, opener)]


def _serialised(folder: Path, names: Sequence[str], table: str, opener: ForeignFiles) -> list[str]:
    """The .sdi file that MySQL 8 and later write beside a table: the first sixteen characters of its name and a number, so that what it says in it tells whose it is."""
    likely = [name for name in names if name.endswith(SERIALISED) and table.startswith(_begin_of_name(name) or "\0")]
    own = [name for name in likely if _described_in(folder / name, opener) == table]
    # A copy by hand has another number; that of the server's own grows.
    return sorted(own, key=_number_of)[-1:]


def _begin_of_name(file_name: str) -> str:
    named = decode_table(file_name.removesuffix(SERIALISED).rpartition("_")[0])
    return named[0] if named else ""


def _number_of(file_name: str) -> int:
    return whole_number(file_name.removesuffix(SERIALISED).rpartition("_")[2]) or 0


def _described_in(path: Path, opener: ForeignFiles) -> str:
    """The table that a .sdi file describes; empty where it does not tell."""
    try:
        descriptor = opener.open_named(str(path))
    except OSError:
        return ""
    try:
        return parse_sdi(os.pread(descriptor, MAXIMUM_FILE_BYTES, 0).decode())[1]
    except (SdiError, OSError, UnicodeDecodeError):
        return ""
    finally:
        os.close(descriptor)


def _opened(label: str, folder: Path, name: str, opener: ForeignFiles, stack: ExitStack) -> SourceFile:
    path = folder / name
    try:
        descriptor = opener.open_named(str(path))
    except ForeignFileError as error:
        raise TrialError(
            f"{path} is not copied: {error.strerror}. A trial copies regular files of the data directory's owner."
        ) from None
    except FileNotFoundError:
        raise TrialError(f"{label} vanished, or lacks {name}.") from None
    except OSError as error:
        raise TrialError(f"{path} cannot be read ({error.strerror}): {AS_OWNER}.") from None
    stack.callback(os.close, descriptor)
    return SourceFile(name, descriptor, os.fstat(descriptor).st_size)


def is_packed(source: Source) -> bool:
    """Whether it is compressed, and takes no rows."""
    return header_of(source.label, source.file(INDEX).descriptor).row_format == COMPRESSED


def header_of(label: str, descriptor: int) -> Header:
    """The header of an open .MYI file. Raises TrialError for one that cannot be read."""
    try:
        return parse_header(read_header_bytes(descriptor))
    except HeaderError as error:
        raise TrialError(f"{label}: its header cannot be read ({error}). Repair the table first.") from None
    except OSError as error:
        raise TrialError(f"{label}: its header cannot be read: {told(error)}") from None


def _why_not(directory: Path, name: TableName, known: Iterable[TableName]) -> str:
    """Whether another engine has a table of that name, by its files; else which of the known tables may be meant."""
    endings: set[str] = set()
    for folder in directory.iterdir():
        if decode_schema(folder.name) == name[0] and folder.is_dir():
            endings |= {
                file.suffix for file in folder.iterdir() if (decode_table(file.stem) or ("", None))[0] == name[1]
            }
    if ".ibd" in endings:
        return "it is an InnoDB table: this tool tries out MyISAM tables only."
    if endings & {*OTHER_ENGINE_ENDINGS, *DEFINITIONS}:
        return "it is no MyISAM table: this tool tries out MyISAM tables only."
    near = did_you_mean(object_name(*name), (object_name(*one) for one in known))
    return f"there is no such table in the data directory.{near} `myisam-advisor facts tables` lists them."


def needed_bytes(sources: Sequence[Source]) -> int:
    """Disk space that copies and what is made from them will take: the copy, and one table a variant with files to restore it from."""
    return sum(8 * source.counted_bytes for source in sources)
