"""What the words of a statement say that a site's own rule wrote: which table it is about, and what it does to that.

Comments and literals are told apart from words first, so letter case, spaces and comments decide nothing. What stands in an executable comment is code.
CREATE INDEX and DROP INDEX are read as the ALTER TABLE that the server makes of them.

Sources: MySQL and MariaDB manuals, "ALTER TABLE Statement", "CREATE INDEX Statement", "Comments"; what an ALTER of partitions leaves as it is was tried on MySQL
5.5 and 5.6 (tests/servers/test_misread_remedies.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from myisam_advisor.remedies.statements.base import Change, Name, only
from myisam_advisor.texts.table_names import unquoted
from myisam_exporter.declaring.late_patterns import late_pattern
from myisam_exporter.declaring.lean_dataclasses import dataclass

_TOKEN = late_pattern(
    r"/\*(?!M?!)(?:[^*]|\*(?!/))*(?:\*/|\Z)|#[^\n]*|--(?=\s|\Z)[^\n]*|/\*M?!\d*|\*/"
    r"|(`(?:[^`]|``)*`|'(?:[^'\\]|\\[^\0]|'')*'|\"(?:[^\"\\]|\\[^\0]|\"\")*\"|[\w$@]+|[^\s\w])"
)
_MAINTENANCE = frozenset(("OPTIMIZE", "REPAIR", "CHECK", "ANALYZE"))
_UNLOGGED = ("NO_WRITE_TO_BINLOG", "LOCAL")
_MANNERS = frozenset(("IGNORE", "ONLINE", "OFFLINE"))
_INDEX_KINDS = frozenset(("UNIQUE", "FULLTEXT", "SPATIAL"))
# Statements that change data or definitions.
_CHANGES_DATA = frozenset(("CREATE", "DROP", "TRUNCATE", "RENAME", "INSERT", "REPLACE", "UPDATE", "DELETE"))
_BEFORE_TABLES = frozenset(("TABLE", "TABLES", "INDEX"))
# What may name several tables, each of which it does the same to.
_OF_SEVERAL = _MAINTENANCE | {"DROP", "RENAME", "FLUSH", "LOCK", "CACHE", "LOAD"}
# What a MERGE table wants to be alike in itself and its members.
_REDEFINING = frozenset(("ADD", "DROP", "MODIFY", "CHANGE", "CONVERT", "ENGINE", "ROW_FORMAT"))
# What is done to partitions without writing the table's definition; DROP PARTITION writes it.
_DEFINITION_STAYS = frozenset(("TRUNCATE", "REPAIR", "OPTIMIZE"))
_PARTITIONS_AT_ONCE = frozenset(("DROP", "TRUNCATE", "EXCHANGE"))
_PARTITIONS_READ = frozenset(("CHECK", "ANALYZE"))


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of a statement.

    `verb` as Statement has it. `table`: schema and table, where it names exactly one so; `table_alone`: the table, where it names exactly one, without its
    schema. `names`: all tables that it does the same to. `taken_names`: those that no table has any more, as it renames or drops them;
    `dropped_names`: those that it drops, of each table alone too. `assigned_to`: the key cache that CACHE INDEX names. `at_once`: it takes a moment, whatever the
    table's size.
    """

    verb: str = ""
    table: tuple[str, str] | None = None
    changes: frozenset[Change] = frozenset()
    is_unlogged: bool = False
    by_definition: bool = False
    changes_data: bool = False
    redefines: bool = False
    writes_definition: bool = False
    at_once: bool = False
    table_alone: str = ""
    names: tuple[Name, ...] = ()
    taken_names: tuple[Name, ...] = ()
    dropped_names: tuple[Name, ...] = ()
    assigned_to: str = ""

    def of_each_table(self) -> tuple[Reading, ...]:
        """The same statement of each table that it names, alone."""
        if len(self.names) < 2:
            return (self,)
        return tuple(
            replace(
                self,
                table=only([name]),
                table_alone=name[0] if len(name) == 1 else "",
                names=(name,),
                taken_names=tuple(taken for taken in self.taken_names if taken == name),
            )
            for name in self.names
        )


def reading_of(text: str) -> Reading:
    """What the statement's words say."""
    words = [word for word, _, _ in words_with_places(text)]
    # What stands between quotes or backticks is no keyword.
    keys = [word.upper() if word[0] not in "`'\"" else "" for word in words]
    while keys and keys[-1] == ";":
        del words[-1], keys[-1]
    first = keys[0] if keys else ""
    changes_data = first in _CHANGES_DATA or keys[:2] == ["LOAD", "DATA"]
    at = _altered_at(keys)
    if at is not None:
        return _alteration(words, keys, at, changes_data)
    quiet = len(keys) > 1 and keys[1] in _UNLOGGED
    is_maintenance = first in _MAINTENANCE and keys[1 + quiet : 2 + quiet] in (["TABLE"], ["TABLES"])
    verb = f"{first} TABLE" if is_maintenance else ""
    # The commas of a CREATE TABLE stand between columns and options.
    places = _places(keys)[: 1 if first == "CREATE" else None]
    taken = _taken(words, keys, places) if keys[1:2] in (["TABLE"], ["TABLES"]) else ()
    return Reading(
        verb,
        _only(_names(words, places)),
        _changes(words, keys),
        quiet and (first in _MAINTENANCE or first == "FLUSH"),
        verb == "REPAIR TABLE" and keys[-1] == "USE_FRM",
        changes_data,
        redefines=keys[:4] == ["CREATE", "OR", "REPLACE", "TABLE"],
        table_alone=_alone(words, places[0]) if len(places) == 1 else "",
        names=_several(words, keys, places),
        taken_names=taken,
        dropped_names=taken if first == "DROP" else (),
        assigned_to=unquoted(words[-1]) if first == "CACHE" and keys[-2:-1] == ["IN"] else "",
    )


def words_with_places(text: str) -> list[tuple[str, int, int]]:
    """The words, signs and literals of a statement, without comments, and where each begins and ends."""
    return [(found[1], found.start(1), found.end(1)) for found in _TOKEN.finditer(text) if found[1]]


def _altered_at(keys: Sequence[str]) -> int | None:
    """Where the name of the table stands that it alters; None for another statement."""
    at = 1
    if keys[:1] == ["ALTER"]:
        while keys[at : at + 1] and keys[at] in _MANNERS:
            at += 1
        return _after_if(keys, at + 1) if keys[at : at + 1] == ["TABLE"] else None
    if keys[:1] not in (["CREATE"], ["DROP"]):
        return None
    if keys[1:3] == ["OR", "REPLACE"]:
        at = 3
    while keys[at : at + 1] and keys[at] in _MANNERS | _INDEX_KINDS:
        at += 1
    if keys[at : at + 1] != ["INDEX"] or "ON" not in keys[at:]:
        return None
    return keys.index("ON", at) + 1


def _after_if(keys: Sequence[str], at: int) -> int:
    return at + 2 if keys[at : at + 2] == ["IF", "EXISTS"] else at


def _alteration(words: Sequence[str], keys: Sequence[str], at: int, changes_data: bool) -> Reading:
    name, is_index = _name_at(words, at), keys[0] != "ALTER"
    rest = keys[at + 3 :] if name else keys[at + 1 :]
    # How long MariaDB waits for the table.
    rest = rest[2:] if rest[:1] == ["WAIT"] else rest[1:] if rest[:1] == ["NOWAIT"] else rest
    of_partitions = rest[0] if not is_index and rest[1:2] == ["PARTITION"] else ""
    if of_partitions in _PARTITIONS_READ:
        return Reading(f"{of_partitions} TABLE", name)
    parts = list(_parts(rest))
    keeps_all = not is_index and all(one in (["DISABLE", "KEYS"], ["ENABLE", "KEYS"]) or _renames(one) for one in parts)
    is_kept = keeps_all or of_partitions in _DEFINITION_STAYS
    at_once = of_partitions in _PARTITIONS_AT_ONCE or (keeps_all and ["ENABLE", "KEYS"] not in parts)
    return Reading(
        "ALTER TABLE",
        name,
        _changes(words, keys),
        changes_data=changes_data,
        redefines=is_index or not (is_kept or at_once or _REDEFINING.isdisjoint(rest)),
        writes_definition=not is_kept,
        at_once=at_once,
        table_alone="" if name else _alone(words, at),
        taken_names=_name_or_alone(words, at) if not is_index and any(map(_renames, parts)) else (),
    )


def _renames(part: Sequence[str]) -> bool:
    """Whether it gives the table another name; one of a column is written into the definition."""
    return part[:1] == ["RENAME"] and not {"COLUMN", "INDEX", "KEY"} & set(part[1:2])


def _parts(keys: Sequence[str]) -> Iterator[list[str]]:
    """What stands between commas that are in no parentheses."""
    part: list[str] = []
    depth = 0
    for key in keys:
        depth += (key == "(") - (key == ")")
        if key == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(key)
    yield part


def _changes(words: Sequence[str], keys: Sequence[str]) -> frozenset[Change]:
    """Those of which an option, with or without its sign, or the two words are there."""
    values = [unquoted(word).strip("'\"").upper() for word in words]
    pairs = [f"{key} {value}" for key, value in zip(keys, values[1:], strict=False) if key]
    signed = [
        f"{key}={value}" for key, sign, value in zip(keys, keys[1:], values[2:], strict=False) if key and sign == "="
    ]
    found = {*pairs, *signed}
    return frozenset(
        change for change in Change if {change.value.upper(), change.value.upper().replace("=", " ")} & found
    )


def _places(keys: Sequence[str]) -> list[int]:
    """Where it may name tables: behind the words that tables stand behind, and behind commas."""
    starts = [at + 1 for at, key in enumerate(keys) if key in _BEFORE_TABLES][:1]
    if not starts:
        return []
    begun = _after_if(keys, starts[0])
    # LOAD INDEX INTO CACHE
    begun = begun + 2 if keys[begun : begun + 2] == ["INTO", "CACHE"] else begun
    places, depth = [begun], 0
    for at, key in enumerate(keys):
        depth += (key == "(") - (key == ")")
        if key == "," and depth == 0 and at > begun:
            places.append(at + 1)
    return places


def _names(words: Sequence[str], places: Sequence[int]) -> list[tuple[str, str]]:
    """The tables that it names with their schemas."""
    return [name for at in places if (name := _name_at(words, at)) is not None]


def _alone(words: Sequence[str], at: int) -> str:
    """The table that stands there without a schema; empty where one stands there with it, or none."""
    word, following = (*words[at : at + 2], "", "")[:2]
    return unquoted(word) if following != "." and _is_name(word) else ""


def _name_at(words: Sequence[str], at: int) -> tuple[str, str] | None:
    """The schema and table that stand there."""
    schema, sign, table = (*words[at : at + 3], "", "", "")[:3]
    if sign != "." or not _is_name(schema) or not _is_name(table):
        return None
    return unquoted(schema), unquoted(table)


def _is_name(word: str) -> bool:
    return word[:1] == "`" or word.replace("$", "_").isidentifier() or word.replace("$", "_").isalnum()


def _name_or_alone(words: Sequence[str], at: int) -> tuple[Name, ...]:
    """The table that stands there, with its schema or without."""
    name, alone = _name_at(words, at), _alone(words, at)
    return (name,) if name else (((alone,),) if alone else ())


def _several(words: Sequence[str], keys: Sequence[str], places: Sequence[int]) -> tuple[Name, ...]:
    """The tables that it does the same to, once each. LOAD DATA is about one, and has commas elsewhere."""
    if not _OF_SEVERAL.intersection(keys[:1]) or keys[1:2] == ["DATA"]:
        return ()
    return tuple(dict.fromkeys(name for at in places for name in _name_or_alone(words, at)))


def _taken(words: Sequence[str], keys: Sequence[str], places: Sequence[int]) -> tuple[Name, ...]:
    """The names of the tables that it drops or renames, but for those that another one gets within the same statement."""
    if keys[0] not in ("DROP", "RENAME"):
        return ()
    taken: dict[Name, None] = {}
    for at in places:
        taken |= dict.fromkeys(_name_or_alone(words, at))
        if keys[0] == "RENAME" and "TO" in keys[at:]:
            for name in _name_or_alone(words, keys.index("TO", at) + 1):
                taken.pop(name, None)
    return tuple(taken)


def _only(names: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    return names[0] if len(set(names)) == 1 else None
