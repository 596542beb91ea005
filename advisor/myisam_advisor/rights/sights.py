"""What there is to see, one line each, and whether it is seen: read off the document of `doctor`, whoever made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from myisam_exporter.collectors.variables import PERFORMANCE_SCHEMA_OFF
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.granting import READ_PERFORMANCE_SCHEMA, SEE_PROCESSES

SEEN, HIDDEN, OFF, NOT_HERE, NOT_KNOWN = "seen", "not seen", "off", "not here", "not known"
# No right would show it: it is switched off, or there is no such thing.
NO_MATTER_OF_RIGHTS = (OFF, NOT_HERE)
LOGIN, HISTORY = "login", "history"
MAXIMUM_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Kind:
    """One thing to see: where doctor tells of it (a source, and the column that is unknown without it) and what is lost without it.

    What a source only sees in part counts as not seen where `whole` is wanted.
    """

    name: str
    title: str
    source: str
    column: str
    brings: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Sight:
    """One of them, looked at: `state` is one of the words above, `brings` what is lost while it is not seen."""

    name: str
    title: str
    state: str
    brings: str
    reason: str = ""
    remedy: str = ""


PROCESSLIST, WAITS = "process", "performance-schema"
KINDS = (
    Kind(PROCESSLIST, "PROCESS", "processlist", "", "other users' connections and what they wait for"),
    Kind(WAITS, "performance_schema", "performance_schema", "", "waits for locks; rows read and changed by table"),
    Kind("headers", ".MYI headers", "myi", "totals.myisam_tables", "tables and indexes from their files, and totals", True),
    Kind("page-cache", "page cache", "page_cache", "tables.data_resident_bytes", "how much of each table is cached (cachestat)", True),
    Kind("io", "/proc/PID/io", "mysqld_process", "mysqld.read_bytes_per_second", "the page-cache hit ratio, read calls and bytes"),
    Kind("maps", "/proc/PID/maps", "mysqld_process", "mysqld.mapped_data_files", "mapped data files, the memory allocator"),
    Kind("fd", "/proc/PID/fd", "mysqld_process", "mysqld.open_files", "how many files the server has open"),
    Kind("cgroup", "control group", "cgroup", "mysqld.cgroup_page_cache_bytes", "the server's page cache, refaults, memory limit"),
    Kind("disk", "the server's disk", "disk_space", "host.data_directory_free_bytes", "its size, free space and load"),
)  # fmt: skip
LOGIN_TITLE, LOGIN_BRINGS = "server login", "counters and variables: required for everything"
HISTORY_TITLE, HISTORY_BRINGS = "history directory", "curves, past findings and how they ended"


def sights_of(document: Mapping[str, Any]) -> list[Sight]:
    """Each thing there is to see, and how it stands with it."""
    error = document.get("error")
    if isinstance(error, str):
        # What follows is for who typed the options.
        reason = error.partition(". ")[0][:MAXIMUM_CHARACTERS]
        unknown = [Sight(kind.name, kind.title, NOT_KNOWN, kind.brings) for kind in KINDS]
        return [Sight(LOGIN, LOGIN_TITLE, HIDDEN, LOGIN_BRINGS, reason), *unknown]
    sources = {_text(source.get("name")): source for source in _objects(document.get("sources"))}
    return [
        Sight(LOGIN, LOGIN_TITLE, SEEN, LOGIN_BRINGS),
        *(_looked_at(kind, sources) for kind in KINDS),
        _history(document.get("history")),
    ]


def all_seen(sights: list[Sight]) -> bool:
    """Whether nothing is out of sight that is here and switched on."""
    return all(sight.state in (SEEN, *NO_MATTER_OF_RIGHTS) for sight in sights)


def _looked_at(kind: Kind, sources: Mapping[str, Mapping[str, Any]]) -> Sight:
    if kind.name in (PROCESSLIST, WAITS):
        return _privilege(kind, sources)
    source = sources.get(kind.source)
    if source is None:
        return Sight(kind.name, kind.title, NOT_KNOWN, kind.brings)
    unknown = source.get("unknown")
    why = unknown.get(kind.column) if isinstance(unknown, dict) else None
    if not isinstance(why, dict) and kind.whole:
        # Another reason than a missing right has no remedy among the rights.
        why = next(
            (problem for problem in _objects(source.get("problems")) if "CAP_" in _text(problem.get("remedy"))), None
        )
    return _sight(kind, why if isinstance(why, dict) else None)


def _privilege(kind: Kind, sources: Mapping[str, Mapping[str, Any]]) -> Sight:
    """A right in the server is missing where some source's remedy is to have it: all else that it is unknown for is another matter.

    But for performance_schema itself, which shows nobody anything while it is off.
    """
    wanted = SEE_PROCESSES if kind.name == PROCESSLIST else READ_PERFORMANCE_SCHEMA
    for source in sources.values():
        for problem in _objects(source.get("problems")):
            if wanted in _text(problem.get("remedy")):
                return _sight(kind, problem)
    own = sources.get(kind.source, {})
    # MySQL 5.5's counts locks alone, and what it lacks besides is no part of it: the source is degraded there, and not off.
    is_off = own.get("state") == OFF
    reasons = (
        problem
        for problem in _objects(own.get("problems"))
        if is_off or problem.get("reason") == PERFORMANCE_SCHEMA_OFF.reason
    )
    return _sight(kind, next(reasons, None))


def _sight(kind: Kind, why: Mapping[str, Any] | None) -> Sight:
    if why is None:
        return Sight(kind.name, kind.title, SEEN, kind.brings)
    remedy = _text(why.get("remedy"))
    switched_off = OFF if remedy else NOT_HERE
    state = switched_off if why.get("off") is True else HIDDEN
    return Sight(kind.name, kind.title, state, kind.brings, _text(why.get("reason")), remedy)


def _history(told: object) -> Sight:
    problem = _text(told.get("problem")) if isinstance(told, dict) else ""
    return Sight(HISTORY, HISTORY_TITLE, HIDDEN if problem else SEEN, HISTORY_BRINGS, problem)


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def _text(value: object) -> str:
    return value[:MAXIMUM_CHARACTERS] if isinstance(value, str) else ""
