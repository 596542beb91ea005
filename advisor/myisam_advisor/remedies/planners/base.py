"""What a planner is: a named algorithm for what a query cannot express - sizes, layouts, growth.

`planners/NAME.py` holds `plan(row, context)`; a rule asks for it by `planner: NAME`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import cast

from myisam_advisor.catalogue.conversions import NO_RATES, Rates
from myisam_advisor.factbase.hosting import Hosting, hosting_of
from myisam_advisor.remedies.memory_budget import MemoryBudget, budget_of
from myisam_advisor.remedies.option_lines import OptionLine
from myisam_advisor.remedies.refused_conversions import NOBODY_LOOKS, RefusedConversions
from myisam_advisor.remedies.statements.base import Command, Statement
from myisam_advisor.texts.units import unit_named
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactRows, FactSet, places_by_table

TableKey = tuple[Value, Value]


# Fewer bytes of keys are built through the key cache within seconds.
FELT_BYTES = 64 << 20
FILE_LIMIT = "open_files_limit"
TABLE_CACHES = frozenset({"table_open_cache", "table_cache"})
SORT_FILE_LIMIT = "myisam_max_sort_file_size"
# MariaDB 10.11.10 and 11.4.4, and what came after each.
SORTING_VERSIONS = ((101110, 110000), (110404, 1_000_000))


class PlanFacts:
    """The facts as planners ask for them, worked out once for all rules.

    `rates` is how fast tables were copied on this machine; `budget` is the account of memory they share; `planned_index_bytes` is what each table's
    indexes will take in the default cache by the plans made before, `planned_variables` what they set. `conversions` tells which ALTER the server refuses.
    """

    def __init__(self, facts: FactSet, rates: Rates = NO_RATES, conversions: RefusedConversions = NOBODY_LOOKS) -> None:
        self.all = facts
        self.rates = rates
        self.conversions = conversions
        self.budget: MemoryBudget = budget_of(facts)
        self.planned_index_bytes: dict[TableKey, float] = {}
        self.planned_variables: dict[str, Value] = {}

    @cached_property
    def hosting(self) -> Hosting:
        """Where the server runs."""
        return hosting_of(self.all.single("server"), self.variables)

    @cached_property
    def tables(self) -> Sequence[Row]:
        """The rows of `tables`."""
        return self.all.tables["tables"].dictionaries()

    @cached_property
    def tables_by_name(self) -> Mapping[TableKey, Row]:
        """The rows of `tables`, by schema and name."""
        return _RowsByName(self.all.tables["tables"])

    @cached_property
    def misread_tables(self) -> Sequence[Row]:
        """The rows of `tables` with ENUM or SET columns that the server reads cut in half: of few tables, if any."""
        rows = self.all.tables["tables"]
        place = rows.columns.index("misread_columns")
        return [rows.row(at) for at, row in enumerate(rows.rows) if number_of(row[place])]

    @cached_property
    def index_bytes(self) -> Mapping[TableKey, float]:
        """What each table's indexes take now; 0 where that is not known."""
        found = {}
        for row in self.tables:
            found[row["schema_name"], row["table_name"]] = float(number_of(row["index_bytes"]) or 0.0)
        return found

    @property
    def index_bytes_change(self) -> float:
        """What the plans made before bring into the default cache, or take out of it."""
        return sum(planned - self.index_bytes.get(table, 0.0) for table, planned in self.planned_index_bytes.items())

    @cached_property
    def variables(self) -> Mapping[str, Value]:
        """The server's variables."""
        return self.all.tables["variable"].by_name("value")

    @cached_property
    def sorts_copies(self) -> bool:
        """Whether an ALTER that copies into InnoDB sorts first: MariaDB's do, unless somebody switched innodb_alter_copy_bulk off."""
        if str(self.variables.get("innodb_alter_copy_bulk")).upper() in ("OFF", "0"):
            return False
        server = next(iter(self.all.tables["server"].dictionaries()), {})
        version = int(number_of(server.get("version_number")) or 0)
        return server.get("flavour") == "mariadb" and any(
            since <= version < before for since, before in SORTING_VERSIONS
        )

    def disk_of(self, schema: Value) -> Row:
        """The file system that a database's tables are copied on, in the columns of `host`: the data directory's, or one of its own."""
        return self._own_disks.get(schema, self.all.single("host"))

    @cached_property
    def _own_disks(self) -> Mapping[Value, Row]:
        rows = self.all.tables["schema_disk"].dictionaries()
        names = ("free_bytes", "total_bytes", "free_inodes")
        return {row["schema_name"]: {f"data_directory_{name}": row[name] for name in names} for row in rows}

    @cached_property
    def rebuild_files(self) -> Mapping[TableKey, Sequence[Row]]:
        """The files of rebuilds, by table: of few tables, if any."""
        found: dict[TableKey, list[Row]] = {}
        for row in self.all.tables["rebuild_file"].dictionaries():
            found.setdefault((row["schema_name"], row["table_name"]), []).append(row)
        return found

    def indexes_of(self, schema: Value, table: Value) -> Sequence[Row]:
        """The indexes of one table."""
        rows = self.all.tables["indexes"]
        return [rows.row(place) for place in self._index_places.get((schema, table), ())]

    @cached_property
    def _index_places(self) -> Mapping[TableKey, Sequence[int]]:
        return places_by_table(self.all.tables["indexes"])


class _RowsByName(Mapping[TableKey, Row]):
    """Rows that are made of a hundred thousand tables' facts when they are asked for."""

    def __init__(self, rows: FactRows) -> None:
        self._rows, self._places = rows, rows.places_by_name()

    def __getitem__(self, name: TableKey) -> Row:
        return self._rows.row(self._places[name])

    def __iter__(self) -> Iterator[TableKey]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def is_felt_unsorted(table: Row, known: PlanFacts) -> bool:
    """Whether a rebuild of this table is known to build its indexes through the key cache, and they are large enough for that to be felt."""
    if (number_of(table.get("index_bytes")) or 0) < FELT_BYTES:
        return False
    indexes = known.indexes_of(table.get("schema_name"), table.get("table_name"))
    return is_kept_from_sorting(indexes, number_of(table.get("rows")), number_of(known.variables.get(SORT_FILE_LIMIT)))


def is_kept_from_sorting(indexes: Iterable[Row], rows: float | None, limit: float | None) -> bool:
    """Whether one of the indexes has all of them built through the key cache, whichever statement it is."""
    return any(
        index["algorithm"] == "rtree"
        or (
            limit is not None
            and rows is not None
            # Of a FULLTEXT index the server reckons with less than its longest key.
            and index["algorithm"] in ("btree", None)
            and index["is_variable_length"] == 1
            and rows * (number_of(index["maximum_key_bytes"]) or 0.0) > limit
        )
        for index in indexes
    )


@dataclass(frozen=True, slots=True)
class PlanContext:
    """What a planner may use: all facts, the memory that is left, and the rule's parameters."""

    known: PlanFacts
    parameters: Mapping[str, Value]

    @property
    def facts(self) -> FactSet:
        """All facts."""
        return self.known.all

    @property
    def room_bytes(self) -> float | None:
        """Memory that this remedy may take, after the more urgent ones; None while the machine's is not known."""
        return self.known.budget.room_bytes

    def variable(self, name: str) -> Value:
        """A server variable, or None."""
        return self.known.variables.get(name)

    def number(self, table: str, column: str) -> float | None:
        """A number from a table of one row, or None."""
        return number_of(self.facts.single(table).get(column))

    @property
    def version_number(self) -> float | None:
        """The server's version to compare by, or None."""
        return self.number("server", "version_number")

    @property
    def is_mariadb(self) -> bool:
        """Whether this is MariaDB."""
        return self.facts.single("server").get("flavour") == "mariadb"

    @property
    def cores(self) -> float | None:
        """The processors that the server may use: all of the machine's, or fewer where it is bound or limited. None where neither is known."""
        told = (self.number("host", "cpu_count"), self.number("mysqld", "usable_cpu_count"))
        return min((one for one in told if one is not None), default=None)

    def parameter(self, name: str) -> float:
        """A parameter of the rule, which is a number."""
        value = self.parameters[name]
        if not isinstance(value, int | float):
            raise TypeError(f"the parameter {name} must be a number")
        return value


@dataclass(frozen=True, slots=True)
class Plan:
    """Values for the rule's texts, what to run, and the memory it takes beyond what is taken now.

    `index_bytes` says what the indexes of tables will take in the default key cache.

    Raises TypeError for a command that is plain text: it may hold a name that nobody quoted.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    commands: tuple[Command, ...] = ()
    undo_commands: tuple[Statement, ...] = ()
    my_cnf: tuple[OptionLine, ...] = ()
    init_file: tuple[Statement, ...] = ()
    memory_bytes: float = 0.0
    index_bytes: Mapping[TableKey, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what the types above would let through where nobody checks them."""
        for lines, kind in ((self.commands, Command), (self.undo_commands, Statement), (self.my_cnf, OptionLine), (self.init_file, Statement)):  # fmt: skip
            strange = next((line for line in lines if not isinstance(line, kind)), None)
            if strange is not None:
                raise TypeError(f"a planner's command is plain text, so its names may not be quoted: {strange!r}")


@dataclass(frozen=True, slots=True)
class NoRoom:
    """The change would help, and memory or this server has no room for it: the finding is dropped, and the report says so."""

    why: str


@dataclass(frozen=True, slots=True)
class NotWorth:
    """The planner saw that the change would not help here: the rule is quiet."""

    why: str


@dataclass(frozen=True, slots=True)
class PlanNeeds:
    """The planner cannot say without this fact."""

    needs: str
    how: str = ""


Planned = Plan | NotWorth | NoRoom | PlanNeeds
Planner = Callable[[Mapping[str, Value], PlanContext], Planned]


def planner_named(name: str) -> Planner:
    """The planner in `planners/NAME.py`."""
    return cast(Planner, unit_named("myisam_advisor.remedies.planners", name).plan)
