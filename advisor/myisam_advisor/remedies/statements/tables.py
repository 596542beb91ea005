"""Statements about a whole table, which wait for a quiet hour: they alter, rebuild, repair or check it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from myisam_advisor.remedies.statements.base import (
    LOCKS,
    MOMENT,
    Change,
    Logged,
    Name,
    Now,
    Statement,
    nothing_to_take_back,
    only,
    quoted,
    way_back_not_known,
)
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql, plain_words, quote_identifier, sql_list, statement

AVERAGE_ROW = "AVG_ROW_LENGTH"  # belongs to MAX_ROWS: their product says how far row pointers must reach
MERGEABLE = frozenset({"PACK_KEYS", "ROW_FORMAT", "MAX_ROWS"})
# A MERGE table cannot be opened (error 1168) while a member has another one of these.
ALIKE_IN_MERGE = frozenset({"ENGINE", "ROW_FORMAT"})
# What each option is set to by who sets nothing.
_USUAL = {"PACK_KEYS": "DEFAULT", "ENGINE": "MyISAM", "MAX_ROWS": "0", AVERAGE_ROW: "0"}
# They only take away what narrowed the pointers.
_WIDENING = frozenset({("MAX_ROWS", "0"), (AVERAGE_ROW, "0")})


@dataclass(frozen=True, slots=True)
class OnTable(Statement):
    """A statement about one table."""

    name: Name
    rewrites: ClassVar[bool] = True

    @property
    def table(self) -> tuple[str, str] | None:
        """The table."""
        return only([self.name])

    def verification(self) -> Statement | None:
        """Its definition, or a check."""
        return verification_of(self.verb, self.table)


@dataclass(frozen=True, slots=True)
class Alteration(OnTable):
    """ALTER TABLE, of which there is no form that keeps it out of the binary log."""

    verb: ClassVar[str] = "ALTER TABLE"
    writes_definition: ClassVar[bool] = True

    @property
    def logged(self) -> Logged:
        """Always."""
        return Logged.ALWAYS


@dataclass(frozen=True, slots=True)
class Maintenance(OnTable):
    """A statement that goes to the binary log unless it is told not to."""

    is_unlogged: bool = False

    @property
    def logged(self) -> Logged:
        """Unless told."""
        return Logged.NEVER if self.is_unlogged else Logged.UNLESS_TOLD

    def unlogged(self) -> Statement | None:
        """With NO_WRITE_TO_BINLOG."""
        return None if self.is_unlogged else replace(self, is_unlogged=True, written=None)

    @property
    def _quietly(self) -> Sql:
        return statement(" NO_WRITE_TO_BINLOG" if self.is_unlogged else "")


@dataclass(frozen=True, slots=True)
class TableOption:
    """One option of a table, or several that are given together: names and values."""

    pairs: tuple[tuple[str, str], ...]

    @property
    def sql(self) -> Sql:
        """NAME=value, with spaces between them."""
        return plain_words(" ".join(f"{name}={value}" for name, value in self.pairs))


def option(**pairs: str | int) -> TableOption:
    """Options by name: `option(PACK_KEYS=0)`."""
    return TableOption(tuple((name, str(value)) for name, value in pairs.items()))


@dataclass(frozen=True, slots=True)
class AlterTable(Alteration):
    """ALTER TABLE that sets options: the table is copied once, whatever their number."""

    options: tuple[TableOption, ...]

    @property
    def changes(self) -> frozenset[Change]:
        """By its options."""
        pairs = {f"{name}={value}" for one in self.options for name, value in one.pairs}
        return frozenset(change for change in Change if change.value in pairs)

    @property
    def redefines(self) -> bool:
        """By its options."""
        return any(name.upper() in ALIKE_IN_MERGE for one in self.options for name, _ in one.pairs)

    @property
    def only_option(self) -> TableOption | None:
        """The option, where it is the only one, and can be set together with others; None for any other."""
        names = [name for one in self.options for name, _ in one.pairs]
        alone = len(self.options) == 1 and names[0] in MERGEABLE and names[1:] in ([], [AVERAGE_ROW])
        return self.options[0] if alone else None

    def taken_back(self, now: Now) -> Statement:
        """By what all of its options were: half a way back would pass for the whole."""
        given = [(name.upper(), value) for one in self.options for name, value in one.pairs]
        changing = [pair for pair in given if pair not in _WIDENING]
        former = {name: self._former(name, value, now) for name, value in changing}
        known = [option(**{name: value}) for name, value in former.items() if value is not None]
        if len(known) < len(former):
            return way_back_not_known(self.sql)
        return AlterTable(self.name, tuple(known)) if known else nothing_to_take_back(self.sql)

    def _former(self, name: str, value: str, now: Now) -> str | None:
        """What the option was; None where it is not known: whoever sets the usual value had another one before."""
        if name == "ROW_FORMAT":
            return (now.row_format(self.table) or "dynamic").upper()
        usual = _USUAL.get(name) if name != "PACK_KEYS" else now.pack_keys(self.table) or _USUAL[name]
        return None if usual is None or usual.upper() == value.upper() else usual

    def _sql(self) -> Sql:
        return statement("ALTER TABLE {} {};", quoted(self.name), sql_list(one.sql for one in self.options))


def together(alterations: Sequence[AlterTable]) -> AlterTable:
    """Options of one table in one statement."""
    return AlterTable(alterations[0].name, tuple(one for alteration in alterations for one in alteration.options))


@dataclass(frozen=True, slots=True)
class AlterKeys(Alteration):
    """ALTER TABLE ... DISABLE KEYS, and ENABLE KEYS, which builds them."""

    enabled: bool
    writes_definition: ClassVar[bool] = False

    @property
    def changes(self) -> frozenset[Change]:
        """The keys."""
        return frozenset({Change.KEYS_ON if self.enabled else Change.KEYS_OFF})

    @property
    def lock(self) -> str:
        """It copies nothing, and builds the indexes of the table that is there."""
        return LOCKS["REPAIR TABLE"] if self.enabled else MOMENT

    @property
    def is_done_at_once(self) -> bool:
        """Those that are disabled are only marked so."""
        return not self.enabled

    def taken_back(self, now: Now) -> Statement:
        """The other way round."""
        return AlterKeys(self.name, enabled=not self.enabled)

    def _sql(self) -> Sql:
        how = statement("ENABLE" if self.enabled else "DISABLE")
        return statement("ALTER TABLE {} {} KEYS;", quoted(self.name), how)


@dataclass(frozen=True, slots=True)
class MakeAnew(Alteration):
    """ALTER TABLE ... FORCE: the same table, written by this version of the server."""

    def _sql(self) -> Sql:
        return statement("ALTER TABLE {} FORCE;", quoted(self.name))


@dataclass(frozen=True, slots=True)
class RemovePartitioning(Alteration):
    """ALTER TABLE ... REMOVE PARTITIONING: all rows in one table of the same engine; with FORCE written by this version of the server too."""

    is_made_anew: bool = False

    def taken_back(self, now: Now) -> Statement:
        """How it was partitioned is not known here: its verification shows it, before."""
        return way_back_not_known(self.sql)

    def _sql(self) -> Sql:
        how = statement(" FORCE" if self.is_made_anew else "")
        return statement("ALTER TABLE {}{} REMOVE PARTITIONING;", quoted(self.name), how)


@dataclass(frozen=True, slots=True)
class DropIndex(Alteration):
    """ALTER TABLE ... DROP INDEX: what takes back the index that a site's own rule adds."""

    index: str
    redefines: ClassVar[bool] = True

    def taken_back(self, now: Now) -> Statement:
        """Which columns it had is not known."""
        return way_back_not_known(self.sql)

    def _sql(self) -> Sql:
        return statement("ALTER TABLE {} DROP INDEX {};", quoted(self.name), quote_identifier(self.index))


@dataclass(frozen=True, slots=True)
class OptimizeTable(Maintenance):
    """OPTIMIZE TABLE: the table is rebuilt without holes."""

    verb: ClassVar[str] = "OPTIMIZE TABLE"

    def _sql(self) -> Sql:
        return statement("OPTIMIZE{} TABLE {};", self._quietly, quoted(self.name))


@dataclass(frozen=True, slots=True)
class RepairTable(Maintenance):
    """REPAIR TABLE; `by_definition` (USE_FRM) makes the index file anew."""

    by_definition: bool = False
    verb: ClassVar[str] = "REPAIR TABLE"

    @property
    def from_definition(self) -> bool:
        """USE_FRM."""
        return self.by_definition

    def _sql(self) -> Sql:
        how = statement(" USE_FRM" if self.by_definition else "")
        return statement("REPAIR{} TABLE {}{};", self._quietly, quoted(self.name), how)


@dataclass(frozen=True, slots=True)
class AnalyzeTable(Maintenance):
    """ANALYZE TABLE: its statistics are counted anew."""

    verb: ClassVar[str] = "ANALYZE TABLE"
    rewrites: ClassVar[bool] = False

    def _sql(self) -> Sql:
        return statement("ANALYZE{} TABLE {};", self._quietly, quoted(self.name))


@dataclass(frozen=True, slots=True)
class CheckTable(OnTable):
    """CHECK TABLE; `fast` only where it was not closed properly, `extended` looks up each row in each index, SPATIAL ones too."""

    fast: bool = False
    extended: bool = False
    verb: ClassVar[str] = "CHECK TABLE"
    rewrites: ClassVar[bool] = False

    def _sql(self) -> Sql:
        how = statement(" FAST") if self.fast else statement(" EXTENDED" if self.extended else "")
        return statement("CHECK TABLE {}{};", quoted(self.name), how)


@dataclass(frozen=True, slots=True)
class RepairPartitions(Maintenance):
    """ALTER TABLE ... REPAIR PARTITION: as REPAIR TABLE, of these alone."""

    partitions: tuple[str, ...] = ()
    verb: ClassVar[str] = "REPAIR TABLE"

    def _sql(self) -> Sql:
        which = sql_list(map(quote_identifier, self.partitions))
        return statement("ALTER TABLE {} REPAIR PARTITION{} {};", quoted(self.name), self._quietly, which)


@dataclass(frozen=True, slots=True)
class CheckPartitions(OnTable):
    """ALTER TABLE ... CHECK PARTITION, which is in no binary log."""

    partitions: tuple[str, ...]
    verb: ClassVar[str] = "CHECK TABLE"
    rewrites: ClassVar[bool] = False

    def _sql(self) -> Sql:
        which = sql_list(map(quote_identifier, self.partitions))
        return statement("ALTER TABLE {} CHECK PARTITION {};", quoted(self.name), which)


@dataclass(frozen=True, slots=True)
class ShowTable(Statement):
    """A query for a table's definition."""

    name: Name

    def _sql(self) -> Sql:
        return statement("SHOW CREATE TABLE {};", quoted(self.name))


def verification_of(verb: str, table: tuple[str, str] | None) -> Statement | None:
    """What shows whether such a statement took effect on its table."""
    if table is None or not verb:
        return None
    if verb in ("CHECK TABLE", "REPAIR TABLE", "ANALYZE TABLE"):
        return CheckTable(table, fast=True)
    return ShowTable(table)
