"""Which table a user means: the one of that name, or what is wrong with the name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from myisam_advisor.texts.near import did_you_mean
from myisam_advisor.texts.table_names import possible_names
from myisam_advisor.texts.templates import count, object_name
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import TableName
from myisam_exporter.files.data_directory import SYSTEM_SCHEMAS
from myisam_exporter.server.sql import quote_table

if TYPE_CHECKING:
    from myisam_advisor.catalogue.site import Site
    from myisam_advisor.cli.options import ServerOptions, SourceOptions
    from myisam_advisor.judging.findings import Blind

# Of one table by its name, and of its engine alone: the server reads the definition, and opens no table of a user.
ENGINE = "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"


def chosen_table(text: str, known: Collection[TableName], *, folds: bool) -> TableName | None:
    """The known table that the text names; None where there is none of that name.

    `folds`: small letters and capitals are the same to the server (lower_case_table_names).

    Raises UserError for a name without a database, and for one that stands for several tables.
    """
    possible = possible_names(text)
    if not possible:
        if text in {schema for schema, _ in known}:
            raise UserError(
                f"{text!r} is a database and names no table: write DATABASE.TABLE.{_example_of(text, known)}"
            )
        same = [object_name(*name) for name in known if name[1] == text]
        hint = did_you_mean(same[0] if same else text, same or (object_name(*name) for name in known))
        raise UserError(f"{text!r} names no database: write DATABASE.TABLE.{hint}")
    if folds:
        meant = {_small(name) for name in possible}
        found = [name for name in known if _small(name) in meant]
    else:
        found = [name for name in possible if name in known]
    if len(found) > 1 and "`" not in text:
        spelled = " or ".join(quote_table(*name) for name in found)
        raise UserError(f"{text} may be several tables: write {spelled} (between single quotes, for the shell).")
    return found[0] if found else None


def _small(name: TableName) -> TableName:
    return name[0].lower(), name[1].lower()


def _example_of(schema: str, known: Collection[TableName]) -> str:
    """A table of the database, as an example of how it is written."""
    return f" For example {object_name(*min(name for name in known if name[0] == schema))}."


def no_such_table(
    text: str, known: Collection[TableName], source: SourceOptions, site: Site, blind_spots: Sequence[Blind]
) -> UserError:
    """Why nothing is known of it: it is another engine's, the server's own, ignored here, out of sight, or not there."""
    possible = possible_names(text)
    for schema, _ in possible:
        if schema in SYSTEM_SCHEMAS:
            return UserError(f"{text} is one of the server's own tables: they are left out.")
        if site.ignores(schema):
            return UserError(f"the configuration ignores the database {schema}: nothing is known of {text}.")
    engine = None if source.facts_file else _engine_of(possible, source.server)
    if engine and engine.lower() != "myisam":
        return UserError(
            f"{text} is a table of {engine}: this program knows MyISAM tables only, and nothing of this one."
        )
    blind = next((spot for spot in blind_spots if spot.what == "tables"), None)
    if engine or (blind and not known):
        among = f"is not among the {count(len(known))} tables that can be seen" if known else "cannot be seen"
        why = f" {blind.why.rstrip('.')}." if blind else ""
        remedy = f" Remedy: {blind.remedy}." if blind and blind.remedy else ""
        return UserError(f"{text} {among} from here.{why}{remedy}")
    where = "in the facts file" if source.facts_file else "on this server"
    near = did_you_mean(text, (object_name(*name) for name in known))
    return UserError(f"there is no MyISAM table {text} {where}.{near} `myisam-advisor facts tables` lists them.")


def _engine_of(possible: Sequence[TableName], server: ServerOptions) -> str | None:
    """The engine that the server names; None where there is no such table, it is a view, or the server does not tell."""
    from myisam_exporter.facts.unknown import Unknown
    from myisam_exporter.server.session import Session

    with Session(server.target(), server.timeout_seconds) as session:
        for name in possible:
            rows = session.rows_or_unknown(ENGINE, 1, arguments=name)
            if not isinstance(rows, Unknown) and rows and rows[0][0]:
                return rows[0][0]
    return None
