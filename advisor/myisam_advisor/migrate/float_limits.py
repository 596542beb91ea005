"""Rows of a FLOAT(M,D) at its limit: MariaDB refuses in a copy what it took in an INSERT.

99999999.99 in a FLOAT(10,2) is 100000000 in four bytes. Strict, each copy of such a row ends with error 1264, whoever put it there, and whatever
stands before it. Tried on MariaDB 10.5, 10.11 and 11.8, to InnoDB and to Aria; MySQL 5.5, 5.6, 8.0 and 9.7 copy it as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.texts.lists import listed
from myisam_exporter.files.structure import Column, Structure
from myisam_exporter.server.sql import Sql, quote_identifier, sql_list, statement


def refused_floats(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Rows that stop the copy, where sql_mode is strict (1264)."""
    names = [column.name for column in _at_limit(structure)]
    if names and kind.is_mariadb and kind.strict:
        yield Refusal(
            1264,
            f"a row with the largest value of {listed(names)} stops the copy, as four bytes make a larger one of it",
            "Without a strict sql_mode the copy takes such rows over as they are.",
            may=True,
        )


def rows_at_limit(structure: Structure, table: Sql) -> Sql:
    """The statement that counts such rows."""
    beyond = (
        statement("COALESCE(ABS({}) > {}, 0)", quote_identifier(column.name), column.float_limit)
        for column in _at_limit(structure)
    )
    return statement("SELECT COUNT(*) FROM {} WHERE 1 IN ({});", table, sql_list(beyond))


def _at_limit(structure: Structure) -> list[Column]:
    return [column for column in structure.columns if column.float_limit and not column.generated]
