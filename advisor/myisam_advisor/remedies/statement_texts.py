"""What a statement of a recommendation is: when it may run, which table it is about, what it locks, and what takes it back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.texts.templates import printable
from myisam_exporter.server.sql import (
    Sql,
    comment,
    plain_words,
    quote_identifier,
    quote_table,
    quote_variable,
    sql_list,
    statement,
)

# In this order they are safe: memory is given back before it is taken, tables are closed before indexes are loaded (closing takes a
# table's blocks out of the key cache), and a table is assigned before its index is loaded.
GIVE_BACK, SET, LOCKED, FLUSH, ASSIGN, LOAD, SHELL, OFFLINE = range(8)

_QUOTED = r"`(?:[^`]|``)*`"
# A rule's author may leave out the quotes of a name that is no value.
_NAME = rf"(?:{_QUOTED}|[\w$]+)"
_TABLE = re.compile(rf"(?:TABLES?|INDEX|CACHE|,)\s+({_QUOTED})\.({_QUOTED})")
_SET = re.compile(rf"SET GLOBAL (?:(?P<cache>{_NAME})\.)?(?P<variable>\w+) = (?P<value>[^;`]+);")
# MySQL and MariaDB know LOCAL as another word for it.
_UNLOGGED = r"(?: (?:NO_WRITE_TO_BINLOG|LOCAL))"
_OFFLINE = re.compile(rf"(ALTER|OPTIMIZE|REPAIR|CHECK|ANALYZE){_UNLOGGED}? TABLE\b")
_IS_UNLOGGED = re.compile(rf"(?:OPTIMIZE|REPAIR|ANALYZE|FLUSH){_UNLOGGED} ")
_MAINTENANCE = re.compile(
    rf"(?P<verb>OPTIMIZE|REPAIR|ANALYZE) TABLE (?P<name>{_NAME}\.{_NAME})(?P<from_definition> USE_FRM)?;"
)
_FLUSH = re.compile(rf"FLUSH TABLES(?P<names> {_NAME}\.{_NAME}(?:, {_NAME}\.{_NAME})*)?;")
_ALTERATION = re.compile(
    rf"ALTER TABLE (?P<name>(?:{_NAME}\.)?{_NAME}) (?P<what>PACK_KEYS|ROW_FORMAT|ENGINE|MAX_ROWS|DISABLE KEYS|ENABLE KEYS|ADD INDEX)\b"
)
_OPTION = re.compile(
    rf"ALTER TABLE {_QUOTED}\.{_QUOTED} ((?:PACK_KEYS|ROW_FORMAT|MAX_ROWS)=\w+(?: AVG_ROW_LENGTH=\w+)?);"
)
# MAX_ROWS=0 is the default: it only takes away what narrowed the pointers.
_DEFAULT_POINTERS = re.compile(rf"ALTER TABLE {_QUOTED}\.{_QUOTED} MAX_ROWS=0\b")
_ASSIGNMENT = re.compile(
    rf"CACHE INDEX (?P<name>(?:{_NAME}\.)?{_NAME})(?P<partitions> PARTITION \(ALL\))? IN (?P<cache>{_NAME});"
)
_LOCK, _UNLOCK = "LOCK TABLES ", "UNLOCK TABLES"
_STARTS = (
    ("SET GLOBAL ", SET),
    (_LOCK, LOCKED),
    (_UNLOCK, LOCKED),
    ("FLUSH TABLES", FLUSH),
    ("FLUSH NO_WRITE_TO_BINLOG TABLES", FLUSH),
    ("CACHE INDEX ", ASSIGN),
    ("LOAD INDEX ", LOAD),
)

Text = TypeVar("Text", bound=str)

LOCKS = {
    "ALTER TABLE": "writers wait until it is done, readers for a moment at its end",
    "OPTIMIZE TABLE": "readers and writers wait until it is done",
    "REPAIR TABLE": "readers and writers wait until it is done",
    "CHECK TABLE": "writers wait until it is done",
    "ANALYZE TABLE": "writers wait until it is done",
    "": "not known: the statement is of a rule of your own",
}


@dataclass(frozen=True, slots=True)
class Assignment:
    """SET GLOBAL: which variable gets which value, as SQL; `cache` is the key cache that it is of, empty for the default one."""

    variable: str
    value: str
    cache: str = ""

    @property
    def target(self) -> Sql:
        """The variable's name in SQL."""
        return quote_variable(self.variable, self.cache)


def is_remark(command: str) -> bool:
    """Whether it is for the reader only."""
    return command.startswith(("--", "#"))


def grouped(commands: Sequence[Text]) -> list[tuple[Text, ...]]:
    """Commands that must stay together: what stands between LOCK TABLES and UNLOCK TABLES, and a remark with what is around it."""
    groups: list[list[Text]] = []
    locked = glued = False
    for command in commands:
        if (locked or glued or is_remark(command)) and groups:
            groups[-1].append(command)
        else:
            groups.append([command])
        glued = is_remark(command)
        locked = command.startswith(_LOCK) or (locked and not command.startswith(_UNLOCK))
    return [tuple(group) for group in groups]


def verb(command: str) -> str:
    """ALTER TABLE, OPTIMIZE TABLE, ...; empty for any other."""
    found = _OFFLINE.match(command)
    return f"{found[1]} TABLE" if found else ""


def is_unlogged(command: str) -> bool:
    """Whether the statement says of itself that it is not written to the binary log."""
    return _IS_UNLOGGED.match(command) is not None


def repairs_from_definition(command: str) -> bool:
    """Whether it is a REPAIR TABLE ... USE_FRM, which makes the index file anew."""
    return verb(command) == "REPAIR TABLE" and command.rstrip("; ").endswith("USE_FRM")


def without_binary_log(command: str) -> Sql | None:
    """The same statement, not written to the binary log; None for one that has no such form, or is not known."""
    found = _MAINTENANCE.fullmatch(command)
    if found is not None:
        how = statement(" USE_FRM" if found["from_definition"] else "")
        name = _requoted(found["name"])
        return {
            "OPTIMIZE": statement("OPTIMIZE NO_WRITE_TO_BINLOG TABLE {}{};", name, how),
            "REPAIR": statement("REPAIR NO_WRITE_TO_BINLOG TABLE {}{};", name, how),
            "ANALYZE": statement("ANALYZE NO_WRITE_TO_BINLOG TABLE {}{};", name, how),
        }[found["verb"]]
    flushed = _FLUSH.fullmatch(command)
    if flushed is None:
        return None
    names = [_requoted(name[0]) for name in re.finditer(rf"{_NAME}\.{_NAME}", flushed["names"] or "")]
    if not names:
        return statement("FLUSH NO_WRITE_TO_BINLOG TABLES;")
    return statement("FLUSH NO_WRITE_TO_BINLOG TABLES {};", sql_list(names))


def assigned_table(command: str) -> tuple[tuple[str, str], str] | None:
    """The table and the key cache of a CACHE INDEX; None for another statement."""
    found, table = _ASSIGNMENT.fullmatch(command), table_of(command)
    return (table, _unquoted(found["cache"])) if found and table else None


def assignment(command: str) -> Assignment | None:
    """What a SET GLOBAL sets; None for another statement."""
    found = _SET.fullmatch(command)
    return Assignment(found["variable"], found["value"].strip(), _unquoted(found["cache"] or "")) if found else None


def table_of(command: str) -> tuple[str, str] | None:
    """Schema and table that the statement is about, where it names exactly one."""
    names = {(_unquoted(schema), _unquoted(table)) for schema, table in _TABLE.findall(command)}
    return names.pop() if len(names) == 1 else None


def table_option(command: str) -> tuple[tuple[str, str], Sql] | None:
    """The table and the option of an ALTER that sets one table option; None for any other statement."""
    found, table = _OPTION.fullmatch(command), table_of(command)
    return (table, plain_words(found[1])) if found and table else None


def phase(command: str, gives_back: bool = False) -> int:
    """When the command runs among the others. One that is not known (of a site's own rule) waits for a person: offline."""
    if isinstance(command, ShellLine):
        return SHELL
    found = next((when for start, when in _STARTS if command.startswith(start)), OFFLINE)
    return GIVE_BACK if found == SET and gives_back else found


def taken_back(command: str, present: Sql | None, row_format: str | None = None) -> Sql:
    """The statement that takes this one back, or a remark when nothing does or has to.

    Args:
        command: one command of a recommendation.
        present: for SET GLOBAL, the variable's value now; None while it is not known.
        row_format: for ROW_FORMAT, the table's format now.
    """
    found = assignment(command)
    if found is not None:
        if present is None:
            return remark(
                f"{found.target}: its value now is not known; note it before the change (SELECT @@GLOBAL.{found.target};)"
            )
        return statement("SET GLOBAL {} = {};", found.target, present)
    changed = None if _DEFAULT_POINTERS.match(command) else _ALTERATION.match(command)
    if changed is not None:
        return statement("ALTER TABLE {} {};", _requoted(changed["name"]), _altered_back(changed["what"], row_format))
    assigned = _ASSIGNMENT.fullmatch(command)
    if assigned is not None:
        partitions = statement(" PARTITION (ALL)" if assigned["partitions"] else "")
        return statement("CACHE INDEX {}{} IN default;", _requoted(assigned["name"]), partitions)
    return remark(f"nothing to take back: {command}")


def remark(text: str) -> Sql:
    """A line for the reader, whatever the text holds."""
    return comment(printable(text))


def _altered_back(what: str, row_format: str | None) -> Sql:
    if what == "ROW_FORMAT":
        return statement("ROW_FORMAT={}", plain_words((row_format or "dynamic").upper()))
    if what in ("PACK_KEYS", "ENGINE", "MAX_ROWS"):
        return {
            "PACK_KEYS": statement("PACK_KEYS=DEFAULT"),
            "ENGINE": statement("ENGINE=MyISAM"),
            "MAX_ROWS": statement("MAX_ROWS=0"),
        }[what]
    return statement("ENABLE KEYS") if what == "DISABLE KEYS" else statement("DISABLE KEYS")


def _requoted(name: str) -> Sql:
    """A name, or two with a point between them, quoted anew."""
    parts = [_unquoted(part) for part in re.findall(_NAME, name)]
    return quote_table(*parts) if len(parts) > 1 else quote_identifier(parts[0])


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def verification(command: str) -> Sql | None:
    """A query that shows whether the statement took effect; None where there is none."""
    found = assignment(command)
    if found is not None:
        return statement("SELECT @@GLOBAL.{};", found.target)
    table = table_of(command)
    if table is None or not verb(command):
        return None
    if verb(command) in ("CHECK TABLE", "REPAIR TABLE", "ANALYZE TABLE"):
        return statement("CHECK TABLE {} FAST;", quote_table(*table))
    return statement("SHOW CREATE TABLE {};", quote_table(*table))
