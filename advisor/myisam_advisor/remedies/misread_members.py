"""Tables whose ENUM and SET columns MySQL before 8.0 reads cut in half (files/frm_members.py): what would write that for good, and how to say so.

Tried on MySQL 5.5 and 5.6, with what a rule here may ask for and more: ALTER TABLE writes the definition anew, and the members and values are lost, whatever
it changes, DROP PARTITION too, but for ENABLE and DISABLE KEYS, RENAME TO, and TRUNCATE, CHECK, ANALYZE, OPTIMIZE and REPAIR of partitions.

OPTIMIZE, ANALYZE, CHECK and REPAIR leave the .frm as it is; but
REPAIR without USE_FRM copies a table with columns of before MySQL 5.0.3 or YEAR(2), as an ALTER does (5.6).
"""

from __future__ import annotations

from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.texts.templates import count, object_name, printable
from myisam_exporter.facts.columns import Row
from myisam_exporter.facts.values import number_of

WAY_OUT = "First run the two ALTERs that keep them: myisam-advisor migrate shows them (members-misread)."


def refusal_for_members(command: Statement, row: Row) -> str:
    """Why the command may not run on its table, of which this is the row, and what to do instead; empty where it may, or nobody knows."""
    if command.writes_definition:
        return caution_for_members(row)
    copies = command.verb == "REPAIR TABLE" and not command.from_definition and number_of(row.get("obsolete_columns"))
    if not copies or not number_of(row.get("misread_columns")):
        return ""
    return (
        f"No REPAIR TABLE: it copies a table with columns of this age as an ALTER does. {_what_is_lost(row)} "
        f"Stop the server and run myisamchk -r on its .MYI file, which reads no definition. {WAY_OUT}"
    )


def caution_for_members(row: Row) -> str:
    """What stands in the way of any ALTER of the table; empty where no column is misread, or nobody knows.

    Each finding about the table says it, whatever it advises: people alter tables by words, too.
    """
    return f"No ALTER TABLE yet: {_what_is_lost(row)} {WAY_OUT}" if number_of(row.get("misread_columns")) else ""


def _what_is_lost(row: Row) -> str:
    columns = count(int(number_of(row.get("misread_columns")) or 0))
    name = printable(object_name(str(row["schema_name"]), str(row["table_name"])))
    return (
        f"{columns} ENUM or SET columns of {name} share a list of members in ucs2, utf16 or utf32, which this server reads cut in half. "
        "An ALTER writes it so for good, and their values are lost."
    )
