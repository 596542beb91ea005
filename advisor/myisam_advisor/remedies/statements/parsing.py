"""Commands of rules as statements: the border at which text becomes values.

The rules' `commands`, shipped ones and a site's own, are templates that make SQL. What is here reads it once; behind it nothing looks at
the text again. A statement that is not known keeps its text, and what its beginning tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from myisam_advisor.remedies.statements.assigned import assigned
from myisam_advisor.remedies.statements.base import Name, Phase, Remark, Statement
from myisam_advisor.remedies.statements.closing import FlushTables, LockTables, UnlockTables
from myisam_advisor.remedies.statements.key_caches import CacheIndex, LoadIndex
from myisam_advisor.remedies.statements.own import OwnStatement
from myisam_advisor.remedies.statements.reading import reading_of, words_with_places
from myisam_advisor.remedies.statements.tables import (
    AlterKeys,
    AlterTable,
    AnalyzeTable,
    CheckTable,
    DropIndex,
    MakeAnew,
    OptimizeTable,
    RemovePartitioning,
    RepairTable,
    TableOption,
)
from myisam_advisor.remedies.statements.variables import SetGlobal
from myisam_advisor.texts.table_names import unquoted
from myisam_advisor.workload.set_statement import GLOBAL, sets_for_all
from myisam_exporter.declaring.late_patterns import late_pattern
from myisam_exporter.server.sql import Sql, plain_words, quote_text

_QUOTED = r"`(?:[^`]|``)*`"
# A rule's author may leave out the quotes of a name that is no value.
_NAME = rf"(?:{_QUOTED}|[\w$]+)"
_FULL = rf"{_NAME}\.{_NAME}"
_LOOSE = rf"(?:{_NAME}\.)?{_NAME}"
# MySQL and MariaDB know LOCAL as another word for it.
_UNLOGGED = r"(?: (?:NO_WRITE_TO_BINLOG|LOCAL))"
_OPTIONS = r"\w+=\w+(?: \w+=\w+)*"

# Whole statements, with other spaces than ours or no semicolon.
_END = r"\s*;?\s*"
_SPACED_OPTION = late_pattern(r"(\w+)\s*=\s*(\w+)", re.ASCII)
_SPACED_OPTIONS = r"\w+\s*=\s*\w+(?:[\s,]+\w+\s*=\s*\w+)*"
_ALTERED_OPTIONS = late_pattern(rf"ALTER TABLE (?P<name>{_LOOSE})\s+(?P<options>{_SPACED_OPTIONS}){_END}", re.ASCII)
_ALTERED_KEYS = late_pattern(rf"ALTER TABLE (?P<name>{_LOOSE})\s+(?P<what>ENABLE|DISABLE)\s+KEYS{_END}")
# One index, with its name; what it is made of does not matter to who drops it.
_ADDED_INDEX = late_pattern(
    rf"ALTER TABLE (?P<name>{_LOOSE})\s+ADD\s+(?:(?:UNIQUE|FULLTEXT|SPATIAL)\s+)?(?:INDEX|KEY)\s+(?P<index>{_NAME})\s*\((?:[^;()]|\(\d+\))+\){_END}"
)
_STARTS = (
    ("FLUSH TABLES", Phase.FLUSH),
    ("FLUSH NO_WRITE_TO_BINLOG TABLES", Phase.FLUSH),
    ("CACHE INDEX ", Phase.ASSIGN),
    ("LOAD INDEX ", Phase.LOAD),
)


def parsed(command: Sql) -> Statement:
    """The statement that a rule's template made, written as its author wrote it."""
    if command.startswith(("--", "#")):
        return Remark(command)
    if len(found := _set_globals(command)) == 1:
        return found[0] if found[0].sql == command else replace(found[0], written=command)
    for pattern, read in _READERS:
        matched = pattern.fullmatch(command)
        if matched is None:
            continue
        made = read(matched, command)
        # A name without quotes is in whatever schema or letter case its author had in mind: it is not looked up.
        if not _names_its_tables(matched):
            return _own(command, made)
        return made if made.sql == command else replace(made, written=command)
    return _own(command, _resembled(command))


def parsed_apart(command: Sql) -> tuple[Statement, ...]:
    """The same; of a SET with several global variables one statement for each, so that each is priced, refused and taken back by itself."""
    several = _set_globals(command)
    return several if len(several) > 1 else (parsed(command),)


def _names_its_tables(found: re.Match[str]) -> bool:
    """Whether the tables that it names, if any, stand between backticks and with their schemas."""
    groups = found.groupdict()
    names = groups.get("name") or groups.get("names")
    return not names or re.fullmatch(rf" ?{_QUOTED}\.{_QUOTED}(?:, {_QUOTED}\.{_QUOTED})*", names) is not None


def _set_globals(command: Sql) -> tuple[SetGlobal, ...]:
    """Each variable that it sets for all connections; none where it does more. What the server has to work out keeps its words, where it is alone."""
    found = assigned(command)
    if any(one.scope != GLOBAL for one in found):
        return ()
    values = [_value(one.value) for one in found]
    if len(found) > 1 and None in values:
        return ()
    return tuple(
        SetGlobal(one.variable, value, one.cache, written=command if value is None else None)
        for one, value in zip(found, values, strict=True)
    )


def _value(text: str) -> Sql | None:
    """A word, a number or a text between quotes; None for what the server has to work out."""
    try:
        return quote_text(text[1:-1]) if quote_text(text[1:-1]) == text else plain_words(text)
    except ValueError:
        return None


def _maintenance(found: re.Match[str], command: Sql) -> Statement:
    name, is_unlogged = _name(found["name"]), found["quiet"] is not None
    if found["verb"] == "OPTIMIZE":
        return OptimizeTable(name, is_unlogged)
    if found["verb"] == "ANALYZE":
        return AnalyzeTable(name, is_unlogged)
    return RepairTable(name, is_unlogged, by_definition=found["how"] is not None)


def _flush(found: re.Match[str], command: Sql) -> Statement:
    names = tuple(_name(name[0]) for name in re.finditer(_FULL, found["names"] or ""))
    return FlushTables(names, found["quiet"] is not None)


def _options(found: re.Match[str], command: Sql) -> Statement:
    options = [
        TableOption(tuple((pair[0], pair[2]) for pair in (word.partition("=") for word in one.split(" "))))
        for one in found["options"].split(", ")
    ]
    return AlterTable(_name(found["name"]), tuple(options))


# Each reads what it is made of; where that is written in another way, the statement keeps its author's.
_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Sql], Statement]], ...] = (
    (
        late_pattern(rf"(?P<verb>OPTIMIZE|ANALYZE)(?P<quiet>{_UNLOGGED})? TABLE (?P<name>{_FULL});"),
        _maintenance,
    ),
    (
        late_pattern(rf"(?P<verb>REPAIR)(?P<quiet>{_UNLOGGED})? TABLE (?P<name>{_FULL})(?P<how> USE_FRM)?;"),
        _maintenance,
    ),
    (
        late_pattern(rf"CHECK TABLE (?P<name>{_FULL})(?P<how> FAST| EXTENDED)?;"),
        lambda found, _: CheckTable(_name(found["name"]), found["how"] == " FAST", found["how"] == " EXTENDED"),
    ),
    (
        late_pattern(rf"FLUSH(?P<quiet> NO_WRITE_TO_BINLOG)? TABLES(?P<names> {_FULL}(?:, {_FULL})*)?;"),
        _flush,
    ),
    (
        late_pattern(rf"ALTER TABLE (?P<name>{_FULL}) (?P<options>{_OPTIONS}(?:, {_OPTIONS})*);", re.ASCII),
        _options,
    ),
    (
        late_pattern(rf"ALTER TABLE (?P<name>{_LOOSE}) (?P<what>ENABLE|DISABLE) KEYS;"),
        lambda found, _: AlterKeys(_name(found["name"]), enabled=found["what"] == "ENABLE"),
    ),
    (
        late_pattern(rf"ALTER TABLE (?P<name>{_FULL}) FORCE;"),
        lambda found, _: MakeAnew(_name(found["name"])),
    ),
    (
        late_pattern(rf"ALTER TABLE (?P<name>{_FULL})(?P<anew> FORCE)? REMOVE PARTITIONING;"),
        lambda found, _: RemovePartitioning(_name(found["name"]), is_made_anew=found["anew"] is not None),
    ),
    (
        late_pattern(rf"CACHE INDEX (?P<name>{_LOOSE})(?P<all> PARTITION \(ALL\))? IN (?P<cache>{_NAME});"),
        lambda found, _: CacheIndex(_name(found["name"]), unquoted(found["cache"]), found["all"] is not None),
    ),
    (
        late_pattern(rf"LOAD INDEX INTO CACHE (?P<name>{_FULL})(?P<all> PARTITION \(ALL\))?;"),
        lambda found, _: LoadIndex(_name(found["name"]), found["all"] is not None),
    ),
    (
        late_pattern(r"LOCK TABLES .*", re.DOTALL),
        lambda _, command: LockTables(tuple(_name(name[0]) for name in re.finditer(rf"{_QUOTED}\.{_QUOTED}", command))),
    ),
    (
        late_pattern(r"UNLOCK TABLES.*", re.DOTALL),
        lambda *_: UnlockTables(),
    ),
)


def _own(command: Sql, like: Statement | None) -> OwnStatement:
    """What the words of a statement tell."""
    return OwnStatement(
        command,
        reading_of(command),
        when=_phase_of(command),
        like=like,
        way_back=_dropped_again(command),
    )


def _phase_of(command: Sql) -> Phase:
    """When it runs: what sets variables for all connections needs no table, whatever it sets besides."""
    if sets_for_all([word for word, _, _ in words_with_places(command)]) is not None:
        return Phase.SET
    return next((phase for start, phase in _STARTS if command.startswith(start)), Phase.OFFLINE)


def _resembled(command: Sql) -> Statement | None:
    """The ALTER TABLE that is the same in our way of writing. A longer one is another: it does more than what it begins with."""
    keys = _ALTERED_KEYS.fullmatch(command)
    if keys is not None:
        return AlterKeys(_name(keys["name"]), enabled=keys["what"] == "ENABLE")
    found = _ALTERED_OPTIONS.fullmatch(command)
    if found is None:
        return None
    pairs = _SPACED_OPTION.findall(found["options"])
    return AlterTable(_name(found["name"]), tuple(TableOption((pair,)) for pair in pairs))


def _dropped_again(command: Sql) -> DropIndex | None:
    """What takes back a statement that adds one index."""
    found = _ADDED_INDEX.fullmatch(command)
    return None if found is None else DropIndex(_name(found["name"]), unquoted(found["index"]))


def _name(text: str) -> Name:
    """A name, or two with a point between them."""
    return tuple(unquoted(part) for part in re.findall(_NAME, text))
