"""Where this server takes its changes from: one row a replication channel.

SHOW REPLICA STATUS wants a right of its own (REPLICATION CLIENT, on MariaDB SLAVE MONITOR) that the advisor's account does not have, so
lag and error texts are left out. What is asked is enough to know a replica: MySQL from 5.7 on keeps its channels in
performance_schema, stopped ones included; MariaDB and older servers count what runs. Tried on MySQL 5.6 and 9.7 and MariaDB 11.8:
before CHANGE MASTER, running, stopped, and after RESET. Slave_heartbeat_period, which stays when replication is stopped, stays after
RESET SLAVE ALL too, so it is no sign.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import Collector, Context, Pair
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.collectors.variables import VARIABLES
from myisam_exporter.facts.columns import Block, RowMaker, column_names, columns
from myisam_exporter.facts.unknown import Unknown

if TYPE_CHECKING:
    from myisam_exporter.collectors.status import Status

GRANT = "SELECT ON performance_schema.*"
# Asked one by one: a join would count in Select_full_join, which is watched.
RECEIVERS = "SELECT CHANNEL_NAME, SERVICE_STATE FROM performance_schema.replication_connection_status"
APPLIERS = "SELECT CHANNEL_NAME, SERVICE_STATE FROM performance_schema.replication_applier_status"
RUNNING, ALL_RUNNING = "Slave_running", "Slaves_running"
PERFORMANCE_SCHEMA_OFF = Unknown("performance_schema is off", "performance_schema=ON in my.cnf, then restart", off=True)


@dataclass(frozen=True, slots=True)
class Channel:
    """One source of changes: whether its threads run, None where no counter says."""

    name: str | None
    receives: bool | None
    applies: bool | None


@dataclass(frozen=True, slots=True)
class Channels:
    """All that are known to be set up."""

    channels: tuple[Channel, ...]


class ReplicaCollector(Collector[Channels]):
    """The channels by which the server takes changes from others."""

    name = "replica"
    source = "performance_schema.replication_connection_status, SHOW GLOBAL STATUS"
    after = ("status", "variables")
    states_only = True
    sections = {  # noqa: RUF012
        "replica": columns(
            (
                "channel",
                "text",
                "The channel's name, empty for the default one; group_replication_* are those of a group.",
            ),
            ("io_running", "integer", "1 where it receives changes."),
            ("sql_running", "integer", "1 where it applies them."),
            source=source,
        )
    }

    def collect(self, context: Context) -> Channels | Unknown:
        """At most two small statements."""
        version = context.session.version
        if version.flavour == "mariadb" or not version.at_least(mysql=(5, 7)):
            status = context.sample(STATUS)
            return status if isinstance(status, Unknown) else by_counters(status)
        variables = context.sample(VARIABLES)
        if isinstance(variables, Unknown):
            return variables
        if not variables.is_on("performance_schema"):
            return PERFORMANCE_SCHEMA_OFF
        receivers = context.session.rows_or_unknown(RECEIVERS, 2, GRANT)
        if isinstance(receivers, Unknown):
            return receivers
        appliers = context.session.rows_or_unknown(APPLIERS, 2, GRANT)
        states = {} if isinstance(appliers, Unknown) else {name: state for name, state in appliers}  # noqa: C416 - rows have any length
        return Channels(tuple(Channel(name, _runs(state), _runs(states.get(name))) for name, state in receivers))

    def facts(self, pair: Pair[Channels]) -> Iterable[Block]:
        """One row a channel."""
        rows = (
            {"channel": one.name, "io_running": _number(one.receives), "sql_running": _number(one.applies)}
            for one in pair.after.channels
        )
        return [CHANNEL_ROWS.block("replica", rows)]


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


def _number(known: bool | None) -> int | None:
    return None if known is None else int(known)


CHANNEL_ROWS = RowMaker(column_names(ReplicaCollector.sections["replica"]))
COLLECTOR = ReplicaCollector()
