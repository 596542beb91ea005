"""Names of indexes out of .frm files, look after look: one that did not change is not read again. No table is opened for it.

A table whose .frm cannot be read, or does not fit its .MYI (it may have been altered between the two readings), has no names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from operator import attrgetter

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName
from myisam_exporter.files.definition_reader import DEFINITION
from myisam_exporter.files.file_names import undivided
from myisam_exporter.files.file_state import CLOCK_TICK_NS, refuse_exhaustion, signature
from myisam_exporter.files.frm_definition import FrmError
from myisam_exporter.files.frm_keys import FrmKey, named_as, parse_keys
from myisam_exporter.files.table_file import TableFile
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.outside.foreign_files import ForeignFiles

NANOSECONDS = 1_000_000_000  # of a second
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class NamedIndexes:
    """A table's indexes by name, in the order of its .MYI; `defined` is when it was made, altered or renamed last, in seconds."""

    names: tuple[str, ...]
    defined: float
    is_partitioned: bool


@dataclass(frozen=True, slots=True)
class FoundNames:
    """What .frm files tell. `unread` are tables whose .frm is damaged, or not to be read."""

    tables: Mapping[TableName, NamedIndexes]
    unread: Sequence[TableName]


@dataclass(frozen=True, slots=True)
class _Known:
    """What was read of a .frm in this state; no keys where it is damaged."""

    state: int
    keys: tuple[FrmKey, ...] | None


@dataclass(slots=True)
class _Gathered:
    tables: dict[TableName, NamedIndexes] = field(default_factory=dict)
    unread: list[TableName] = field(default_factory=list)
    known: dict[Place, _Known] = field(default_factory=dict)


class IndexNames:
    """Reads the names of the indexes of those tables that it is asked for, and remembers these alone."""

    def __init__(self, clock: Clock = CLOCK) -> None:
        self.files_read = 0
        self._clock = clock
        self._known: dict[Place, _Known] = {}

    def of(self, tables: Iterable[TableFile], owner: int | None) -> FoundNames:
        """Those of these tables, of which a partitioned one is there once, with whichever partition. Raises OSError where it is we who lack something."""
        files, gathered = ForeignFiles(owner), _Gathered()
        began_ns = int(self._clock.time() * NANOSECONDS)
        for path, of_database in groupby(sorted(tables, key=attrgetter("directory")), attrgetter("directory")):
            together = list(of_database)
            try:
                directory = files.open_directory(path)
            except FileNotFoundError:
                continue  # dropped meanwhile
            except OSError as error:
                refuse_exhaustion(error)
                gathered.unread += [(table.schema_name, table.table_name) for table in together]
                continue
            try:
                for table in together:
                    self._read(files, directory, table, began_ns, gathered)
            finally:
                os.close(directory)
        self._known = gathered.known
        return FoundNames(gathered.tables, tuple(gathered.unread))

    def _read(self, files: ForeignFiles, directory: int, table: TableFile, began_ns: int, gathered: _Gathered) -> None:
        name, place = (table.schema_name, table.table_name), (table.directory, undivided(table.stem))
        try:
            status = files.status(place[1] + DEFINITION, directory)
            known = self._known.get(place)
            if known is None or known.state != signature(status):
                status, known = self._parsed(files, directory, place[1] + DEFINITION)
        except FileNotFoundError:
            return  # dropped meanwhile
        except OSError as error:  # another's, or a disk that fails
            refuse_exhaustion(error)
            gathered.unread.append(name)
            return
        if max(status.st_mtime_ns, status.st_ctime_ns) < began_ns - CLOCK_TICK_NS:
            gathered.known[place] = known
        if known.keys is None:
            gathered.unread.append(name)
            return
        names = named_as(known.keys, (table.header and table.header.definition.keys) or ())
        if names is not None:
            # A backup may set back when it was changed; when its inode was, nobody can.
            defined = max(status.st_mtime, status.st_ctime)
            gathered.tables[name] = NamedIndexes(names, defined, table.partition is not None)

    def _parsed(self, files: ForeignFiles, directory: int, file: str) -> tuple[os.stat_result, _Known]:
        descriptor, status = files.opened(file, directory)
        self.files_read += 1
        keys: tuple[FrmKey, ...] | None = None
        try:
            keys = parse_keys(lambda position, length: os.pread(descriptor, length, position))
        except FrmError:
            pass  # told of as not read
        finally:
            os.close(descriptor)
        return status, _Known(signature(status), keys)
