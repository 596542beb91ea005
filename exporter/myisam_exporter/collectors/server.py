"""The server itself: flavour, version, how long it runs, and where its process and files are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.status import STATUS, UPTIME
from myisam_exporter.collectors.variables import PERFORMANCE_SCHEMA_OFF, VARIABLES
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, Value, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.granting import READ_PERFORMANCE_SCHEMA
from myisam_exporter.server.location import DIRECTORY, LOCATED_BY, Location, locate

if TYPE_CHECKING:
    from myisam_exporter.collectors.variables import Variables

MUTEX_INSTANCES = "SELECT COUNT(*) FROM performance_schema.mutex_instances WHERE NAME = 'wait/synch/mutex/mysys/KEY_CACHE::cache_lock'"


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """Who the server is and where it lives."""

    flavour: str
    version: str
    version_number: int
    uptime_seconds: float | None
    data_directory: str
    charset: str
    hostname: str
    location: Location
    initialised_key_caches: int | Unknown


SERVER = SampleKey("server", ServerIdentity)


def location_of(server: ServerIdentity | Unknown) -> Location:
    """Where its process and its files are: of a server that tells nothing, both are unknown for that reason."""
    return Location(server, server) if isinstance(server, Unknown) else server.location


class ServerCollector(Collector[ServerIdentity]):
    """Identity and place of the server."""

    name = SERVER.name
    source = "@@version, @@datadir, @@pid_file, SO_PEERCRED, /proc"
    after = ("variables", "status")
    reads = {
        "status": frozenset({UPTIME}),
        "variables": frozenset(
            {*LOCATED_BY, "character_set_server", "hostname", "performance_schema", "key_cache_segments"}
        ),
    }
    sections = {
        "server": columns(
            ("flavour", "text", "mysql, mariadb or percona."),
            ("version", "text", "The server's version as it prints it."),
            (
                "version_number",
                "integer",
                "The version as one number to compare by: 50624 is 5.6.24, 101106 is 10.11.6.",
            ),
            ("uptime_seconds", "integer", "Seconds since the server started."),
            ("data_directory", "text", "@@datadir."),
            ("local", "integer", "1 when the server's files are readable and verified here, else 0."),
            ("charset", "text", "character_set_server."),
            ("hostname", "text", "@@hostname."),
            (
                "initialised_key_caches",
                "integer",
                "Key caches ever initialised, by their mutexes in performance_schema.",
            ),
            source=source,
        )
    }

    def collect(self, context: Context) -> ServerIdentity | Unknown:
        """Combine what the server says with what can be verified here."""
        variables = context.sample(VARIABLES)
        status = context.sample(STATUS)
        if isinstance(variables, Unknown):
            return variables
        uptime = None if isinstance(status, Unknown) else status.uptime_seconds
        session, values = context.session, variables.values
        return ServerIdentity(
            flavour=session.version.flavour,
            version=session.version.text,
            version_number=session.version.as_number,
            uptime_seconds=uptime,
            data_directory=values.get(DIRECTORY, ""),
            charset=values.get("character_set_server", ""),
            hostname=values.get("hostname", ""),
            location=locate(values, uptime, session.peer_process(), session.target.may_be_local, context.proc),
            initialised_key_caches=_initialised_key_caches(context, variables),
        )

    def facts(self, pair: Pair[ServerIdentity]) -> Iterable[Block]:
        """One row."""
        server = pair.after
        caches = server.initialised_key_caches
        row: dict[str, Value] = {
            "flavour": server.flavour,
            "version": server.version,
            "version_number": server.version_number,
            "uptime_seconds": server.uptime_seconds,
            "data_directory": server.data_directory,
            "local": int(not isinstance(server.location.data_directory, Unknown)),
            "charset": server.charset,
            "hostname": server.hostname,
            "initialised_key_caches": None if isinstance(caches, Unknown) else caches,
        }
        return [single("server", row)]

    def notes(self, sample: ServerIdentity) -> Iterable[Unknown]:
        """The process or the files, where they are out of sight."""
        return [part for part in (sample.location.pid, sample.location.data_directory) if isinstance(part, Unknown)]

    def unknown_columns(self, sample: ServerIdentity) -> Mapping[str, Unknown]:
        """The number of key caches needs performance_schema."""
        caches = sample.initialised_key_caches
        return {"server.initialised_key_caches": caches} if isinstance(caches, Unknown) else {}


def _initialised_key_caches(context: Context, variables: Variables) -> int | Unknown:
    if not variables.is_on("performance_schema"):
        return PERFORMANCE_SCHEMA_OFF
    if not context.session.version.at_least(mysql=(5, 7), mariadb=(10, 0)):
        # Measured on 5.6.24: neither the default cache nor named ones are among the instances while the instrument is off.
        return Unknown("MySQL 5.6 and earlier do not list the key caches' mutexes", off=True)
    rows = context.session.rows_or_unknown(MUTEX_INSTANCES, 1, grant=READ_PERFORMANCE_SCHEMA)
    if isinstance(rows, Unknown):
        return rows
    instances = whole_number(rows[0][0]) if rows else None
    if instances is None:
        return Unknown("the server's count of its key caches' mutexes is not a number")
    if context.session.version.flavour == "mariadb":
        # MariaDB initialises one mutex for each segment: the default cache's count once.
        return max(instances - max((whole_number(variables.values.get("key_cache_segments")) or 0) - 1, 0), 1)
    return instances


COLLECTOR = ServerCollector()
