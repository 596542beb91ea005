"""Rows read and changed per table from MariaDB's user statistics, when userstat is on. We never switch it on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter

from myisam_exporter.collectors.base import MAXIMUM_TABLE_ROWS, Collector, Context, Pair, SampleKey, grown
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.collectors.performance_schema import ROW_COLUMNS
from myisam_exporter.collectors.status import STATUS, Status
from myisam_exporter.collectors.variables import VARIABLES
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, by_column, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.merge_members import all_members, without_zeros_of
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.granting import SEE_PROCESSES

QUERY = "SELECT TABLE_SCHEMA, TABLE_NAME, ROWS_READ, ROWS_CHANGED FROM information_schema.TABLE_STATISTICS"

# Rows that handlers gave and took since the server's start: what tables counted anew, all of them counted.
HANDLED = tuple(
    f"Handler_{what}"
    for what in (
        "read_first", "read_key", "read_last", "read_next", "read_prev", "read_rnd", "read_rnd_next", "write", "update", "delete"
    )
)  # fmt: skip
# Status and counters are not of one instant, and a row may count for both.
HANDLED_SHARE, HANDLED_AT_LEAST = 2.0, 1000
ReadAndChanged = tuple[int | None, int | None]
NOTHING: ReadAndChanged = (0, 0)
NOT_SEEN: ReadAndChanged = (None, None)
FIRST, SECOND = itemgetter(0), itemgetter(1)


@dataclass(frozen=True, slots=True)
class TableStatistics:
    """Rows read and changed by (schema, table) since the server started or FLUSH TABLE_STATISTICS."""

    rows: Mapping[tuple[str, str], ReadAndChanged]


USER_STATISTICS = SampleKey("user_statistics", TableStatistics)


class UserStatisticsCollector(Collector[TableStatistics]):
    """MariaDB's (and Percona's) TABLE_STATISTICS."""

    name = USER_STATISTICS.name
    source = "information_schema.TABLE_STATISTICS"
    after = ("variables", "status", "myi", "performance_schema")
    expensive = True
    sections = {
        "tables": columns(
            ("schema_name", "text", "Database."),
            ("table_name", "text", "Table."),
            *ROW_COLUMNS,
            source=source,
        )
    }

    def collect(self, context: Context) -> TableStatistics | Unknown:
        """One statement, when the server counts."""
        variables = context.sample(VARIABLES)
        if isinstance(variables, Unknown):
            return variables
        if "userstat" not in variables.values:
            return Unknown("this server has no user statistics", off=True)
        if not variables.is_on("userstat"):
            return Unknown("userstat is off", "SET GLOBAL userstat=ON;", off=True)
        rows = context.session.rows_or_unknown(QUERY, 4, grant=SEE_PROCESSES, maximum_rows=MAXIMUM_TABLE_ROWS)
        if isinstance(rows, Unknown):
            return rows
        counted = {
            (schema or "", table or ""): (whole_number(read), whole_number(changed))
            for schema, table, read, changed in rows
        }
        return TableStatistics(counted)

    def facts(self, pair: Pair[TableStatistics]) -> Iterable[Block]:
        """Rows read and changed per second by table."""
        if pair.before is None:
            return
        before, newcomers = pair.before.rows, _before_newcomers(pair)
        after = pair.after.rows
        former = [before.get(name, newcomers) for name in after]
        members = all_members(pair.other(MYI))

        def rates(of: Callable[[ReadAndChanged], int | None]) -> Iterable[float | None]:
            found = map(pair.rate, map(of, former), map(of, after.values()))
            return without_zeros_of(members, after, found) if members else found

        # There may be a row for each of half a million tables: what is one step of a map here is a tenth of the time.
        yield by_column(
            "tables",
            {
                "schema_name": map(FIRST, after),
                "table_name": map(SECOND, after),
                "rows_read_per_second": rates(FIRST),
                "rows_changed_per_second": rates(SECOND),
            },
            extends=True,
        )


def rows_read(pair: Pair[TableStatistics]) -> Mapping[tuple[str, str], int | None]:
    """Rows read by table."""
    if pair.before is None:
        return {}
    before, newcomers = pair.before.rows, _before_newcomers(pair)
    return {name: grown(before.get(name, newcomers)[0], read) for name, (read, _) in pair.after.rows.items()}


def _before_newcomers(pair: Pair[TableStatistics]) -> ReadAndChanged:
    """What had been counted of tables that were not there before: nothing, as they were not used; or it is not known, as a GRANT has shown them only now.

    Then all that was counted since the server's start would be of this interval. It is more than was handled in the interval.
    """
    before = {} if pair.before is None else pair.before.rows
    shown = [counted for name, counted in pair.after.rows.items() if name not in before]
    if not shown:
        return NOTHING
    counted = sum((read or 0) + (changed or 0) for read, changed in shown)
    handled = grown(_handled(pair.other_before(STATUS)), _handled(pair.other(STATUS)))
    return NOTHING if counted <= max(HANDLED_SHARE * (handled or 0), HANDLED_AT_LEAST) else NOT_SEEN


def _handled(status: Status | Unknown) -> float | None:
    """Rows that handlers gave and took so far."""
    numbers = [] if isinstance(status, Unknown) else [status.number(name) for name in HANDLED]
    return sum(number for number in numbers if number is not None) if any(numbers) else None


COLLECTOR = UserStatisticsCollector()
