"""Where values of variables come from: a line of an option file, the command line, SET PERSIST, SET GLOBAL. Defaults have no row.

A line more in my.cnf does nothing for what the command line or SET PERSIST gives, as these win; and whoever takes a change back wants
to know where the former value stood. Tried on MySQL 8.0 and 9.7, MariaDB 10.5 to 11.8.

Sources: MySQL manual, "performance_schema variables_info" and "persisted_variables"; MariaDB manual, "information_schema.SYSTEM_VARIABLES".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.status import STATUS, Status
from myisam_exporter.collectors.variables import VARIABLES, Variables
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.table_columns import UPTIME_STEP_SECONDS
from myisam_exporter.server.granting import READ_PERFORMANCE_SCHEMA
from myisam_exporter.server.session import Session

ON_MYSQL: Final = (
    "SELECT VARIABLE_NAME, VARIABLE_SOURCE, VARIABLE_PATH FROM performance_schema.variables_info "
    "WHERE VARIABLE_SOURCE <> 'COMPILED'"
)
PERSISTED: Final = "SELECT VARIABLE_NAME FROM performance_schema.persisted_variables"
ON_MARIADB: Final = (
    "SELECT VARIABLE_NAME, GLOBAL_VALUE_ORIGIN, GLOBAL_VALUE_PATH FROM information_schema.SYSTEM_VARIABLES "
    "WHERE GLOBAL_VALUE_ORIGIN IS NOT NULL AND GLOBAL_VALUE_ORIGIN <> 'COMPILE-TIME'"
)
NO_ROOM = Unknown(
    "the table cache has too little room to ask where values come from without closing other tables", off=True
)
# Of MySQL's table cache, which is divided by connections: our own tables of performance_schema are fewer than twenty, and each takes one of these places.
LEAST_PLACES = 50
NOT_TOLD = Unknown("before MySQL 8.0 and MariaDB 10.5 no server tells where a value comes from", off=True)
DEFAULT, OPTION_FILE, COMMAND_LINE, SAVED, RUN_TIME, AUTOMATIC = (
    "default", "option_file", "command_line", "persisted", "run_time", "automatic"
)  # fmt: skip
# What MySQL and MariaDB call it. MySQL tells option files apart by who reads them.
WORDS = {
    **dict.fromkeys(("GLOBAL", "SERVER", "EXPLICIT", "EXTRA", "USER", "LOGIN", "CONFIG"), OPTION_FILE),
    **dict.fromkeys(("COMMAND_LINE", "COMMAND-LINE"), COMMAND_LINE),
    "PERSISTED": SAVED,
    **dict.fromkeys(("DYNAMIC", "SQL"), RUN_TIME),
    "AUTO": AUTOMATIC,
}  # fmt: skip


class Origin(NamedTuple):
    """Where a value comes from, None where the server has a word for it that nobody here knows; its option file; whether SET PERSIST wrote one."""

    word: str | None
    option_file: str | None
    is_persisted: bool | None


@dataclass(frozen=True, slots=True)
class VariableOrigins:
    """By variable; `without_persisted` is why nobody knows what SET PERSIST wrote."""

    origins: Mapping[str, Origin]
    without_persisted: Unknown | None = None


VARIABLE_ORIGINS = SampleKey("variable_origins", VariableOrigins)


class VariableOriginsCollector(Collector[VariableOrigins]):
    """What is not its default, and why."""

    name = VARIABLE_ORIGINS.name
    source = "performance_schema.variables_info and persisted_variables, information_schema.SYSTEM_VARIABLES"
    after = ("variables", "status")
    states_only = True
    expensive = True
    sections = {
        "variable_origin": columns(
            (
                "name",
                "text",
                "The variable's name; what has its default has no row, unless SET PERSIST_ONLY wrote another value.",
            ),
            (
                "origin",
                "text",
                "Where the value in force comes from: option_file, command_line, persisted (SET PERSIST before the last start), run_time (SET since), "
                "automatic (the server works it out), default. On MySQL it is run_time, too, where some session set its own value.",
            ),
            ("option_file", "text", "The option file whose line gives the value in force."),
            (
                "is_persisted",
                "integer",
                "1 where SET PERSIST wrote a value, which wins over option files at the next start (MySQL 8.0 and later).",
            ),
            source=source,
        )
    }

    def collect(self, context: Context) -> VariableOrigins | Unknown:
        """Two small statements on MySQL, one on MariaDB, where it makes a temporary table of all variables: not again while these stand. No privilege is needed."""
        session = context.session
        if not session.version.at_least(mysql=(8, 0), mariadb=(10, 5)):
            return NOT_TOLD
        if session.version.flavour != "mariadb":
            return _of_mysql(session) if _has_room(context.sample(VARIABLES)) else NO_ROOM
        before = context.before.get(self.name)
        return before if isinstance(before, VariableOrigins) and _stands(context) else _of_mariadb(session)

    def facts(self, pair: Pair[VariableOrigins]) -> Iterable[Block]:
        """One row a variable."""
        rows = [
            (name, word, path, None if is_persisted is None else int(is_persisted))
            for name, (word, path, is_persisted) in pair.after.origins.items()
        ]
        return [Block("variable_origin", column_names(self.sections["variable_origin"]), rows)]

    def unknown_columns(self, sample: VariableOrigins) -> Mapping[str, Unknown]:
        """What SET PERSIST wrote, where that could not be asked."""
        reason = sample.without_persisted
        return {} if reason is None else {"variable_origin.is_persisted": reason}


def _stands(context: Context) -> bool:
    """Whether no variable differs from the last look, and the server has not started since: the same value may come from another file then."""
    started, before = _started(context.sample(STATUS)), _started(STATUS.of(context.before))
    if started is None or before is None or abs(started - before) > 2 * UPTIME_STEP_SECONDS:
        return False
    return context.sample(VARIABLES) is context.before.get(VARIABLES.name)


def _started(status: Status | Unknown) -> float | None:
    return None if isinstance(status, Unknown) else status.server_started


def _of_mariadb(session: Session) -> VariableOrigins | Unknown:
    """MariaDB has no SET PERSIST."""
    rows = session.rows_or_unknown(ON_MARIADB, 3)
    if isinstance(rows, Unknown):
        return rows
    return VariableOrigins({str(name).lower(): _origin(source, path, False) for name, source, path in rows})


def _of_mysql(session: Session) -> VariableOrigins | Unknown:
    rows = session.rows_or_unknown(ON_MYSQL, 3, READ_PERFORMANCE_SCHEMA)
    if isinstance(rows, Unknown):
        return rows
    saved = session.rows_or_unknown(PERSISTED, 1, READ_PERFORMANCE_SCHEMA)
    names = None if isinstance(saved, Unknown) else {name for (name,) in saved}
    found = {str(name): _origin(source, path, None if names is None else name in names) for name, source, path in rows}
    # SET PERSIST_ONLY leaves the value in force as it is, a default too.
    waiting = {str(name): Origin(DEFAULT, None, True) for name in names or () if name not in found}
    return VariableOrigins(found | waiting, saved if isinstance(saved, Unknown) else None)


def _has_room(variables: Variables | Unknown) -> bool:
    """Whether the part of the table cache that this connection has is large enough for two tables more; where its size is not known they are asked for."""
    places = None if isinstance(variables, Unknown) else variables.number("table_open_cache")
    if isinstance(variables, Unknown) or places is None:
        return True
    return places // (variables.number("table_open_cache_instances") or 1) >= LEAST_PLACES


def _origin(source: str | None, path: str | None, is_persisted: bool | None) -> Origin:
    word = WORDS.get(source or "")
    return Origin(word, (path or None) if word == OPTION_FILE else None, is_persisted)


COLLECTOR = VariableOriginsCollector()
