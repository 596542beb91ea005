"""Rows read per table from MariaDB's user statistics, when userstat is on. We never switch it on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from myisam_exporter.collector import Collector, Context, Pair
from myisam_exporter.columns import Block, Value, columns
from myisam_exporter.unknown import Unknown

if TYPE_CHECKING:
    from myisam_exporter.collectors.variables import Variables

QUERY = "SELECT TABLE_SCHEMA, TABLE_NAME, ROWS_READ FROM information_schema.TABLE_STATISTICS"


@dataclass(frozen=True, slots=True)
class TableStatistics:
    """Rows read by (schema, table) since the server started or FLUSH TABLE_STATISTICS."""

    rows_read: Mapping[tuple[str, str], int]


class UserStatisticsCollector(Collector[TableStatistics]):
    """MariaDB's (and Percona's) TABLE_STATISTICS."""

    name = "user_statistics"
    source = "information_schema.TABLE_STATISTICS"
    after = ("variables", "performance_schema")
    expensive = True
    sections = {  # noqa: RUF012
        "tables": columns(
            ("schema_name", "text", "Database."),
            ("table_name", "text", "Table."),
            ("rows_read_per_second", "real", "Rows read."),
            source=source,
        )
    }

    def collect(self, context: Context) -> TableStatistics | Unknown:
        """One statement, when the server counts."""
        variables: Variables | Unknown = context.sample("variables")
        if isinstance(variables, Unknown):
            return variables
        if "userstat" not in variables.values:
            return Unknown("this server has no user statistics", off=True)
        if not variables.is_on("userstat"):
            return Unknown("userstat is off", "SET GLOBAL userstat=ON;", off=True)
        rows = context.session.rows_or_unknown(QUERY, grant="PROCESS ON *.*")
        return (
            rows
            if isinstance(rows, Unknown)
            else TableStatistics({(str(schema), str(table)): int(count) for schema, table, count in rows})
        )

    def facts(self, pair: Pair[TableStatistics]) -> Iterable[Block]:
        """Rows read per second by table."""
        if pair.before is None:
            return
        before = pair.before.rows_read
        rows: list[tuple[Value, ...]] = [
            (*name, pair.rate(before.get(name, 0), value)) for name, value in pair.after.rows_read.items()
        ]
        yield Block("tables", ("schema_name", "table_name", "rows_read_per_second"), rows, extends=True)


COLLECTOR = UserStatisticsCollector()
