"""Indexes that a newer server makes shorter than they were: the files of the present one do not fit them, whatever is done there.

MySQL 8.0 and later take 255 bytes of a TINYTEXT or TINYBLOB into an index, and 5.5 and 5.6 as many as its characters may be: 765 of KEY (b(255)) in utf8.
CREATE TABLE succeeds with warning 1071 where sql_mode is not strict, and REPAIR, FORCE and CHECK TABLE end with error 1034.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from myisam_advisor.trial.private.driver import Connection
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql, quote_identifier, quote_table, sql_list, statement

TOO_LONG = 1071
# Of SHOW INDEX, as each version has them.
NON_UNIQUE, KEY_NAME, COLUMN_NAME, SUB_PART = 1, 2, 4, 7


@dataclass(frozen=True, slots=True)
class Shortened:
    """What the server warned of (`words`), and the statement that makes the indexes so on the present server."""

    words: str
    mend: Sql

    @property
    def remedy(self) -> str:
        """What to do before the upgrade."""
        return (
            f"The newer server makes this index shorter, and the files do not fit that: neither ALTER TABLE ... FORCE nor REPAIR TABLE helps. "
            f"Before the upgrade make it so: {self.mend} A column of TEXT instead of TINYTEXT keeps the whole index. Or take a dump (mysqldump): "
            "its index is made shorter when it is loaded."
        )


def shortened(connection: Connection, schema: str, table: str, definition: str) -> Shortened | None:
    """What the CREATE TABLE that this connection just ended with shortened; None where it did not."""
    with closing(connection.cursor()) as cursor:
        cursor.execute("SHOW WARNINGS")
        warnings = [f"warning {code}: {words}" for _, code, words in cursor.fetchall() if int(code) == TOO_LONG]
        if not warnings:
            return None
        cursor.execute(statement("SHOW INDEX FROM {}", quote_table(schema, table)))
        rows = list(cursor.fetchall())
    changes = list(_changes(rows, definition.splitlines()))
    if not changes:
        return None
    mend = statement("ALTER TABLE {} {};", quote_table(schema, table), sql_list(changes))
    return Shortened("; ".join(dict.fromkeys(warnings)), mend)


def _changes(rows: Sequence[Sequence[object]], lines: Sequence[str]) -> Iterator[Sql]:
    """What drops each index that is another by now, and makes it again as the server has it. One that is unique is refused, not shortened."""
    for name in dict.fromkeys(str(row[KEY_NAME]) for row in rows if int(str(row[NON_UNIQUE]))):
        parts = [_part(row) for row in rows if str(row[KEY_NAME]) == name]
        begin = str(statement("KEY {} (", quote_identifier(name)))
        before = next((line for line in lines if line.lstrip().startswith(begin)), None)
        if before is not None and any(part.endswith(")") and part not in before for part in map(str, parts)):
            quoted = quote_identifier(name)
            yield statement("DROP INDEX {}, ADD INDEX {} ({})", quoted, quoted, sql_list(parts))


def _part(row: Sequence[object]) -> Sql:
    name = quote_identifier(str(row[COLUMN_NAME]))
    return name if row[SUB_PART] is None else statement("{}({})", name, int(str(row[SUB_PART])))
