"""The statement that moves a table to another engine, and a sum over its rows that all engines compute alike."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql, quote_identifier, sql_list, statement

INNODB, ARIA = "InnoDB", "Aria"
# MariaDB's copies to InnoDB: sorted, in files of tmpdir, or row by row.
UNSORTED_COPIES = statement("SET GLOBAL innodb_alter_copy_bulk = OFF;")


@dataclass(frozen=True, slots=True)
class SummedColumn:
    """A column whose values are summed up. `needs_hex`: not every server gives a CRC32 of such values as they stand. `short_year`: it is a YEAR(2), or was."""

    name: str
    nullable: bool
    needs_hex: bool
    short_year: bool


def engine_change(table: Sql, to: str) -> Sql:
    """The statement that converts the table: without options that are of MyISAM alone."""
    if to == INNODB:
        return statement("ALTER TABLE {} ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;", table)
    return statement("ALTER TABLE {} ENGINE=Aria, ROW_FORMAT=PAGE, TRANSACTIONAL=1;", table)


def sum_of_values(columns: Iterable[SummedColumn]) -> Sql:
    """A number that engines compute alike from the rows, in whichever order; CHECKSUM TABLE depends on the engine and the row format.

    Of each value the CRC32 alone is put together, as whole rows may be longer than max_allowed_packet. Without columns, which is how a table of
    generated ones is summed up, it is a constant.
    """
    values = [_value(column) for column in columns]
    return statement("SUM(CRC32(CONCAT_WS(',', {})))", sql_list(values)) if values else statement("0")


def _value(column: SummedColumn) -> Sql:
    name = quote_identifier(column.name)
    if column.short_year:
        # Any ALTER of MySQL 5.6 makes a YEAR(4) of it, which is 1970 where it was 70.
        name = statement("{} % 100", name)
    digest = statement("CRC32(HEX({}))", name) if column.needs_hex else statement("CRC32({})", name)
    return statement("COALESCE({}, 'NULL')", digest) if column.nullable else digest
