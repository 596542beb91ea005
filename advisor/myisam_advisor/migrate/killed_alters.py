"""What a server that was killed in the last moment of an ALTER leaves: a table that has lost its name, while its rows are whole.

The old table is renamed away before the copy takes its name, and a kill between leaves neither. Tried with a SIGKILL before each rename and unlink of
an ALTER to InnoDB, on MySQL 5.5, 5.6, 8.0 and 9.7, MariaDB 10.5, 10.11 and 11.8: the last two come to the end of it when they start again
(docs/decisions/037-migrations-from-files.md).

Where the name of the table or of its database has other characters than a to z, digits and _, MySQL 8.0 and 9.7 look for the file that they gave back its
name under another one, until they start once more: a SIGKILL behind the rename of the .ibd file, on both ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.texts.templates import object_name
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql, quote_table, statement

# Of MySQL, and of MariaDB before 10.5, the files of the old table; of MariaDB 10.5 its definition alone. The rest is the process and the connection.
RENAMED_AWAY = re.compile(r"#sql2-(?P<of>[0-9a-f]+-[0-9a-f]+)(?:#[pP]#.*)?\.MY[ID]\Z", re.ASCII | re.DOTALL)
# On the way back the old table is InnoDB's, and its copy is not.
OF_THE_WAY_BACK = re.compile(r"#sql2-(?P<of>[0-9a-f]+-[0-9a-f]+)(?:#[pP]#.*)?\.ibd\Z", re.ASCII | re.DOTALL)
# MySQL 8.0 and later.
ONCE_MORE = "where a name has other characters than a to z, digits and _, the server finds what is whole (errors 1025 and 1812) only when it is started once more."
# Of a table in partitions their files lose their names before the definition does.
BACKUP = re.compile(r"#sql-backup-(?P<of>[0-9a-f]+-[0-9a-f]+)(?:\.frm|#[pP]#.*\.MY[ID])\Z", re.ASCII | re.DOTALL)
OLD_NAME = "#mysql50#"


@dataclass(frozen=True, slots=True)
class KilledAlter:
    """What lies in the database `schema` under the name `old`, and the name of the copy that was to take its place; `goes_back` where it was on the way back."""

    schema: str
    old: str
    copy: str
    goes_back: bool = False

    @property
    def is_backup(self) -> bool:
        """Whether the definition alone has lost its name, and the rows have theirs."""
        return self.old.startswith("#sql-backup-")


def killed_alters(schema: str, files: Iterable[str]) -> list[KilledAlter]:
    """Those that the files of a database tell of."""
    found, names = set(), set(files)
    for file in names:
        if match := RENAMED_AWAY.match(file):
            number = match["of"]
            found.add(KilledAlter(schema, f"#sql2-{number}", _copy_of(number)))
        elif match := OF_THE_WAY_BACK.match(file):
            number = match["of"]
            if not any(name.startswith(_copy_of(number)) and name.endswith(".ibd") for name in names):
                found.add(KilledAlter(schema, f"#sql2-{number}", _copy_of(number), goes_back=True))
        elif match := BACKUP.match(file):
            number = match["of"]
            found.add(KilledAlter(schema, f"#sql-backup-{number}", f"#sql-alter-{number}"))
    return sorted(found, key=lambda one: one.old)


def _copy_of(number: str) -> str:
    return f"#sql-{number.replace('-', '_')}"


def told(one: KilledAlter, here: ServerKind) -> tuple[str, str]:
    """Its name, and how the table gets back its own."""
    way = _by_dictionary(one) if here.keeps_dictionary else _of_backup(one) if one.is_backup else _by_files(one)
    return (
        object_name(one.schema, one.old),
        "a server that was killed at the end of an ALTER left this of a table, and perhaps nothing else. Drop and remove none of it before the table opens "
        f"by its own name, NAME below (in a script: of the last ALTER that ran). {way}",
    )


def _by_dictionary(one: KilledAlter) -> str:
    old, copy, name = (
        quote_table(one.schema, one.old),
        quote_table(one.schema, one.copy),
        quote_table(one.schema, "NAME"),
    )
    if one.goes_back:
        renamed = statement("RENAME TABLE {} TO {};", old, name)
        dropped = statement("DROP TABLE IF EXISTS {};", copy)
        return f"First, {ONCE_MORE} Where NAME opens, {statement('DROP TABLE IF EXISTS {};', old)} Else this gives InnoDB's back: {renamed} {dropped}"
    renamed = statement("RENAME TABLE {} TO {};", copy, name)
    dropped = statement("DROP TABLE IF EXISTS {}, {};", copy, old)
    return (
        f"First, {ONCE_MORE} Where SHOW TABLES has NAME, and NAME does not open (error 1017): {_files_back(one)}, then FLUSH TABLES. "
        "Where SHOW TABLES has it not, its copy is whole: "
        f"{renamed} Once NAME opens: {dropped}"
    )


def _by_files(one: KilledAlter) -> str:
    dropped = (
        f"Once NAME opens: {_dropped(one.schema, one.old)} Where that ends with error 1051, remove what is left of it."
    )
    if one.goes_back:
        return (
            f"Where NAME does not open: rename NAME.frm, where it is there, to {one.old}.frm, and the files whose names begin with {one.copy} so that they begin "
            f"with NAME, then FLUSH TABLES: that is the copy, and whole. {dropped}"
        )
    return (
        f"Where NAME.frm is there, and NAME does not open (error 1017): {_files_back(one)}, then FLUSH TABLES. Where NAME.frm is not there: rename {one.copy}.frm to "
        f"NAME.frm, then FLUSH TABLES; where CHECK TABLE NAME says OK, that is the copy, and whole. Else rename it back, and {_files_back(one)}, then FLUSH TABLES; "
        f"a NAME.ibd that is there is the copy's: rename it to {one.copy}.ibd, and start the server once more (else the next ALTER of NAME ends with error 1025). "
        f"{dropped}"
    )


def _of_backup(one: KilledAlter) -> str:
    name, aside = (quote_table(one.schema, part) for part in ("NAME", "NAME_2"))
    moved = statement("RENAME TABLE {} TO {};", name, aside)
    dropped = statement("DROP TABLE {};", name)
    named = statement("RENAME TABLE {} TO {};", aside, name)
    return (
        f"Where NAME.frm is not there: rename {one.copy}.frm to NAME.frm, then FLUSH TABLES. Where CHECK TABLE NAME says OK then, that is the copy, and whole. "
        f"If SHOW CREATE TABLE NAME says that it is not MyISAM: remove NAME.MYI, NAME.MYD and the files whose names begin with {one.old}. If it is MyISAM, it was on the "
        f"way back, and NAME.MYI and NAME.MYD are its rows: {moved} rename {one.old}.frm to NAME.frm, then FLUSH TABLES; {dropped} {named} "
        f"Where CHECK TABLE NAME does not say OK: rename NAME.frm back, if you renamed it, and {_files_back(one)}, then FLUSH TABLES: that is the table as it was. "
        f"If that is MyISAM, rename NAME.ibd and NAME#P#... .ibd, where they are there, to other names. {_dropped(one.schema, one.copy)}"
    )


def _files_back(one: KilledAlter) -> str:
    return f"rename the files whose names begin with {one.old} so that they begin with NAME"


def _dropped(schema: str, stem: str) -> Sql:
    return statement("DROP TABLE {};", quote_table(schema, f"{OLD_NAME}{stem}"))
