"""The slow log with statements that use no index: what keeps it small."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_advisor.remedies.said import Said
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.remedies.statements.variables import set_global
from myisam_advisor.texts.templates import count

THROTTLE_FROM = 50605  # log_throttle_queries_not_using_indexes, which MariaDB does not have
SWITCHES_ARE_SESSIONS_FROM = 100500  # MariaDB: tried on 10.5, 10.11 and 11.8
LOGGED_QUERIES_PER_MINUTE = 60  # one a second fills no disk, and names every frequent statement within minutes
LOGGED_QUERIES_MINIMUM_ROWS = 1000  # scans of smaller tables are the right plan
UNINDEXED_LOG, THROTTLE, ROW_LIMIT, ROW_LIMIT_OF_MARIADB = (
    "log_queries_not_using_indexes",
    "log_throttle_queries_not_using_indexes",
    "min_examined_row_limit",
    "log_slow_min_examined_row_limit",
)


def brake(state: ServerState, said: Said) -> Iterable[Statement]:
    """What keeps the log of statements without an index small."""
    if not state.is_mariadb and state.version_number is not None and not state.is_before(THROTTLE_FROM):
        name, limit = THROTTLE, LOGGED_QUERIES_PER_MINUTE
        said.cost[f"{THROTTLE} limits the log to {limit} such statements a minute."] = None
    else:
        name = ROW_LIMIT_OF_MARIADB if state.value(ROW_LIMIT_OF_MARIADB) is not None else ROW_LIMIT
        limit = LOGGED_QUERIES_MINIMUM_ROWS
        said.cost[
            f"{name} leaves out statements that read fewer than {count(limit)} rows, slow ones too. {_of_connections(state)}"
        ] = None
    present = state.value(name)
    # A site's own brake stays as it is.
    if not (isinstance(present, int | float) and present > 0):
        said.undo[set_global(name, 0).sql] = None
        if name != THROTTLE:
            said.undo[
                f"Connections that were opened meanwhile keep {name} = {limit} until they reconnect: restart pools of them, or the slow log lacks their slow statements."
            ] = None
        yield set_global(name, limit)


def _of_connections(state: ServerState) -> str:
    """Which connections take it: each copies the global value when it is opened. MariaDB's copy the switches of the log, too."""
    begin = "Connections take it when they are opened, and keep it until they reconnect, after the undo too"
    if not state.is_mariadb:
        return f"{begin}; those that are open now log every scan."
    if state.version_number is None or state.is_before(SWITCHES_ARE_SESSIONS_FROM):
        return f"{begin}."
    return f"{begin}; those that are open now log no scan before they do."
