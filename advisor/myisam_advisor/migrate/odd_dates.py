"""Dates that sql_mode refuses, as defaults and in rows: 0000-00-00, 2010-00-00, and those that no calendar has.

Sources: manuals, "Server SQL Modes"; sql-common/my_time.c (check_date), sql/field_conv.cc (get_copy_func). Each kind of date was tried as a default and
in a row with ten values of sql_mode on MySQL 5.5, 5.6, 8.0 and 9.7, MariaDB 10.5, 10.11, 11.4 and 11.8, to InnoDB and to Aria.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change, Subject
from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.texts.lists import listed
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Structure
from myisam_exporter.server.sql import Sql, quote_identifier, sql_list, statement

ZERO, PARTLY, IMPOSSIBLE = "0000-00-00", "2010-00-00", "2010-02-30"
NO_ZERO, NO_PART, ANY_DAY = "NO_ZERO_DATE", "NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES"
# What of sql_mode has the copy take a date over as it is.
LIFTED = {ZERO: f"without {NO_ZERO}", PARTLY: f"without {NO_PART}", IMPOSSIBLE: f"with {ANY_DAY}"}
# MySQL from here on refuses zeros in defaults only where sql_mode is strict; MariaDB always does.
LENIENT_SINCE = (5, 6)


def refused_defaults(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Defaults that an ALTER may not write again (1067). What drops one drops all: it would be refused for the others."""
    zeros = frozenset() if _is_lenient(kind) else kind.date_modes
    columns = structure.columns
    rules = (
        (NO_ZERO in zeros, [one for one in columns if one.zero_default], ZERO, NO_ZERO, f"without {NO_ZERO}"),
        (NO_PART in zeros, [one for one in columns if one.partly_zero_default], "a date without a month or a day", NO_PART, f"without {NO_PART}"),
        (ANY_DAY not in kind.date_modes, [one for one in columns if one.impossible_default], "a date that no calendar has", f"it lacks {ANY_DAY}", f"with {ANY_DAY}"),
    )  # fmt: skip
    found = [(of, what, mode, mend) for refused, of, what, mode, mend in rules if refused and of]
    drop = _dropped([column for of, *_ in found for column in of], kind, table)
    for of, what, mode, mend in found:
        yield Refusal(
            1067,
            f"the default of {listed([column.name for column in of])} is {what}, which sql_mode refuses ({mode})",
            f"{drop}Run the ALTER with an sql_mode {mend}.",
        )


def _is_lenient(kind: ServerKind) -> bool:
    """Whether it takes zeros in defaults whatever sql_mode says of them."""
    return not (kind.strict or kind.is_mariadb or kind.version < LENIENT_SINCE)


def _dropped(columns: list[Column], kind: ServerKind, table: Sql) -> str:
    """What takes the defaults away. MySQL 5.5 gives a TIMESTAMP its 0000-00-00 again, and refuses that."""
    old = not kind.is_mariadb and kind.version < LENIENT_SINCE
    if old and any(column.type == types.TIMESTAMP for column in columns):
        return ""
    dropped = sql_list(statement("ALTER COLUMN {} DROP DEFAULT", quote_identifier(column.name)) for column in columns)
    return statement("ALTER TABLE {} {};", table, dropped) + " Or: "


def refused_dates(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Dates in rows that stop the copy, where sql_mode is strict (1292)."""
    what = _refused(kind) if kind.strict else []
    names = _columns(structure, what)
    if names:
        yield Refusal(
            1292,
            f"a row with {' or '.join(what)} in {listed(names)} stops the copy: may fail at the first such row",
            f"With an sql_mode {' and '.join(LIFTED[date] for date in what)} the copy takes such rows over as they are.",
            may=True,
        )


def lost_dates(subject: Subject) -> Iterator[Change]:
    """The same where sql_mode is not strict: they are lost, of defaults too where these do not stop it. 0000-00-00 stays what it is."""
    kind, structure = subject.kind, subject.structure
    partly = [column.name for column in structure.columns if column.partly_zero_default]
    if partly and NO_PART in kind.date_modes and _is_lenient(kind):
        yield Change(
            "default-lost",
            f"The default of {listed(partly)}, a date without a month or a day, becomes {ZERO}, as by any ALTER, with a warning only; no way back gives it. "
            f"Run the ALTER with an sql_mode {LIFTED[PARTLY]}.",
            statement("SHOW CREATE TABLE {};", subject.table),
        )
    lost = [] if kind.strict else [text for text in _refused(kind) if text != ZERO]
    if _columns(structure, lost):
        yield Change(
            "dates-lost",
            f"A date such as {' or '.join(lost)} becomes {ZERO} in the copy, with a warning only.",
            _counted(structure, lost, subject.table),
        )


def _refused(kind: ServerKind) -> list[str]:
    """Which dates the copy does not take over as they are."""
    modes = kind.date_modes
    # MariaDB looks at them only where it looks for zeros.
    looks = not kind.is_mariadb or NO_ZERO in modes or NO_PART in modes
    rules = ((ZERO, NO_ZERO in modes), (PARTLY, NO_PART in modes), (IMPOSSIBLE, looks and ANY_DAY not in modes))
    return [text for text, refused in rules if refused]


def _columns(structure: Structure, dates: list[str]) -> list[str]:
    """Those that can hold one of the dates: a TIMESTAMP holds 0000-00-00 alone, and as before MySQL 5.6 it is taken over."""
    kinds = types.DATES - {types.TIMESTAMP} if ZERO in dates else types.DATES - {types.TIMESTAMP, types.TIMESTAMP2}
    return [column.name for column in structure.columns if dates and column.type in kinds]


def rows_of(structure: Structure, kind: ServerKind, table: Sql) -> Sql:
    """The statement that counts rows with a date that the copy does not take over as it is."""
    return _counted(structure, _refused(kind), table)


def _counted(structure: Structure, dates: list[str], table: Sql) -> Sql:
    names = [quote_identifier(name) for name in _columns(structure, dates)]
    found = sql_list(_is_such(date, name) for date in dates for name in names)
    return statement("SELECT COUNT(*) FROM {} WHERE 1 IN ({});", table, found)


def _is_such(date: str, name: Sql) -> Sql:
    """What is 1 of such a date, 0 of any other, and NULL of NULL."""
    if date == ZERO:
        return statement("YEAR({}) + MONTH({}) + DAYOFMONTH({}) = 0", name, name, name)
    if date == PARTLY:
        return statement("0 IN (MONTH({}), DAYOFMONTH({})) AND {} + 0 <> 0", name, name, name)
    return statement(
        "0 NOT IN (MONTH({}), DAYOFMONTH({})) AND DAYOFMONTH({}) <> DAYOFMONTH(FROM_DAYS(TO_DAYS({})))",
        name,
        name,
        name,
        name,
    )
