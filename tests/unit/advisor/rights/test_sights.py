"""What is seen, read off doctor's document: of a server that refuses, of missing rights, of what is not here, and of nonsense."""

from typing import Any

import pytest

from myisam_advisor.rights.sights import (
    HIDDEN,
    KINDS,
    MAXIMUM_CHARACTERS,
    NOT_HERE,
    NOT_KNOWN,
    OFF,
    SEEN,
    all_seen,
    sights_of,
)
from myisam_exporter.collectors.base import all_collectors
from myisam_exporter.kernel.rights import READ_FILES, READ_RESIDENCY

REASON = {"reason": "forbidden", "remedy": READ_FILES, "off": False}
GRANT = "GRANT PROCESS ON *.* TO 'x'@'localhost';"


def source(name: str, *problems: dict[str, Any], **unknown: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "state": "working", "seconds": 0.0, "problems": list(problems), "unknown": {key.replace("__", "."): why for key, why in unknown.items()}, "rules": []}


def document(**sources: dict[str, Any]) -> dict[str, Any]:
    whole = {kind.source: source(kind.source) for kind in KINDS if kind.source}
    return {"who": "x", "sources": list((whole | sources).values()), "history": {"path": "/x", "problem": ""}}


def states(found: dict[str, Any]) -> dict[str, str]:
    return {sight.name: sight.state for sight in sights_of(found)}


def hidden(found: dict[str, Any]) -> set[str]:
    return {name for name, state in states(found).items() if state != SEEN}


def test_the_sources_and_columns_are_doctors() -> None:
    columns = {collector.name: {f"{table}.{column.name}" for table, listed in collector.sections.items() for column in listed} for collector in all_collectors()}
    for kind in KINDS:
        assert not kind.source or kind.source in columns
        assert not kind.column or kind.column in columns[kind.source]


def test_all_is_seen() -> None:
    assert hidden(document()) == set()
    assert all_seen(sights_of(document()))


def test_without_a_login_nothing_else_is_known() -> None:
    found = sights_of({"error": "the server refused the user 'x'. Give another --user."})
    assert (found[0].state, found[0].reason) == (HIDDEN, "the server refused the user 'x'")
    assert {sight.state for sight in found[1:]} == {NOT_KNOWN}
    assert not all_seen(found)


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"myi": source("myi", totals__myisam_tables=REASON)}, {"headers"}),
        ({"myi": source("myi", REASON)}, {"headers"}),
        ({"page_cache": source("page_cache", {**REASON, "remedy": READ_RESIDENCY})}, {"page-cache"}),
        ({"mysqld_process": source("mysqld_process", mysqld__open_files=REASON)}, {"fd"}),
        ({"mysqld_process": source("mysqld_process", mysqld__mapped_data_files=REASON, mysqld__read_bytes_per_second=REASON)}, {"io", "maps"}),
        ({"disk_space": source("disk_space", host__data_directory_free_bytes=REASON)}, {"disk"}),
        ({"processlist": source("processlist", {"reason": "no", "remedy": GRANT, "off": False})}, {"process"}),
        ({"index_reads": source("index_reads", {"reason": "no", "remedy": "GRANT SELECT ON performance_schema.* TO 'x';", "off": False})}, {"performance-schema"}),
        # Switched off is no right, but is not seen; nor is what was skipped for want of time.
        ({"performance_schema": source("performance_schema", {"reason": "off", "remedy": "performance_schema=ON", "off": True}) | {"state": "off"}}, {"performance-schema"}),
        # One instrument is not all of them.
        ({"performance_schema": source("performance_schema", {"reason": "off", "remedy": "UPDATE", "off": True}) | {"state": "degraded"}}, set()),
        ({"performance_schema": source("performance_schema", {"reason": "performance_schema is off", "remedy": "performance_schema=ON", "off": True}) | {"state": "degraded"}}, {"performance-schema"}),
        ({"page_cache": source("page_cache", {"reason": "skipped", "remedy": "--page-cache-seconds allows more", "off": False})}, set()),
    ],
)
def test_each_right_is_missed_by_what_it_brings(sources: dict[str, Any], expected: set[str]) -> None:
    assert hidden(document(**sources)) == expected


def test_what_is_not_here_is_nothing_to_miss() -> None:
    for remedy, state in (("", NOT_HERE), ("run mysqld as a service", OFF)):
        found = document(cgroup=source("cgroup", mysqld__cgroup_page_cache_bytes={"reason": "none", "remedy": remedy, "off": True}))
        assert states(found)["cgroup"] == state
        assert all_seen(sights_of(found))


def test_a_history_that_cannot_be_kept_is_told() -> None:
    found = sights_of(document() | {"history": {"path": "/x/history.sqlite", "problem": "/x cannot be written by this user"}})
    assert (found[-1].state, found[-1].reason) == (HIDDEN, "/x cannot be written by this user")


@pytest.mark.parametrize("nonsense", [{}, {"sources": 1}, {"sources": [1, {"name": 2}]}, {"error": 5}, {"sources": [{"name": "myi", "unknown": [], "problems": {}}]}])
def test_whoever_makes_the_document_breaks_nothing(nonsense: dict[str, Any]) -> None:
    assert {sight.state for sight in sights_of(nonsense) if sight.name in ("headers", "page-cache", "io")} <= {NOT_KNOWN, SEEN}


def test_texts_have_an_end() -> None:
    found = sights_of(document(myi=source("myi", totals__myisam_tables={"reason": "x" * 10_000, "remedy": "", "off": False})))
    assert max(len(sight.reason) for sight in found) == MAXIMUM_CHARACTERS
