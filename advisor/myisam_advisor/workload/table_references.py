"""The tables that the clauses of a statement name: FROM and JOIN, INSERT INTO, UPDATE, DELETE, lists of tables; names of CTEs are none.

Source: MySQL and MariaDB manuals, "JOIN Clause", "WITH (Common Table Expressions)", "DELETE Statement", "UPDATE Statement".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence, Set
from functools import cached_property

from myisam_advisor.workload.tokens import LITERAL, plain_name

Table = tuple[str | None, str]

# FROM between the parentheses of these functions names no table.
_FUNCTIONS_WITH_FROM = frozenset((b"extract", b"trim", b"substring", b"substr", b"mid", b"overlay"))
_JOINS = frozenset((b"join", b"straight_join"))
# What ends a list of tables.
_ENDS = frozenset(
    b"where group having order limit window union except intersect procedure set values value into returning lock for".split()
)
# What cannot be the alias of a table.
_NO_ALIAS = (
    _ENDS
    | _JOINS
    | frozenset(
        b"on using inner cross left right natural full use force ignore partition select with outer straight_join table read write".split()
    )
)
_BEFORE_TABLE = frozenset((b"lateral", b"only", b"{", b"oj"))


class References:
    """Finds the tables in the tokens of one statement.

    Args:
        lower: its tokens, words in lower case.
        words: the same as they were written.
    """

    def __init__(self, lower: Sequence[bytes], words: Sequence[bytes]) -> None:
        self._lower, self._words = lower, words
        self._aliases: dict[str, Table] = {}
        self._ctes: set[str] = set()

    def read(self) -> Set[Table]:
        """All tables of the FROM and JOIN clauses, of subqueries too."""
        return self._scan(0)

    def inserted(self, modifiers: Set[bytes]) -> tuple[Set[Table], Set[Table]]:
        """What an INSERT or REPLACE reads, and writes."""
        at = 1
        while self._at(at) in modifiers:
            at += 1
        table, end = self._table(at)
        return self._scan(end), set() if table is None else {table}

    def updated(self) -> tuple[Set[Table], Set[Table]]:
        """What an UPDATE reads alone, and writes: of several tables those whose columns are set."""
        at = self._lower.index(b"update") + 1
        while self._at(at) in (b"low_priority", b"ignore"):
            at += 1
        tables = self._scan(0, begin=at)
        first, _ = self._table(at)
        written = tables if len(tables) == 1 else self._tables_set(at)
        if first is not None and not written:
            written = {first}
        return tables - written, written

    def deleted(self) -> tuple[Set[Table], Set[Table]]:
        """What a DELETE reads alone, and writes."""
        at = self._lower.index(b"delete") + 1
        while self._at(at) in (b"low_priority", b"quick", b"ignore"):
            at += 1
        leading = self._at(at) != b"from"
        targets, end = self._target_list(at if leading else at + 1)
        if not leading and self._at(end) != b"using":
            tables = self._scan(0)
            return tables - set(targets[:1]), set(targets[:1])
        tables = self._scan(0, begin=end + 1)
        written = {
            self._aliases.get(name, (schema, name)) if schema is None else (schema, name) for schema, name in targets
        }
        # FROM a USING t1 a: the scan takes the alias for a table.
        return tables - set(targets) - written, written

    def verb_behind_ctes(self) -> bytes:
        """The word that a statement with CTEs is about: the first such one outside of parentheses."""
        depth = 0
        for word in self._lower:
            depth += (word == b"(") - (word == b")")
            if depth == 0 and word in (b"select", b"update", b"delete", b"insert", b"replace"):
                return word
        return b""

    def listed_behind(self, words: Sequence[bytes], several: bool = True) -> Set[Table]:
        """The tables, separated by commas, behind the first of these words."""
        at = next((index for index, word in enumerate(self._lower) if word in words), None)
        if at is None:
            return set()
        at += 1
        while self._at(at) in (b"if", b"not", b"exists"):
            at += 1
        found: set[Table] = set()
        while (named := self._table(at))[0] is not None:
            found.add(named[0])
            at = named[1]
            if not several or self._at(at) != b",":
                break
            at += 1
        return found

    def locked(self) -> tuple[Set[Table], Set[Table]]:
        """The tables of LOCK TABLES: those to read, those to write."""
        reads: set[Table] = set()
        writes: set[Table] = set()
        at = 2
        while (named := self._table(at))[0] is not None:
            at = named[1]
            kinds = []
            while self._at(at) not in (b",", b""):
                kinds.append(self._at(at))
                at += 1
            (writes if b"write" in kinds else reads).add(named[0])
            at += 1
        return reads, writes

    def renamed(self) -> Set[Table]:
        """The tables of RENAME TABLE a TO b, c TO d."""
        found: set[Table] = set()
        at = 2
        while (named := self._table(at))[0] is not None:
            found.add(named[0])
            at = named[1] + 1
        return found

    def explained(self) -> Set[Table]:
        """The table of DESCRIBE, or those of the statement that is explained."""
        if self._at(1) in (
            b"select",
            b"update",
            b"delete",
            b"insert",
            b"replace",
            b"extended",
            b"format",
            b"analyze",
            b"partitions",
            b"with",
            b"(",
        ):
            return self._scan(0)
        return self.at(1)

    def at(self, at: int) -> Set[Table]:
        """The table that is named here, if one is."""
        table, _ = self._table(at)
        return set() if table is None else {table}

    def _at(self, at: int) -> bytes:
        return self._lower[at] if at < len(self._lower) else b""

    def _table(self, at: int) -> tuple[Table | None, int]:
        """The table named here, and what follows it."""
        first = self._name(at)
        if first is None:
            return None, at
        if self._at(at + 1) == b".":
            if (second := self._name(at + 2)) is not None:
                return (first, second), at + 3
            if self._at(at + 2) == LITERAL:
                # A name that could not be read: the one before it is of a database, and of no table.
                return None, at
        return (None, first), at + 1

    def _name(self, at: int) -> str | None:
        name = plain_name(self._words[at]) if at < len(self._words) else None
        return None if name is None else name.decode("utf-8", "replace")

    def _target_list(self, at: int) -> tuple[list[Table], int]:
        """The tables between DELETE and FROM, or FROM and USING, where `.*` may follow each."""
        found: list[Table] = []
        while (named := self._table(at))[0] is not None:
            found.append(named[0])
            at = named[1]
            if self._at(at) == b"." and self._at(at + 1) == b"*":
                at += 2
            if self._at(at) != b",":
                break
            at += 1
        return found, at

    def _tables_set(self, at: int) -> Set[Table]:
        """Those of several tables whose columns are set; which one an unqualified column is of, its definition alone tells."""
        qualifiers = self._set_qualifiers(at)
        if qualifiers is None:
            return self._top_level
        return {self._aliases.get(name, (None, name)) for name in qualifiers}

    def _set_qualifiers(self, at: int) -> set[str] | None:
        """The names before the columns that UPDATE ... SET sets; None where one has none."""
        names: set[str] = set()
        depth, expecting, in_set = 0, False, False
        for index in range(at, len(self._lower)):
            word = self._lower[index]
            depth += (word == b"(") - (word == b")")
            if depth == 0 and word == b"set" and not in_set:
                in_set = expecting = True
            elif in_set and depth == 0 and word in (b"where", b"order", b"limit"):
                break
            elif in_set and depth == 0 and word == b",":
                expecting = True
            elif expecting:
                expecting = False
                qualifier = self._qualifier(index)
                if qualifier is None:
                    return None
                names.add(qualifier)
        return names

    def _qualifier(self, at: int) -> str | None:
        """Of a column here: `a` of a.column, and of schema.a.column."""
        if self._at(at + 1) != b".":
            return None
        return self._name(at + 2 if self._at(at + 3) == b"." else at)

    def _scan(self, at: int, begin: int | None = None) -> Set[Table]:
        """The tables of all FROM and JOIN clauses from here on; at `begin` a list of tables begins without such a word."""
        self._top_level: set[Table] = set()
        found: set[Table] = set()
        # For each parenthesis: whether tables are listed in it, and whether one is due.
        levels = [_Level()]
        while at < len(self._lower):
            if at == begin:
                levels[-1].listing = levels[-1].due = True
            at = self._step(at, levels, found)
        return {table for table in found if not (table[0] is None and table[1].lower() in self._ctes)}

    def _step(self, at: int, levels: list[_Level], found: set[Table]) -> int:
        word, level = self._lower[at], levels[-1]
        if word == b"(":
            levels.append(self._entered(at, level))
        elif word == b")":
            if len(levels) > 1:
                levels.pop()
            levels[-1].due = False
        elif level.due and word not in _BEFORE_TABLE and word not in (b"select", b"with", b"values"):
            level.due = False
            return self._due_table(at, len(levels) == 1, found)
        elif word == b"with":
            self._note_cte(at + 1 + (self._at(at + 1) == b"recursive"))
        elif word == b"," and self._at(at + 1) and not level.listing:
            self._note_cte(at + 1)
        else:
            self._clause(at, level)
        return at + 1

    def _entered(self, at: int, level: _Level) -> _Level:
        """What holds inside of a parenthesis that opens here."""
        if level.due and self._at(at + 1) not in (b"select", b"with", b"values", b"table"):
            return _Level(listing=True, due=True)
        before = self._lower[at - 1] if at else b""
        return _Level(function=before in _FUNCTIONS_WITH_FROM)

    def _clause(self, at: int, level: _Level) -> None:
        """A word that begins, goes on with, or ends a list of tables."""
        word = self._lower[at]
        if self._at(at - 1) == b"for" and self._at(at - 2) in (b"index", b"key"):
            return
        if word == b"from":
            level.listing = level.due = not level.function
        elif word in _JOINS or word == b",":
            level.due = level.listing
        elif word == b"table" and (
            at == 0
            or self._lower[at - 1] in (b"(", b"as", b"union", b"all", b")")
            or self._lower[0] in (b"insert", b"replace")
        ):
            level.due = True
        elif word in _ENDS and not (word == b"for" and self._at(at - 1) in (b"index", b"key")):
            level.listing = level.due = False

    def _due_table(self, at: int, top: bool, found: set[Table]) -> int:
        table, end = self._table(at)
        # A function makes a table of its own: JSON_TABLE(...); DUAL is none, but for one that backticks call so.
        if table is None or self._at(end) == b"(" or (self._at(at) == b"dual" and end == at + 1):
            return end + (table is None)
        found.add(table)
        if top:
            self._top_level.add(table)
        alias = end + (self._at(end) == b"as")
        name = self._name(alias)
        if name is not None and self._at(alias) not in _NO_ALIAS:
            self._aliases[name] = table
            end = alias + 1
        else:
            self._aliases.setdefault(table[1], table)
        return end

    def _note_cte(self, at: int) -> None:
        """Remember what is named here if it is a CTE: name AS (, or name (columns) AS (."""
        name = self._name(at)
        end = at + 1
        if self._at(end) == b"(":
            end = self._closing(end) + 1
        if name is not None and self._at(end) == b"as" and self._at(end + 1) == b"(":
            self._ctes.add(name.lower())

    def _closing(self, at: int) -> int:
        """Where the first closing parenthesis from here on is; the end where there is none."""
        number = bisect_left(self._closings, at)
        return self._closings[number] if number < len(self._closings) else len(self._lower)

    @cached_property
    def _closings(self) -> Sequence[int]:
        """Where closing parentheses are, found once: a statement may have a name and an opening one behind each comma."""
        return [at for at, word in enumerate(self._lower) if word == b")"]


class _Level:
    """One parenthesis, or the statement itself."""

    __slots__ = ("due", "function", "listing")

    def __init__(self, listing: bool = False, due: bool = False, function: bool = False) -> None:
        self.listing, self.due, self.function = listing, due, function
