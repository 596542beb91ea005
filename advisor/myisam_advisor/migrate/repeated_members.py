"""ENUM and SET columns of which two members are one to the collation: made without a strict sql_mode, refused by any ALTER under one (1291).

Which members are one only the server's own collation tells ('y' and 'ü' are in latin1_swedish_ci): it is asked, of lists that can hold such members, and
opens no table for it. Source: sql/sql_table.cc (check_duplicates_in_interval); tried on MySQL 5.5, 5.6, 8.0 and 9.7, MariaDB 10.5, 10.11 and 11.8, to InnoDB and to Aria.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from myisam_advisor.migrate.misread_members import members_read, misread_columns, way_out
from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.server_kind import MemberList, ServerKind
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.texts.lists import listed
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.structure import Column, Structure
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import Sql, plain_words, sql_list, statement

REPEATED = 1291
# Of all tables together; of what is not asked only members that are the same to the byte are told.
MOST_LISTS = 5_000
# From here on collations of MariaDB may belong to several character sets, and have numbers with each.
NUMBERS_BY_SET_SINCE = (10, 10)
_NAME = re.compile(r"[a-z0-9_]+", re.ASCII)


def with_repeated_members(kind: ServerKind, tables: Sequence[FoundTable], session: Session) -> ServerKind:
    """The same server, by what it says of the members of these tables' columns."""
    lists = list(
        dict.fromkeys(
            (column.collation, members)
            for one in tables
            for column in one.structure.columns
            for members in (column.members, column.misread_members)
            if members
        )
    )
    names = _names(kind, session) if lists else {}
    asked = sorted((one for one in lists if one[0] in names), key=_differs_in_more_than_capitals)[:MOST_LISTS]
    return replace(kind, repeated_members=frozenset(one for one in asked if _repeats(one, names[one[0]], session)))


def refused_members(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Looked at before defaults and indexes."""
    if not kind.strict:
        return
    found = [column.name for column in structure.columns if _is_repeated(column, kind)]
    misread = misread_columns(structure, kind)
    if found and misread:
        yield Refusal(
            REPEATED,
            f"of the members of {listed(found)}, as {kind.label} reads them, two are one to the collation, and sql_mode is strict",
            f"Without a strict sql_mode values would be lost. {way_out(misread, table)}",
        )
    elif found:
        yield Refusal(
            REPEATED,
            f"of the members of {listed(found)} two are one to the collation, and sql_mode is strict",
            "Run the ALTER with an sql_mode that is not strict. Or UPDATE rows to the first of the two, and MODIFY the column without the other.",
        )


def _is_repeated(column: Column, kind: ServerKind) -> bool:
    members = members_read(column, kind)
    return len(set(members)) < len(members) or (column.collation, members) in kind.repeated_members


def _differs_in_more_than_capitals(one: MemberList) -> bool:
    return len({member.lower() for member in one[1]}) == len(one[1])


def _names(kind: ServerKind, session: Session) -> dict[int, tuple[str, str]]:
    """Character set and name of each collation, by its number."""
    question = "SELECT ID, CHARACTER_SET_NAME, COLLATION_NAME FROM information_schema.COLLATIONS"
    if kind.is_mariadb and kind.version >= NUMBERS_BY_SET_SINCE:
        question = "SELECT ID, CHARACTER_SET_NAME, FULL_COLLATION_NAME FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY"
    rows = session.rows_or_unknown(question, 3)
    found = {}
    for number, charset, name in [] if isinstance(rows, Unknown) else rows:
        key = whole_number(number)
        if key is not None and charset and name and _NAME.fullmatch(charset) and _NAME.fullmatch(name):
            found[key] = charset, name
    return found


def _repeats(one: MemberList, names: tuple[str, str], session: Session) -> bool:
    """Of members that are read cut in half, the rest of a character at the end is compared by its bytes, and has no literal."""
    width = character_set(one[0])[1]
    by_rest: dict[bytes, list[bytes]] = {}
    for member in one[1]:
        whole = len(member) // width * width
        by_rest.setdefault(member[whole:], []).append(member[:whole])
    return any(_are_one(members, names, session) for members in by_rest.values() if len(members) > 1)


def _are_one(members_of_one_rest: Sequence[bytes], names: tuple[str, str], session: Session) -> bool:
    charset, collation = names
    first, *others = (_literal(charset, member) for member in members_of_one_rest)
    members = sql_list((statement("{} AS member", first), *others), " UNION ALL SELECT ")
    question = statement(
        "SELECT COUNT(member) - COUNT(DISTINCT member COLLATE {}) FROM (SELECT {}) AS members",
        plain_words(collation), members,
    )  # fmt: skip
    rows = session.rows_or_unknown(question, 1)
    return not isinstance(rows, Unknown) and any((whole_number(row[0]) or 0) > 0 for row in rows)


def _literal(charset: str, member: bytes) -> Sql:
    if not member:
        return statement("{} ''", plain_words(f"_{charset}"))
    return plain_words(f"_{charset} 0x{member.hex()}")
