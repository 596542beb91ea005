"""Names that lead to a file by what it is called (#mysql50#NAME): later MariaDB servers change no such table, nor reach one whose file's name has codes.

Tried: MySQL 5.5 and 5.6 and MariaDB 10.5 take each of them, in ALTER too; MariaDB 10.11 and 11.8 refuse them. MySQL 8.0 and later have no such tables.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import TableName
from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.files.file_names import OLD_NAME_PREFIX, listed_as
from myisam_exporter.server.sql import quote_table, statement

# What 10.6 to 10.10 do was not tried.
REFUSED_SINCE = (10, 11)
WRONG_DATABASE, WRONG_TABLE = 1102, 1103


def refused_names(name: TableName, here: ServerKind) -> Iterator[Refusal]:
    """At most one, in the order of the server: a table that no name leads to, such a database, a table of before 5.1."""
    if not here.is_mariadb or here.version < REFUSED_SINCE:
        return
    schema, table = name
    if listed_as(table) != table:
        yield _unreachable(WRONG_TABLE, table)
    elif listed_as(schema) != schema:
        yield _unreachable(WRONG_DATABASE, schema)
    elif table.startswith(OLD_NAME_PREFIX):
        plain = quote_table(schema, table[len(OLD_NAME_PREFIX) :])
        why = "its files are named as before 5.1, and no ALTER takes such a table"
        yield Refusal(WRONG_TABLE, why, statement("RENAME TABLE {} TO {};", quote_table(*name), plain))


def _unreachable(code: int, name: str) -> Refusal:
    file = name[len(OLD_NAME_PREFIX) :]
    why = f"the server lists {file} as {listed_as(name)}, which does not lead there, as it would write that name otherwise; no name does"
    return Refusal(code, why, f"Move {file} out of the data directory: it may be a copy, or have been renamed by hand.")
