"""What rebuilds left beside a table where their server ended: MySQL's next OPTIMIZE or REPAIR fails by it, and leaves the table crashed.

Tried on eight servers: MariaDB and MySQL 5.5.34 write over such a file, MySQL 5.6, 8.0 and 9.7 do not (O_EXCL: mi_check.c, tmpfile_createflag). Renamed to end in
.BAK, as the server's own copies do (ha_myisam.cc, check_and_repair), it is in nobody's way, and goes with DROP DATABASE.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from myisam_advisor.remedies.effects import row_of
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.statements.base import Remark, Statement, remark
from myisam_advisor.texts.lists import listed
from myisam_advisor.texts.templates import printable
from myisam_exporter.facts.columns import Row

OVERWRITES_BEFORE = 50535  # MySQL 5.5.34 is the last that was seen to
# A rebuild deletes the table's own before it gives their names to these (mysys/my_redel.c).
HOLDS = {".TMD": (".MYD", "its rows"), ".TMM": (".MYI", "its index")}
MAKE_FILES = frozenset({"OPTIMIZE TABLE", "REPAIR TABLE"})
FAILS = "MySQL writes over none, so that this fails (Can't create new tempfile) and leaves the table crashed"
IN_WORDS = f"First move away a file of the table's name with .TMD or .TMM, if one is left of a rebuild that ended with the server: {FAILS}."
WHAT_TO_DO = (
    "If no rebuild of the table is running (SHOW PROCESSLIST), an earlier one left this file: move it out of the directory, or rename it to end in -{}.BAK. "
    "If one is running, leave it: the server removes the file itself. If {} is gone, {} may be in this file alone: do not delete it."
)
NAMED_FILES = 3  # of a table of many partitions
# Other characters stand in names of directories as codes.
_PLAIN = re.compile(r"[0-9A-Za-z_]+")


class RebuildFiles:
    """What lies beside the tables of one server, as far as it matters there."""

    def __init__(self, known: PlanFacts, state: ServerState) -> None:
        self._known = known
        self._state = state

    def costs(self, command: Statement) -> Iterable[str]:
        """What is to be done, or looked at, before a rebuild."""
        if not self._matter_to(command):
            return
        found = self._beside(command)
        if found is None:
            yield IN_WORDS
        elif found:
            is_left = all(row["written_since_start"] == 0 for row in found)
            left = ", left by a rebuild that ended with the server" if is_left else ""
            files, lies = listed(_names(found), NAMED_FILES), "lies" if len(found) == 1 else "lie"
            yield f"Beside the table {lies} {files}{left}: {FAILS}. What to do first stands before the statement."

    def words_before(self, command: Statement) -> Sequence[Remark]:
        """What a person looks at and does first, in words: the server may be writing the file. Nothing where no file lies there, or nobody can say."""
        names = _names((self._beside(command) if self._matter_to(command) else None) or ())
        where = self._directory_of(command)
        said = [remark(f"{name} ({where}): {_what_to_do(name)}") for name in names[:NAMED_FILES]]
        more = len(names) - NAMED_FILES
        return [*said, remark(f"{more} more such files lie there: the same holds for each.")] if more > 0 else said

    def _directory_of(self, command: Statement) -> str:
        directory = self._known.all.single("server").get("data_directory")
        schema = str(command.table[0]) if command.table else ""
        is_path = isinstance(directory, str) and directory.startswith("/") and directory.isprintable()
        if not is_path or not _PLAIN.fullmatch(schema):
            return "in the database's directory"
        return f"in {PurePosixPath(str(directory), schema)}"

    def _matter_to(self, command: Statement) -> bool:
        overwrites = self._state.is_mariadb or self._state.is_before(OVERWRITES_BEFORE)
        return command.verb in MAKE_FILES and not overwrites

    def _beside(self, command: Statement) -> Sequence[Row] | None:
        """The files of rebuilds beside the statement's table; None where it is not known whether there are any."""
        if command.table is None or "rebuild_file" in self._known.all.unknown or not row_of(command, self._known):
            return None
        found = self._known.rebuild_files.get(command.table, ())
        return None if any(row["file_name"] is None for row in found) else found


def _names(found: Iterable[Row]) -> list[str]:
    return sorted(printable(str(row["file_name"])) for row in found)


def _what_to_do(name: str) -> str:
    stem, ending = name[:-4], name[-4:]
    own, held = HOLDS.get(ending, HOLDS[".TMD"])
    return WHAT_TO_DO.format(ending[1:], f"{stem}{own}", held)
