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
from myisam_advisor.remedies.shell_lines import shell_line
from myisam_advisor.remedies.statements.base import Command, Statement, remark
from myisam_advisor.texts.templates import printable
from myisam_exporter.facts.columns import Row

OVERWRITES_BEFORE = 50535  # MySQL 5.5.34 is the last that was seen to
OWN_ENDINGS = {
    ".TMD": ".MYD",
    ".TMM": ".MYI",
}  # a rebuild deletes these before it gives theirs to its own (mysys/my_redel.c)
MAKE_FILES = frozenset({"OPTIMIZE TABLE", "REPAIR TABLE"})
FAILS = "MySQL writes over none, so that this fails (Can't create new tempfile) and leaves the table crashed"
IN_WORDS = f"First move away a file of the table's name with .TMD or .TMM, if one is left of a rebuild that ended with the server: {FAILS}."
ONLY_ROWS = (
    "Never do so while an OPTIMIZE, a REPAIR or myisamchk is at work on the table. A .TMD without its .MYD, and a .TMM without its .MYI, is all there is of it: "
    "give it that name instead."
)
NAMED_FILES = 3  # of a table of many partitions; all are renamed alike
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
            files = _named(found)
            is_left = all(row["written_since_start"] == 0 for row in found)
            lies = f"{files} of a rebuild that ended with the server" if is_left else files
            unless = (
                ""
                if is_left
                else " Unless a rebuild of the table is at work, which removes it at its end, one that ended left it."
            )
            yield f"First move {lies} away: {FAILS}.{unless} {ONLY_ROWS}"

    def moved_before(self, command: Statement) -> Sequence[Command]:
        """What a person does first; nothing where no file lies there, or nobody can say."""
        found = self._beside(command) if self._matter_to(command) else None
        return [self._moved(command, str(row["file_name"])) for row in found or ()]

    def _moved(self, command: Statement, file: str) -> Command:
        directory = self._known.all.single("server").get("data_directory")
        schema = str(command.table[0]) if command.table else ""
        kept = f"{file[:-4]}-{file[-3:]}.BAK"
        by_hand = f"first rename {printable(file)} in the database's directory, while no rebuild of the table is at work, so that it ends in .BAK"
        if not (
            isinstance(directory, str)
            and directory.startswith("/")
            and directory.isprintable()
            and file.isprintable()
            and _PLAIN.fullmatch(schema)
        ):
            return remark(by_hand)
        own = f"{file[:-4]}{OWN_ENDINGS.get(file[-4:], '')}"
        beside, old, new = (str(PurePosixPath(directory, schema, name)) for name in (own, file, kept))
        return shell_line(
            "test -e {} && test ! -e {} && mv {} {}  # while no rebuild of the table is at work",
            beside, new, old, new, meant=by_hand,
        )  # fmt: skip

    def _matter_to(self, command: Statement) -> bool:
        overwrites = self._state.is_mariadb or self._state.is_before(OVERWRITES_BEFORE)
        return command.verb in MAKE_FILES and not overwrites

    def _beside(self, command: Statement) -> Sequence[Row] | None:
        """The files of rebuilds beside the statement's table; None where it is not known whether there are any."""
        if command.table is None or "rebuild_file" in self._known.all.unknown or not row_of(command, self._known):
            return None
        found = self._known.rebuild_files.get(command.table, ())
        return None if any(row["file_name"] is None for row in found) else found


def _named(found: Sequence[Row]) -> str:
    names = sorted(printable(str(row["file_name"])) for row in found)
    more = f" and {len(names) - NAMED_FILES} more" if len(names) > NAMED_FILES else ""
    return ", ".join(names[:NAMED_FILES]) + more
