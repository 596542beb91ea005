"""What a statement of a recommendation is: when it may run, which table it is about, what it locks, and what takes it back."""

from __future__ import annotations

import re
from dataclasses import dataclass

from myisam_exporter.sql import quote_table

# In this order they are safe: memory is given back before it is taken, tables are closed before indexes are loaded (closing takes a
# table's blocks out of the key cache), and a table is assigned before its index is loaded.
GIVE_BACK, SET, LOCKED, FLUSH, ASSIGN, LOAD, SHELL, OFFLINE = range(8)

_NAME = r"`(?:[^`]|``)*`"
_TABLE = re.compile(rf"(?:TABLES?|INDEX|CACHE|,)\s+({_NAME})\.({_NAME})")
_SET = re.compile(r"^SET GLOBAL ((?:[\w$]+\.)?\w+) = ([^;]+);$")
_OFFLINE = re.compile(r"^(ALTER TABLE|OPTIMIZE TABLE|REPAIR TABLE|CHECK TABLE)\b")
_ALTERATION = re.compile(
    r"^ALTER TABLE (?P<name>\S.*?) (?P<what>PACK_KEYS|ROW_FORMAT|ENGINE|MAX_ROWS|DISABLE KEYS|ENABLE KEYS|ADD INDEX)\b"
)
_OPTION = re.compile(rf"^ALTER TABLE {_NAME}\.{_NAME} ((?:PACK_KEYS|ROW_FORMAT|MAX_ROWS)=\w+);$")
_ASSIGNMENT = re.compile(r"^CACHE INDEX (?P<what>.+) IN (?P<cache>[\w$]+);$")

LOCKS = {
    "ALTER TABLE": "writers wait until it is done, readers for a moment at its end",
    "OPTIMIZE TABLE": "readers and writers wait until it is done",
    "REPAIR TABLE": "readers and writers wait until it is done",
    "CHECK TABLE": "writers wait until it is done",
    "": "not known: the statement is of a rule of your own",
}


@dataclass(frozen=True, slots=True)
class Assignment:
    """SET GLOBAL: which variable gets which value, as text."""

    variable: str
    value: str


def in_comments(statement: str) -> str:
    """The statement as a comment, each of its lines: a name may hold a line break."""
    return "\n".join(line if line.startswith("--") else f"-- {line}" for line in statement.split("\n"))


def is_remark(statement: str) -> bool:
    """Whether it is for the reader only."""
    return statement.startswith(("--", "#"))


def verb(statement: str) -> str:
    """ALTER TABLE, OPTIMIZE TABLE, ...; empty for any other."""
    found = _OFFLINE.match(statement)
    return found[1] if found else ""


def assignment(statement: str) -> Assignment | None:
    """What a SET GLOBAL sets; None for another statement."""
    found = _SET.match(statement)
    return Assignment(found[1], found[2].strip()) if found else None


def table_of(statement: str) -> tuple[str, str] | None:
    """Schema and table that the statement is about, where it names exactly one."""
    names = {(_unquoted(schema), _unquoted(table)) for schema, table in _TABLE.findall(statement)}
    return names.pop() if len(names) == 1 else None


def table_option(statement: str) -> tuple[tuple[str, str], str] | None:
    """The table and the option of an ALTER that sets one table option; None for any other statement."""
    found, table = _OPTION.match(statement), table_of(statement)
    return (table, found[1]) if found and table else None


def phase(statement: str, gives_back: bool = False) -> int:
    """When the statement runs among the others. One that is not known (of a site's own rule) waits for a person: offline."""
    if _OFFLINE.match(statement):
        return OFFLINE
    for start, found in (
        ("SET GLOBAL ", GIVE_BACK if gives_back else SET), ("LOCK TABLES ", LOCKED), ("UNLOCK TABLES", LOCKED), ("FLUSH TABLES", FLUSH),
        ("CACHE INDEX ", ASSIGN), ("LOAD INDEX ", LOAD), ("cat ", SHELL),
    ):  # fmt: skip
        if statement.startswith(start):
            return found
    return OFFLINE


def taken_back(statement: str, present: str | None, row_format: str | None = None) -> str:
    """The statement that takes this one back, or a remark when nothing does or has to.

    Args:
        statement: one statement of a recommendation.
        present: for SET GLOBAL, the variable's value now; None while it is not known.
        row_format: for ROW_FORMAT, the table's format now.
    """
    found = assignment(statement)
    if found is not None:
        if present is None:
            return f"-- {found.variable}: its value now is not known; note it before the change (SELECT @@GLOBAL.{found.variable};)"
        return f"SET GLOBAL {found.variable} = {present};"
    changed = _ALTERATION.match(statement)
    if changed is not None:
        return _altered_back(changed["name"], changed["what"], row_format)
    assigned = _ASSIGNMENT.match(statement)
    if assigned is not None:
        return f"CACHE INDEX {assigned['what']} IN default;"
    return f"-- nothing to take back: {statement}"


def _altered_back(name: str, what: str, row_format: str | None) -> str:
    if what == "PACK_KEYS":
        return f"ALTER TABLE {name} PACK_KEYS=DEFAULT;"
    if what == "ROW_FORMAT":
        return f"ALTER TABLE {name} ROW_FORMAT={(row_format or 'dynamic').upper()};"
    if what == "ENGINE":
        return f"ALTER TABLE {name} ENGINE=MyISAM;"
    if what == "MAX_ROWS":
        return f"ALTER TABLE {name} MAX_ROWS=0;"
    return f"ALTER TABLE {name} {'ENABLE' if what == 'DISABLE KEYS' else 'DISABLE'} KEYS;"


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`")


def verification(statement: str) -> str | None:
    """A query that shows whether the statement took effect; None where there is none."""
    found = assignment(statement)
    if found is not None:
        return f"SELECT @@GLOBAL.{found.variable};"
    table = table_of(statement)
    if table is None or not verb(statement):
        return None
    if verb(statement) in ("CHECK TABLE", "REPAIR TABLE"):
        return f"CHECK TABLE {quote_table(*table)} FAST;"
    return f"SHOW CREATE TABLE {quote_table(*table)};"
