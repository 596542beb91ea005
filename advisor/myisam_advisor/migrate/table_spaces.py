"""TABLESPACE and COMPRESSION, which MyISAM of MySQL keeps as words and InnoDB acts upon.

Source: storage/innobase/handler/ha_innodb.cc (create_option_tablespace_is_valid, create_option_compression_is_valid), sql/dd/dd_table.cc of MySQL 8.0.
Tried on MySQL 8.0 and 9.7, each with innodb_strict_mode and innodb_file_per_table on and off. Of MySQL 5.7 nothing is told: its .frm is not read for these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from myisam_advisor.migrate.change import Change, Subject
from myisam_advisor.migrate.innodb_formats import BLOCK_SIZE
from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.files.structure import Structure
from myisam_exporter.server.sql import Sql, statement

TABLESPACE, COMPRESSION = "TABLESPACE", "COMPRESSION"
OWN_FILE, SYSTEM, TEMPORARY = "innodb_file_per_table", "innodb_system", "innodb_temporary"
RESERVED = "innodb_"
NO_TABLESPACE, WRONG_NAME, WRONG_TABLESPACE, WRONG_OPTION, NO_COMPRESSION = 3510, 3119, 1478, 1031, 1112
ALGORITHMS, NONE = frozenset({"zlib", "lz4"}), frozenset({"", "none"})
IN_OWN_FILE = "Or: ALTER TABLE ... TABLESPACE innodb_file_per_table, in the same statement."


def named_tablespace(structure: Structure, kind: ServerKind) -> str:
    """The one that the table was made with, "" where none was named, or nobody acts upon it."""
    return dict(structure.texts).get(TABLESPACE, "") if kind.keeps_dictionary else ""


def as_placed(structure: Structure, kind: ServerKind) -> ServerKind:
    """The server as it is to a table that names its tablespace: one of its own, whatever innodb_file_per_table is."""
    return replace(kind, file_per_table=True) if named_tablespace(structure, kind) == OWN_FILE else kind


def shared_tablespace(structure: Structure, kind: ServerKind) -> str:
    """The one that the table was made with, where other tables lie in it, too."""
    name = named_tablespace(structure, kind)
    return "" if name == OWN_FILE else name


def missing_tablespace(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Looked for before anything else."""
    name = shared_tablespace(structure, kind)
    if not name or name in (SYSTEM, TEMPORARY):
        return
    if name.startswith(RESERVED) or "/" in name:
        yield Refusal(
            WRONG_NAME, f"it was made with TABLESPACE {name}, which is no name of one that takes tables", IN_OWN_FILE
        )
    elif kind.tablespaces is not None and name not in kind.tablespaces:
        yield Refusal(
            NO_TABLESPACE,
            f"it was made with TABLESPACE {name}, and there is none of this name",
            f"CREATE TABLESPACE it first. {IN_OWN_FILE}",
        )


def refused_tablespaces(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """What goes into no tablespace that several tables share; whatever innodb_strict_mode is."""
    name = shared_tablespace(structure, kind)
    if not name:
        return
    if name == TEMPORARY:
        yield Refusal(
            WRONG_TABLESPACE, f"it was made with TABLESPACE {name}, which takes temporary tables only", IN_OWN_FILE
        )
    made = f"it was made with TABLESPACE {name}, which takes no"
    reset = statement("ALTER TABLE {} ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;", table)
    if structure.row_format == "COMPRESSED" or structure.option(BLOCK_SIZE):
        yield Refusal(WRONG_TABLESPACE, f"{made} compressed pages (ROW_FORMAT=COMPRESSED, KEY_BLOCK_SIZE)", reset)
    if structure.row_format == "FIXED" and not kind.strict_innodb:
        yield Refusal(WRONG_OPTION, f"{made} ROW_FORMAT=FIXED", reset)


def refused_compression(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """COMPRESSION of pages, which takes a file of the table's own."""
    if not kind.keeps_dictionary:
        return
    algorithm = dict(structure.texts).get(COMPRESSION, "")
    if algorithm.lower() in NONE:
        return
    mend = statement("ALTER TABLE {} COMPRESSION='none';", table)
    if shared_tablespace(structure, kind) or not kind.file_per_table:
        code = WRONG_OPTION if kind.strict_innodb or shared_tablespace(structure, kind) else NO_COMPRESSION
        yield Refusal(
            code,
            f"it was made with COMPRESSION='{algorithm}', which takes a file of its own (innodb_file_per_table)",
            mend,
        )
    elif kind.strict_innodb and algorithm.lower() not in ALGORITHMS:
        yield Refusal(WRONG_OPTION, f"it was made with COMPRESSION='{algorithm}', which InnoDB does not know", mend)
    elif kind.strict_innodb and (structure.row_format == "COMPRESSED" or structure.option(BLOCK_SIZE)):
        yield Refusal(
            WRONG_OPTION,
            f"it was made with COMPRESSION='{algorithm}' and compressed pages, which do not go together",
            mend,
        )


def tablespace_changes(subject: Subject) -> Iterator[Change]:
    """What was a word to MyISAM, and counts in InnoDB."""
    name = shared_tablespace(subject.structure, subject.kind)
    algorithm = dict(subject.structure.texts).get(COMPRESSION, "")
    shown = statement("SHOW CREATE TABLE {};", subject.table)
    if name:
        unknown = (
            ""
            if subject.kind.tablespaces is not None
            else " Where there is none of this name, the ALTER ends with error 3510."
        )
        yield Change(
            "tablespace",
            f"TABLESPACE {name} was a word that MyISAM kept; InnoDB puts the rows into that one.{unknown}",
            shown,
        )
    if (
        subject.kind.keeps_dictionary
        and not subject.kind.file_per_table
        and not named_tablespace(subject.structure, subject.kind)
    ):
        yield Change(
            "tablespace-word",
            f"TABLESPACE {SYSTEM} stays in the definition on the way back: a later ALTER to InnoDB puts the table there, whatever innodb_file_per_table is then.",
            shown,
        )
    if not subject.kind.is_mariadb and algorithm.lower() in ALGORITHMS:
        yield Change(
            "page-compressed",
            f"COMPRESSION='{algorithm}' was a word that MyISAM kept; InnoDB compresses its pages by it (error 4029 where the file system punches no holes). "
            "COMPRESSION='none' in the ALTER takes it away.",
            shown,
        )
