"""Where this server takes its changes from: one row a replication channel.

What is asked without any right is enough to know a replica: MySQL from 5.7 on keeps its channels in performance_schema, stopped ones
included; MariaDB and older servers count what runs. Tried on MySQL 5.6 and 9.7 and MariaDB 11.8: before CHANGE MASTER, running, stopped,
and after RESET. Slave_heartbeat_period, which stays when replication is stopped, stays after RESET SLAVE ALL too, so it is no sign.

Lag and errors are in SHOW REPLICA STATUS alone, which wants a right of its own: an option of `grants`. Before MySQL 8.0.22 and MariaDB
10.5.9 it is not asked: on MySQL 5.6 it waits for a STOP SLAVE that waits itself (tried: as long as a table stays locked), and a look
would hang with it. Of an error the number is kept; its text quotes the statement and its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import Collector, Context, Pair
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.collectors.variables import PERFORMANCE_SCHEMA_OFF, VARIABLES
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, RowMaker, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.account import replication_right
from myisam_exporter.server.granting import READ_PERFORMANCE_SCHEMA

if TYPE_CHECKING:
    from myisam_exporter.collectors.status import Status
    from myisam_exporter.server.session import Session

# Asked one by one: a join would count in Select_full_join, which is watched.
RECEIVERS = "SELECT CHANNEL_NAME, SERVICE_STATE FROM performance_schema.replication_connection_status"
APPLIERS = "SELECT CHANNEL_NAME, SERVICE_STATE FROM performance_schema.replication_applier_status"
SHOW_ON_MYSQL, SHOW_ON_MARIADB = "SHOW REPLICA STATUS", "SHOW ALL SLAVES STATUS"
NOT_ASKED = Unknown(
    "before MySQL 8.0.22 and MariaDB 10.5.9 SHOW SLAVE STATUS is not asked: it may wait for a STOP SLAVE", off=True
)
RUNNING, ALL_RUNNING = "Slave_running", "Slaves_running"


@dataclass(frozen=True, slots=True)
class Channel:
    """One source of changes: whether its threads run, None where no counter says."""

    name: str | None
    receives: bool | None
    applies: bool | None
    seconds_behind: int | None = None
    error: int | None = None


@dataclass(frozen=True, slots=True)
class Channels:
    """All that are known to be set up."""

    channels: tuple[Channel, ...]
    without_status: Unknown | None = None


class ReplicaCollector(Collector[Channels]):
    """The channels by which the server receives changes from other servers."""

    name = "replica"
    source = "performance_schema.replication_connection_status, SHOW GLOBAL STATUS, SHOW REPLICA STATUS"
    after = ("status", "variables")
    reads = {"status": frozenset({RUNNING, ALL_RUNNING}), "variables": frozenset({"performance_schema"})}
    states_only = True
    sections = {
        "replica": columns(
            (
                "channel",
                "text",
                "The channel's name, empty for the default one; group_replication_* are those of a group.",
            ),
            ("io_running", "integer", "1 where it receives changes."),
            ("sql_running", "integer", "1 where it applies them."),
            (
                "seconds_behind",
                "integer",
                "How long ago its source did what it does now; unknown while it stands, and without the right to ask (`grants --replication`).",
            ),
            (
                "error",
                "integer",
                "Number of the error that stopped it, the applier's or a stopped receiver's, 0 without one; its text would quote a statement. Needs the same right.",
            ),
            source=source,
        )
    }

    def collect(self, context: Context) -> Channels | Unknown:
        """At most three small statements; SHOW only where there may be something to show."""
        listed = context.session.version.at_least(mysql=(5, 7))
        known = self._by_tables(context) if listed else self._by_counters(context)
        if not (isinstance(known, Channels) and listed and not known.channels):
            shown = self._shown(context.session)
            if not isinstance(shown, Unknown):
                return with_status(known, shown) if isinstance(known, Channels) and listed else Channels(shown)
            if isinstance(known, Channels) and known.channels:
                return replace(known, without_status=shown)
        return known

    def _by_counters(self, context: Context) -> Channels | Unknown:
        status = context.sample(STATUS)
        return status if isinstance(status, Unknown) else by_counters(status)

    def _by_tables(self, context: Context) -> Channels | Unknown:
        variables = context.sample(VARIABLES)
        if isinstance(variables, Unknown):
            return variables
        if not variables.is_on("performance_schema"):
            return PERFORMANCE_SCHEMA_OFF
        receivers = context.session.rows_or_unknown(RECEIVERS, 2, READ_PERFORMANCE_SCHEMA)
        if isinstance(receivers, Unknown):
            return receivers
        appliers = context.session.rows_or_unknown(APPLIERS, 2, READ_PERFORMANCE_SCHEMA)
        states = {} if isinstance(appliers, Unknown) else {name: state for name, state in appliers}  # noqa: C416 - rows have any length
        return Channels(tuple(Channel(name, _runs(state), _runs(states.get(name))) for name, state in receivers))

    def _shown(self, session: Session) -> tuple[Channel, ...] | Unknown:
        """All channels with lag and error; a missing right is a choice of whoever made the account."""
        right = replication_right(session.version)
        if right is None:
            return NOT_ASKED
        statement = SHOW_ON_MARIADB if session.version.flavour == "mariadb" else SHOW_ON_MYSQL
        records = session.records_or_unknown(statement, right)
        if isinstance(records, Unknown):
            return replace(records, off=True)
        return tuple(map(shown_channel, records))

    def facts(self, pair: Pair[Channels]) -> Iterable[Block]:
        """One row a channel."""
        rows = (
            {
                "channel": one.name,
                "io_running": _number(one.receives),
                "sql_running": _number(one.applies),
                "seconds_behind": one.seconds_behind,
                "error": one.error,
            }
            for one in pair.after.channels
        )
        return [CHANNEL_ROWS.block("replica", rows)]

    def unknown_columns(self, sample: Channels) -> Mapping[str, Unknown]:
        """Lag and error, where they could not be asked."""
        reason = sample.without_status
        return {} if reason is None else {"replica.seconds_behind": reason, "replica.error": reason}


def shown_channel(record: Mapping[str, str | None]) -> Channel:
    """A channel as SHOW tells it, in the words of MySQL from 8.0.22 on or of MariaDB."""

    def told(*names: str) -> str | None:
        return next((record[name] for name in names if name in record), None)

    receiver = told("Replica_IO_Running", "Slave_IO_Running")
    return Channel(
        told("Channel_Name", "Connection_name"),
        _goes(receiver),
        _goes(told("Replica_SQL_Running", "Slave_SQL_Running")),
        whole_number(told("Seconds_Behind_Source", "Seconds_Behind_Master")),
        _stopped_by(whole_number(told("Last_SQL_Errno")), whole_number(told("Last_IO_Errno")), receiver),
    )


def _stopped_by(applier_error: int | None, receiver_error: int | None, receiver: str | None) -> int | None:
    """The error that stopped the channel: what a receiver that is Connecting tells has stopped nothing, it tries again."""
    if applier_error:
        return applier_error
    if receiver is None:
        return 0 if applier_error == receiver_error == 0 else None
    if receiver.upper() != "NO":
        return applier_error
    return receiver_error if receiver_error else (None if receiver_error is None else applier_error)


def with_status(known: Channels, shown: Iterable[Channel]) -> Channels:
    """The channels that are known, with the lag and the error that are shown of some: a group's appliers are not."""
    by_name = {one.name: one for one in shown}
    return Channels(
        tuple(
            replace(one, seconds_behind=found.seconds_behind, error=found.error)
            if (found := by_name.get(one.name)) is not None
            else one
            for one in known.channels
        )
    )


def by_counters(status: Status) -> Channels:
    """The default channel, and one for those of other names, where they run; what is stopped no counter tells."""
    runs = str(status.values.get(RUNNING)).upper() in ("ON", "1")
    found = []
    if runs:
        found.append(Channel("", True, True))
    if (status.number(ALL_RUNNING) or 0) > runs:
        found.append(Channel(None, None, True))
    return Channels(tuple(found))


def _runs(state: str | None) -> bool | None:
    return None if state is None else state == "ON"  # beside ON and OFF there is CONNECTING


def _goes(word: str | None) -> bool | None:
    return (
        None if word is None else word.upper() == "YES"
    )  # beside Yes and No there is Connecting, and on MariaDB Preparing


def _number(known: bool | None) -> int | None:
    return None if known is None else int(known)


CHANNEL_ROWS = RowMaker(column_names(ReplicaCollector.sections["replica"]))
COLLECTOR = ReplicaCollector()
