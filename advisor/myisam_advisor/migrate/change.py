"""One thing that means another afterwards, the table that it is said of, and the copy on which a statement shows it.

A statement that may change rows works on an empty temporary table LIKE the one in question (docs/decisions/037-migrations-from-files.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from myisam_advisor.migrate.server_kind import INNODB, ServerKind
from myisam_advisor.texts.lists import listed
from myisam_advisor.texts.templates import object_name
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Structure
from myisam_exporter.server.sql import Sql, quote_identifier, quote_table, sql_list, statement

TableName = tuple[str, str]
NO_STATEMENT = statement("")
MOST_NAMED = 10  # MERGE tables


@dataclass(frozen=True, slots=True)
class Change:
    """Something that succeeds, and means another thing. Without a statement ("") it shows in no single one. `merged` is the MERGE table that it is about, if any."""

    id: str
    what: str
    statement: Sql = NO_STATEMENT
    merged: TableName | None = None


def loses_member(merged: Sequence[TableName]) -> str:
    """What becomes of the MERGE tables of which a table is a member."""
    if len(merged) == 1:
        return f"The MERGE table {object_name(*merged[0])} loses this member: every statement on it fails with error 1168 from then on."
    named = listed([object_name(*one) for one in merged], MOST_NAMED)
    return f"The MERGE tables {named} lose this member: every statement on them fails with error 1168 from then on."


def told_together(changes: Sequence[Change]) -> list[Change]:
    """For people: of many MERGE tables over the same member one sentence. Programs have each by itself."""
    of_merges = [change for change in changes if change.merged]
    if len(of_merges) < 2:
        return list(changes)
    names = [change.merged for change in of_merges if change.merged]
    once = Change(of_merges[0].id, loses_member(names), of_merges[0].statement)
    place = changes.index(of_merges[0])
    rest = [change for change in changes[place:] if not change.merged]
    return [*changes[:place], once, *rest]


@dataclass(frozen=True, slots=True)
class Subject:
    """The table, where it is, what it goes to, the MERGE tables that it is a member of, and whether myisampack packed it.

    `kind` is the server that it means another thing on, `here` the one that it is on where that is another.
    """

    name: TableName
    structure: Structure
    to: str
    kind: ServerKind
    merged_in: Sequence[TableName] = ()
    here: ServerKind | None = None
    packed: bool = False

    @property
    def present(self) -> ServerKind:
        """The server that the table is on."""
        return self.here or self.kind

    @property
    def table(self) -> Sql:
        """Its name as a statement has it."""
        return quote_table(*self.name)

    @property
    def shown(self) -> Sql:
        """The name of its temporary copy, with the database: none may be selected."""
        return quote_table(self.name[0], "shown" if self.name[1] != "shown" else "shown_copy")

    @property
    def no_copy_yet(self) -> Sql:
        """What takes the copy away that a statement before this one made in the same connection."""
        return statement("DROP TEMPORARY TABLE IF EXISTS {};", self.shown)

    @property
    def base_columns(self) -> Sql:
        """All columns but those that the server computes."""
        return sql_list(quote_identifier(column.name) for column in self.structure.columns if not column.generated)

    @property
    def has_words(self) -> bool:
        """Whether it has FULLTEXT indexes."""
        return bool(self.structure.of_kind(types.FULLTEXT))


def on_copy(subject: Subject, then: Sql) -> Sql:
    """A statement that may change rows, on an empty table of the same kind that only its connection sees.

    A partitioned one has no such copy, and that of a MERGE table would have its members: an INSERT into it wrote into one.
    InnoDB has no FULLTEXT index in a temporary table (error 1796): the copy of a table with one has the engine, and no index.
    A table of generated columns alone has none either: there is nothing to fill it with.
    """
    if subject.structure.partitioned or subject.structure.engine == "MRG_MyISAM" or not subject.base_columns:
        return NO_STATEMENT
    if subject.has_words and subject.to == INNODB:
        return statement(
            "{} CREATE TEMPORARY TABLE {} ENGINE=InnoDB SELECT {} FROM {} LIMIT 0; {}",
            subject.no_copy_yet,
            subject.shown,
            subject.base_columns,
            subject.table,
            then,
        )
    return statement(
        "{} CREATE TEMPORARY TABLE {} LIKE {}; {}", subject.no_copy_yet, subject.shown, subject.table, then
    )


def filled(subject: Subject) -> Sql:
    """The beginning of what takes rows over, from the table as `one`: into all columns but those that the server computes."""
    columns = subject.structure.columns
    if not any(column.generated for column in columns):
        return statement("INSERT INTO {} SELECT one.* FROM {} AS one", subject.shown, subject.table)
    names = subject.base_columns
    return statement("INSERT INTO {} ({}) SELECT {} FROM {} AS one", subject.shown, names, names, subject.table)
