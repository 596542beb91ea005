"""A FLOAT(M,D) at its limit: MariaDB refuses in a copy what it took in an INSERT, MySQL refuses the default that it took.

99999999.99 in a FLOAT(10,2) is 100000000 in four bytes. Strict, MariaDB ends each copy of such a row with error 1264, whoever put it there, and
whatever stands before it. Tried on MariaDB 10.5, 10.11 and 11.8, to InnoDB and to Aria; MySQL 5.5, 5.6, 8.0 and 9.7 copy it as it is. As a default
MySQL from 5.6 on refuses it in every ALTER (1264 in 5.6, 1067 in 8.0 and 9.7; 5.7 was not tried), 5.5 and MariaDB do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.texts.lists import listed
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Structure
from myisam_exporter.server.sql import Sql, quote_identifier, sql_list, statement

REFUSED_SINCE = (5, 6)
NO_FRACTIONS_SINCE, FRACTIONS = (8, 4), frozenset({types.FLOAT, types.DOUBLE})


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


def refused_limits(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Such a default, where sql_mode is strict."""
    names = [column.name for column in structure.columns if column.limit_default]
    if names and kind.strict and not kind.is_mariadb and kind.version >= REFUSED_SINCE:
        dropped = sql_list(statement("ALTER COLUMN {} DROP DEFAULT", quote_identifier(name)) for name in names)
        yield Refusal(
            1264 if kind.version == REFUSED_SINCE else 1067,
            f"the default of {listed(names)} is the largest value, of which four bytes make a larger one",
            statement("ALTER TABLE {} {};", table, dropped) + " Or: Run the ALTER without a strict sql_mode.",
        )


def refused_counters(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """AUTO_INCREMENT of a fraction, which MySQL 8.0 takes and 9.7 refuses: the manual of 8.4 says that it is gone (the server tried was 9.7)."""
    names = [column.name for column in structure.columns if column.auto_increment and column.type in FRACTIONS]
    if names and not kind.is_mariadb and kind.version >= NO_FRACTIONS_SINCE:
        yield Refusal(
            1063,
            f"{names[0]} counts in fractions (FLOAT or DOUBLE), and {kind.label} has no such AUTO_INCREMENT",
            statement("ALTER TABLE {} MODIFY {} BIGINT NOT NULL AUTO_INCREMENT;", table, quote_identifier(names[0])),
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
