"""Tables by SQL, where the files cannot be seen: those that the server has open now, at most a hundred, in at most a second.

information_schema.TABLES opens what it describes, so it is only asked about tables that are open already. MySQL 8.0 and later open these
once more (measured: one for each table asked about); there it is only asked about a few, and only while all that is open would fit
into one of the table cache's instances: then nothing can be thrown out of it. The facts are a sample: the sums over all tables stay unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from myisam_exporter.collectors.base import MAXIMUM_TABLE_ROWS, Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.myi import MYI, MyiCollector
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.collectors.variables import VARIABLES
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, Row, RowMaker, column_names
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import SYSTEM_SCHEMAS
from myisam_exporter.outside.numbers import SQLITE_INTEGER_END, whole_number
from myisam_exporter.server.granting import global_rights, is_anonymous, is_of_role, way_to
from myisam_exporter.server.session import Session

MAXIMUM_TABLES = 100
MAXIMUM_SECONDS = 1.0
READS_ALL = frozenset({"SELECT", "ALL PRIVILEGES"})
# Of MySQL 8.0 and later: tables that a look may open, and tables of the dictionary that the view itself opens.
MAXIMUM_OPENED, DICTIONARY_TABLES = 20, 12
TABLE = (
    "SELECT ENGINE, ROW_FORMAT, TABLE_ROWS, DATA_LENGTH, INDEX_LENGTH, DATA_FREE, MAX_DATA_LENGTH FROM information_schema.TABLES "
    "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
)
BESIDE_THE_SERVER = "run beside the server, with the right to read its data directory"
READS_ROWS = "it may then read the rows, too"
# As the query names them, behind ROW_FORMAT.
NUMBERS = ("rows", "data_bytes", "index_bytes", "free_bytes", "max_data_bytes")


@dataclass(frozen=True, slots=True)
class OpenTables:
    """Open MyISAM tables and their sizes; `left_out` counts open tables that were not asked about.

    `to_see_all` is what would show the open tables that the account may see nothing of; "" where it sees all.
    """

    tables: Mapping[tuple[str, str], Row]
    left_out: int
    to_see_all: str


OPEN_TABLES = SampleKey("sql_tables", OpenTables)


class SqlTablesCollector(Collector[OpenTables]):
    """A bounded sample of table facts without file access."""

    name = OPEN_TABLES.name
    source = "SHOW OPEN TABLES, information_schema.TABLES"
    after = ("myi", "status", "variables")
    states_only = True
    expensive = True
    # The same facts as from the files, as far as SQL tells them.
    sections = {
        "tables": tuple(
            column
            for column in MyiCollector.sections["tables"]
            if column.name in ("schema_name", "table_name", "row_format", *NUMBERS)
        )
    }

    def collect(self, context: Context) -> OpenTables | Unknown:
        """Only where the .MYI files are out of sight."""
        if not isinstance(context.sample(MYI), Unknown):
            return Unknown("not needed: the table files are read directly", off=True)
        limit = _limit(context)
        if isinstance(limit, Unknown):
            return limit
        rows = context.session.rows_or_unknown("SHOW OPEN TABLES", 4, maximum_rows=MAXIMUM_TABLE_ROWS)
        if isinstance(rows, Unknown):
            return rows
        # Sorted: the next look shall ask about the same ones.
        open_tables = sorted((row[0] or "", row[1] or "") for row in rows if row[0] not in SYSTEM_SCHEMAS)
        tables, asked = {}, 0
        started = context.clock.monotonic()
        for schema, table in open_tables[:limit]:
            if context.clock.monotonic() - started > MAXIMUM_SECONDS:
                break
            asked += 1
            found = context.session.rows_or_unknown(TABLE, 7, arguments=(schema, table))
            if not isinstance(found, Unknown) and found and found[0][0] == "MyISAM":
                tables[schema, table] = _table_row(*found[0][1:])
        return OpenTables(tables, len(open_tables) - asked, _to_see_all(context.session))

    def facts(self, pair: Pair[OpenTables]) -> Iterable[Block]:
        """One row a table of the sample; without any, nothing is said: that none is open tells nothing of those there are."""
        if not pair.after.tables:
            return []
        return [
            TABLE_ROWS.block(
                "tables",
                (
                    {"schema_name": schema, "table_name": table, **values}
                    for (schema, table), values in pair.after.tables.items()
                ),
            )
        ]

    def notes(self, sample: OpenTables) -> Iterable[Unknown]:
        """That this is a sample, and what would show more of it. Why the files are out of sight, and what helps, is told of them."""
        found = len(sample.tables)
        open_now = (
            f"the {found} MyISAM tables open now"
            if found > 1
            else "the one MyISAM table open now"
            if found
            else "no MyISAM table is open now"
        )
        left_out = f", without {sample.left_out} more" if sample.left_out else ""
        # Measured on MariaDB 10.11 and MySQL 5.6: SHOW OPEN TABLES shows a table to SELECT alone, neither to PROCESS nor to INSERT.
        hidden = ", among those this account may SELECT from: the server hides the others" if sample.to_see_all else ""
        yield Unknown(
            f"table facts are a sample by SQL: {open_now}{left_out}{hidden}",
            sample.to_see_all,
        )

    def incomplete(self, sample: OpenTables) -> Unknown | None:
        """Open tables that were not asked about."""
        return Unknown(f"{sample.left_out} open tables were left out") if sample.left_out else None


def _to_see_all(session: Session) -> str:
    """What would show this account all open tables; nothing where it sees them, or where a role may hide that it does."""
    grants = session.grants()
    told = [] if isinstance(grants, Unknown) else [grant or "" for (grant,) in grants]
    if isinstance(grants, Unknown) or any(is_of_role(grant) or global_rights(grant) & READS_ALL for grant in told):
        return ""
    account = session.account()
    way = way_to("SELECT ON DATABASE.*", account, READS_ROWS).rstrip(";")
    return way if is_anonymous(account) else f"{way} for each database ({READS_ROWS})"


def _table_row(row_format: str | None, *numbers: str | None) -> Row:
    whole = (whole_number(number, SQLITE_INTEGER_END - 1) for number in numbers)
    return {"row_format": (row_format or "").lower() or None, **dict(zip(NUMBERS, whole, strict=True))}


def _limit(context: Context) -> int | Unknown:
    """How many tables may be asked about without anything being thrown out of the server's table cache."""
    if not context.session.version.at_least(mysql=(8, 0)):
        return MAXIMUM_TABLES
    status, variables = context.sample(STATUS), context.sample(VARIABLES)
    opened = None if isinstance(status, Unknown) else status.number("Open_tables")
    cache = None if isinstance(variables, Unknown) else variables.number("table_open_cache")
    if isinstance(variables, Unknown) or opened is None or cache is None:
        return Unknown("the server does not say how many tables are open, and asking about one opens it")
    room = cache // (variables.number("table_open_cache_instances") or 1) - opened - DICTIONARY_TABLES
    if room < 1:
        return Unknown(
            "asking MySQL 8.0 and later about a table opens it, which could throw another out of the table cache",
            BESIDE_THE_SERVER,
        )
    return int(min(room, MAXIMUM_OPENED))


TABLE_ROWS = RowMaker(column_names(SqlTablesCollector.sections["tables"]))
COLLECTOR = SqlTablesCollector()
