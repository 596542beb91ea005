"""Views, triggers and stored routines of the watched server that a workload's statements use: found there by SHOW CREATE, with the rights there are.

What a definition uses is told by the words in it that are names of tables, views and routines: rather too much than too little. One that cannot be seen
is told with its remedy, and the statements that need it are left out.

Source: MySQL and MariaDB manuals, "SHOW CREATE VIEW", "SHOW CREATE TRIGGER", "SHOW CREATE PROCEDURE", "SHOW TRIGGERS".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_advisor.texts.templates import object_name
from myisam_advisor.trial.statements.calls import plain
from myisam_advisor.trial.statements.survey import DEFINING
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.workload.tokens import tokens
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.granting import way_to
from myisam_exporter.server.sql import Sql, quote_identifier, quote_table, statement

if TYPE_CHECKING:
    from myisam_exporter.server.session import Session

VIEW, TRIGGER, PROCEDURE, FUNCTION = "view", "trigger", "procedure", "function"
MAXIMUM_DEFINITIONS, MAXIMUM_BYTES = 1000, 1 << 18
# Where SHOW CREATE has the definition, and the sql_mode that it was made under (views have none).
_COLUMNS = {
    VIEW: ("Create View", ""),
    TRIGGER: ("SQL Original Statement", "sql_mode"),
    PROCEDURE: ("Create Procedure", "sql_mode"),
    FUNCTION: ("Create Function", "sql_mode"),
}
_OF_ROUTINES = "SELECT ON mysql.proc, or SHOW_ROUTINE ON *.* on MySQL 8"
_RIGHTS = {VIEW: "SHOW VIEW, SELECT", TRIGGER: "TRIGGER", PROCEDURE: _OF_ROUTINES, FUNCTION: _OF_ROUTINES}
_QUOTED = r'(?:`(?:[^`]|``)*`|"(?:[^"]|"")*")'
_DEFINER = re.compile(
    rf"(CREATE\s+(?:ALGORITHM\s*=\s*\w+\s+)?)DEFINER\s*=\s*{_QUOTED}(?:@{_QUOTED})?\s+"
    r"(?=(?:SQL\s+SECURITY\s+\w+\s+|AGGREGATE\s+)?(?:VIEW|TRIGGER|PROCEDURE|FUNCTION)\b)",
    re.IGNORECASE,
)
SYSTEM_SCHEMAS = frozenset(("mysql", "sys", "information_schema", "performance_schema"))
_NAME = re.compile(rb"[`\w]", re.ASCII)
_WRITES = frozenset((b"insert", b"update", b"delete", b"replace", b"truncate", b"load"))


@dataclass(frozen=True, slots=True)
class Definition:
    """A view, trigger or routine. `create` is without its definer, "" where it cannot be had, and `problem` says why then.

    `table` is what a trigger is on; `uses` are the tables, views and routines that it names; `writes` says whether it changes rows.
    """

    kind: str
    schema: str
    name: str
    create: str = ""
    sql_mode: str = ""
    table: str = ""
    uses: tuple[TableName, ...] = ()
    writes: bool = False
    problem: str = ""

    @property
    def key(self) -> TableName:
        """Its name with its database; names of routines have no case."""
        return (self.schema, self.name.lower() if self.kind in (PROCEDURE, FUNCTION) else self.name)

    @property
    def label(self) -> str:
        """What to call it."""
        return f"{self.kind} {object_name(self.schema, self.name)}"


@dataclass(frozen=True, slots=True)
class Found:
    """The definitions, the tables that they name beside the workload's own, and what is not known of them."""

    definitions: tuple[Definition, ...]
    tables: frozenset[TableName]
    notes: tuple[str, ...] = ()


def find_definitions(session: Session, tables: Iterable[TableName], called: Iterable[TableName]) -> Found:
    """All that statements on these tables and views, and calls of these routines, use."""
    return _Search(session).found(set(tables), {(schema, name.lower()) for schema, name in called})


class _Search:
    """Goes from names to definitions, and from the names in these on, until there is nothing new."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kinds: dict[str, dict[str, str]] = {}
        self._routines: dict[TableName, tuple[str, str]] = {}
        self._triggers: dict[TableName, list[str]] = {}
        self._seen: dict[tuple[str, str, str], Definition] = {}
        rows = session.rows_or_unknown("SHOW DATABASES", 1)
        names = {row[0] or "" for row in rows} if not isinstance(rows, Unknown) else set[str]()
        # Nothing of the server's own databases is taken over: whoever sends has all rights in the databases of what is.
        self._schemas = {name for name in names if name.lower() not in SYSTEM_SCHEMAS}

    def found(self, tables: set[TableName], called: set[TableName]) -> Found:
        open_names, known = [*tables, *called], tables | called
        base: set[TableName] = set()
        while open_names and len(self._seen) < MAXIMUM_DEFINITIONS:
            schema, name = open_names.pop()
            if schema not in self._schemas:
                continue
            self._look_into(schema)
            if self._kinds[schema].get(name, VIEW) != VIEW:
                base.add((schema, name))
            for definition in self._of(schema, name):
                further = [one for one in definition.uses if one not in known]
                known.update(further)
                open_names += further
        return Found(tuple(self._seen.values()), frozenset(base), tuple(self._notes()))

    def _look_into(self, schema: str) -> None:
        """What there is in a database: tables and views, routines, triggers by table."""
        if schema in self._kinds:
            return
        ask, name = self._session.rows_or_unknown, quote_identifier(schema)
        rows = ask(statement("SHOW FULL TABLES FROM {}", name), 2)
        self._kinds[schema] = {row[0] or "": row[1] or "" for row in rows} if not isinstance(rows, Unknown) else {}
        self._kinds[schema] = {one: VIEW if kind == "VIEW" else kind for one, kind in self._kinds[schema].items()}
        routines = ask(
            "SELECT ROUTINE_NAME, ROUTINE_TYPE FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = %s", 2, arguments=(schema,)
        )  # fmt: skip
        for row in routines if not isinstance(routines, Unknown) else ():
            self._routines[schema, (row[0] or "").lower()] = ((row[1] or "").lower(), row[0] or "")
        for record in self._records(statement("SHOW TRIGGERS FROM {}", name)):
            self._triggers.setdefault((schema, record.get("Table") or ""), []).append(record.get("Trigger") or "")

    def _of(self, schema: str, name: str) -> Iterator[Definition]:
        """What the name stands for, or is set off by it."""
        if self._kinds[schema].get(name) == VIEW:
            yield self._shown(VIEW, schema, name)
        for trigger in self._triggers.get((schema, name), ()):
            yield self._shown(TRIGGER, schema, trigger, name)
        kind, exact = self._routines.get((schema, name.lower()), ("", ""))
        if kind in (PROCEDURE, FUNCTION):
            yield self._shown(kind, schema, exact)

    def _shown(self, kind: str, schema: str, name: str, table: str = "") -> Definition:
        key = (kind, schema, name)
        if key not in self._seen:
            self._seen[key] = self._asked(kind, schema, name, table)
        return self._seen[key]

    def _asked(self, kind: str, schema: str, name: str, table: str) -> Definition:
        text, mode = _COLUMNS[kind]
        records = self._records(_show(kind, quote_table(schema, name)))
        create = (records[0].get(text) or "") if records else ""
        label = f"{kind} {object_name(schema, name)}"
        if not create:
            return Definition(
                kind, schema, name, table=table, problem=f"the {label} may not be seen (GRANT {_RIGHTS[kind]})"
            )
        bare = without_definer(create)
        if not bare or len(create) > MAXIMUM_BYTES:
            return Definition(
                kind,
                schema,
                name,
                table=table,
                problem=f"the definition of the {label} is of a form that is not known here",
            )
        words = tokens(create.encode("utf-8", "surrogateescape"), MAXIMUM_BYTES)
        untold = does_untold(words) if kind in (PROCEDURE, FUNCTION) else ""
        if untold:
            return Definition(kind, schema, name, problem=f"the {label} {untold}")
        return Definition(
            kind, schema, name, bare, records[0].get(mode) or "" if mode else "", table, tuple(self._named(words, schema, name)),
            bool(_WRITES & {word.lower() for word in words}),
        )  # fmt: skip

    def _named(self, words: Sequence[bytes], schema: str, own: str) -> Iterator[TableName]:
        """The names of tables, views and routines among the words of a definition."""
        names = [plain(word) for word in words]
        pairs = {
            (before, name)
            for before, dot, name in zip(names, names[1:], names[2:], strict=False)
            if dot == "." and before in self._schemas
        }
        for one in sorted({*((schema, name) for name in names), *pairs}):
            self._look_into(one[0])
            is_known = one[1] in self._kinds[one[0]] or (one[0], one[1].lower()) in self._routines
            if is_known and one[1] != own:
                yield one

    def _records(self, asked: str) -> list[dict[str, str | None]]:
        records = self._session.records_or_unknown(asked)
        return [] if isinstance(records, Unknown) else records

    def _notes(self) -> Iterator[str]:
        unseen = [one for one in self._seen.values() if one.problem]
        if unseen:
            yield f"{len(unseen)} views, triggers and stored routines cannot be had: {'; '.join(one.problem for one in unseen[:3])}."


def does_untold(words: Sequence[bytes]) -> str:
    """What a routine of these words does that a replay cannot undo: it changes definitions of tables, or runs what its words do not tell; empty where it does not."""
    lower = [word.lower() for word in words] + [b""] * 3
    for place in range(1, len(words)):
        before, word, *behind = lower[place - 1 : place + 4]
        if before == b".":
            continue  # a column
        following = behind[2] if behind[:2] == [b"or", b"replace"] else behind[0]
        if word in DEFINING and following not in (b"temporary", b"prepare"):
            return "changes definitions of tables"
        if word == b"execute" and before not in (b"declare", b",") and _NAME.match(behind[0]):
            return "runs prepared statements, which its words do not tell"
    return ""


def without_definer(create: str) -> str:
    """A definition as nobody's own; nothing for one that is no view, trigger or routine, or has no definer."""
    found = _DEFINER.match(create)
    return found[1] + create[found.end() :] if found else ""


def _show(kind: str, name: Sql) -> Sql:
    return {
        VIEW: statement("SHOW CREATE VIEW {}", name),
        TRIGGER: statement("SHOW CREATE TRIGGER {}", name),
        PROCEDURE: statement("SHOW CREATE PROCEDURE {}", name),
        FUNCTION: statement("SHOW CREATE FUNCTION {}", name),
    }[kind]


def unseen_triggers(directory: Path, sources: Iterable[Source], known: Iterable[Definition]) -> Iterator[Definition]:
    """Triggers of copied tables that have a file (MySQL before 8, MariaDB), and are shown to us by no statement."""
    seen = {(one.schema, one.table) for one in known if one.kind == TRIGGER}
    for source in sources:
        if (source.schema, source.table) not in seen and (directory / source.folder / f"{source.stem}.TRG").exists():
            problem = f"{source.label} has triggers that may not be seen (GRANT {_RIGHTS[TRIGGER]})"
            yield Definition(TRIGGER, source.schema, "", table=source.table, problem=problem)


def trigger_notes(session: Session) -> Iterator[str]:
    """Whether triggers may be there that nobody shows us, where no file tells of them (MySQL 8 and later)."""
    if not session.version.at_least(mysql=(8, 0), mariadb=(99, 0)):
        return
    asked = " UNION ALL ".join(
        f"SELECT 1 FROM information_schema.{kind}_PRIVILEGES WHERE PRIVILEGE_TYPE = 'TRIGGER'" for kind in ("USER", "SCHEMA", "TABLE")
    )  # fmt: skip
    rows = session.rows_or_unknown(asked, 1)
    if isinstance(rows, Unknown) or not rows:
        way = way_to("TRIGGER ON *.*", session.account(), "an administrator's, such as --user root").rstrip(";")
        yield f"Whether the tables have triggers is not known: {way}."
