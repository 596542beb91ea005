"""Tables by SQL, where the files cannot be seen: those that the server has open now, at most a hundred, in at most a second.

information_schema.TABLES opens what it describes, so it is only asked about tables that are open already. The facts are a sample:
the sums over all tables stay unknown.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from myisam_exporter.collector import Collector, Context, Pair
from myisam_exporter.collectors.myi import MyiCollector
from myisam_exporter.columns import Block, Value
from myisam_exporter.data_directory import SYSTEM_SCHEMAS
from myisam_exporter.unknown import Unknown

MAXIMUM_TABLES = 100
MAXIMUM_SECONDS = 1.0
TABLE = (
    "SELECT ENGINE, ROW_FORMAT, TABLE_ROWS, DATA_LENGTH, INDEX_LENGTH, DATA_FREE, MAX_DATA_LENGTH FROM information_schema.TABLES "
    "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
)
COLUMNS = ("row_format", "rows", "data_bytes", "index_bytes", "free_bytes", "max_data_bytes")


@dataclass(frozen=True, slots=True)
class OpenTables:
    """Open MyISAM tables and their sizes; `left_out` counts open tables that were not asked about."""

    tables: Mapping[tuple[str, str], tuple[Value, ...]]
    left_out: int


class SqlTablesCollector(Collector[OpenTables]):
    """A bounded sample of table facts without file access."""

    name = "sql_tables"
    source = "SHOW OPEN TABLES, information_schema.TABLES"
    after = ("myi",)
    states_only = True
    expensive = True
    # The same facts as from the files, as far as SQL tells them.
    sections = {  # noqa: RUF012
        "tables": tuple(
            column
            for column in MyiCollector.sections["tables"]
            if column.name in ("schema_name", "table_name", *COLUMNS)
        )
    }

    def collect(self, context: Context) -> OpenTables | Unknown:
        """Only where the .MYI files are out of sight."""
        if not isinstance(context.sample("myi"), Unknown):
            return Unknown("not needed: the table files are read directly", off=True)
        rows = context.session.rows_or_unknown("SHOW OPEN TABLES")
        if isinstance(rows, Unknown):
            return rows
        names = [(str(row[0]), str(row[1])) for row in rows if str(row[0]) not in SYSTEM_SCHEMAS]
        tables, asked = {}, 0
        started = time.monotonic()
        for schema, table in names[:MAXIMUM_TABLES]:
            if time.monotonic() - started > MAXIMUM_SECONDS:
                break
            asked += 1
            found = context.session.rows_or_unknown(TABLE, arguments=(schema, table))
            if not isinstance(found, Unknown) and found and found[0][0] == "MyISAM":
                row_format, *numbers = found[0][1:]
                tables[schema, table] = (
                    str(row_format or "").lower() or None,
                    *(None if number is None else int(number) for number in numbers),
                )
        return OpenTables(tables, len(names) - asked)

    def facts(self, pair: Pair[OpenTables]) -> Iterable[Block]:
        """One row a table of the sample."""
        return [
            Block(
                "tables",
                ("schema_name", "table_name", *COLUMNS),
                [(*name, *values) for name, values in pair.after.tables.items()],
            )
        ]

    def notes(self, sample: OpenTables) -> Iterable[Unknown]:
        """That this is a sample."""
        left_out = f", without {sample.left_out} more" if sample.left_out else ""
        yield Unknown(
            f"table facts are a sample by SQL: the {len(sample.tables)} MyISAM tables open now{left_out}",
            "run beside the server, with the right to read its data directory",
        )

    def incomplete(self, sample: OpenTables) -> Unknown | None:
        """Open tables that were not asked about."""
        return Unknown(f"{sample.left_out} open tables were left out") if sample.left_out else None


COLLECTOR = SqlTablesCollector()
