"""Tables whose ENUM and SET columns MySQL before 8.0 reads cut in half (files/frm_members.py): what would write that for good, and how to say so.

Tried on MySQL 5.5 and 5.6, with what a rule here may ask for and more: ALTER TABLE writes the definition anew, and the members and values are lost, whatever
it changes, DROP PARTITION too, but for ENABLE and DISABLE KEYS, RENAME TO, and TRUNCATE, CHECK, ANALYZE, OPTIMIZE and REPAIR of partitions.

OPTIMIZE, ANALYZE, CHECK and REPAIR leave the .frm as it is; but REPAIR without USE_FRM copies a table with columns of before MySQL 5.0.3 or YEAR(2), as an
ALTER does (5.6). Times of before 5.6.4 have it copy none. A table that is marked as crashed takes no ALTER (error 145), and such a REPAIR fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.texts.lists import listed
from myisam_advisor.texts.templates import count, object_name, printable
from myisam_exporter.facts.columns import Row
from myisam_exporter.facts.values import number_of

SHOWN = "myisam-advisor migrate shows them (members-misread)."
WAY_OUT = f"First run the two ALTERs that keep them: {SHOWN}"
AFTER_REPAIR = f"Once the table is repaired (a crashed one takes no ALTER, error 145), run the two ALTERs that keep them, before any other: {SHOWN}"
BY_FILES = "run myisamchk -r on its .MYI file, which reads no definition."
NAMED_TABLES = 5


def refusal_for_members(command: Statement, row: Row) -> str:
    """Why the command may not run on its table, of which this is the row, and what to do instead; empty where it may, or nobody knows."""
    repairs = command.verb == "REPAIR TABLE" and not command.from_definition and is_copied_by_repair(row)
    return _caution(row) if is_misread(row) and (command.writes_definition or repairs) else ""


def caution_for_members(row: Row, said: Iterable[str] = ()) -> str:
    """What stands in the way of any ALTER of the table; empty where no column is misread, nobody knows, or what was refused (`said`) has told of it.

    Each finding about the table says it, whatever it advises: people alter tables by words, too.
    """
    return "" if not is_misread(row) or _is_told(row, said) else _caution(row)


def caution_for_all(rows: Sequence[Row], said: Iterable[str]) -> str:
    """The same for a finding about the whole server, of all tables at once; each that what was refused has told of is left out."""
    told = list(said)
    left = [row for row in rows if not _is_told(row, told)]
    if not left:
        return ""
    repaired = [row for row in left if is_copied_by_repair(row)]
    repair = f", nor REPAIR TABLE of {_named(repaired)}, which copies as an ALTER does" if repaired else ""
    return (
        f"No ALTER TABLE of {_named(left)} yet{repair}: this server reads their ENUM or SET members in ucs2, utf16 or utf32 cut in half, would write them so for good, "
        f"and their values would be lost. First run the two ALTERs that keep them, of a crashed table once it is repaired (table-crashed): {SHOWN}"
    )


def is_misread(row: Row) -> bool:
    """Whether the server reads members of the table cut in half, as far as is known."""
    return bool(number_of(row.get("misread_columns")))


def is_crashed(row: Row) -> bool:
    """Whether table-crashed tells of the table."""
    return bool(number_of(row.get("crashed")) or number_of(row.get("recovery_failed")))


def _caution(row: Row) -> str:
    if not is_copied_by_repair(row):
        return f"No ALTER TABLE yet: {_what_is_lost(row)} {AFTER_REPAIR if is_crashed(row) else WAY_OUT}"
    way = (
        f"Stop the server and {BY_FILES} {AFTER_REPAIR}"
        if is_crashed(row)
        else f"{WAY_OUT} Where the table is damaged, stop the server and {BY_FILES}"
    )
    return f"No REPAIR TABLE and no ALTER TABLE yet: with columns of this age a REPAIR copies the table, as an ALTER does. {_what_is_lost(row)} {way}"


def is_copied_by_repair(row: Row) -> bool:
    """Whether the table has columns for which MySQL before 8.0 copies it where it is to be repaired."""
    return bool(number_of(row.get("obsolete_columns")))


def _is_told(row: Row, said: Iterable[str]) -> bool:
    lost = _what_is_lost(row)
    return any(lost in text for text in said)


def _what_is_lost(row: Row) -> str:
    columns = count(int(number_of(row.get("misread_columns")) or 0))
    return (
        f"{columns} ENUM or SET columns of {_name(row)} share a list of members in ucs2, utf16 or utf32, which this server reads cut in half. "
        "An ALTER writes it so for good, and their values are lost."
    )


def _named(rows: Sequence[Row]) -> str:
    return listed([_name(row) for row in rows], NAMED_TABLES)


def _name(row: Row) -> str:
    return printable(object_name(str(row["schema_name"]), str(row["table_name"])))
