"""What one directory, one right or one source takes away is seldom a single fact: rules are asked without all of it at once, and without each fact that excludes.

Where a rule speaks, it speaks on without a group of facts, or says what it needs. Where a known fact keeps it quiet, it does not call itself confirmed
without that fact: it is `likely`, as only its own signs are measured. What is right nevertheless stands here, with the reason.
"""

from collections.abc import Iterator, Set
from fnmatch import fnmatch
from functools import cache
from typing import Any

import pytest

from myisam_exporter.collectors.base import all_collectors
from myisam_exporter.facts.columns import TABLES
from tests.rules.test_cases import CASES
from tests.rules.test_unknown_facts import (
    ALL_ARE_NAMED,
    NAMES,
    NO_SERVER_TELLS,
    ONE_HEADER,
    ONE_LIST,
    RULES,
    asked_alone,
    cases_of,
    facts_in,
    is_excepted,
    outcomes,
    without,
)

ITS_QUERY_SAYS = "its query says so of a cache that is full; one that has room, or holds another engine's tables, is not too small"
OPTIONAL_RIGHT = "it wants a right that is optional; without it nearly every server would be told of our own questions"
ITS_OWN_LACK = "it says itself that too little is known"
ONE_SAMPLE = "it is read from the same file as what the rule needs"
ALWAYS_KNOWN = "each server tells its version and since when it runs: a facts file that was written by hand may not"
TIMES_STAND_IN = "few servers count it: how long statements take, and how many connections wait, stand in"
IT_IS_SO = "what is said is so all the same: what excludes it is a reason to let it be"
# By rule and group: why silence without all of it is right.
QUIET_WITHOUT_GROUP = {
    ("table-cache-too-small", "no interval"): ITS_QUERY_SAYS,
    ("table-cache-too-small", "replica"): OPTIONAL_RIGHT,
    ("table-cache-too-small", "no PROCESS and no REPLICATION CLIENT"): OPTIONAL_RIGHT,
}
# Facts that are never unknown by themselves.
NEVER_ALONE = {
    "status.*": "a server names all its counters: without an interval their rates are unknown together",
    "variable.*": ALL_ARE_NAMED,
    "server.*": ALWAYS_KNOWN,
    "processlist.*": ONE_LIST,
}
# By rule and fact or group: why it is confirmed without what may exclude it.
CONFIRMED_WITHOUT = {
    ("*", "tables.row_format"): ONE_HEADER,
    ("*", "tables.free_bytes"): ONE_HEADER,
    ("*", "tables.data_modified_seconds_ago"): ONE_HEADER,
    ("fragmented-table", "indexes.algorithm"): ONE_HEADER,
    ("not-closed-properly", "tables.crashed"): ONE_HEADER,
    ("swap-pressure", "host.*"): ONE_SAMPLE,
    ("disk-nearly-full", "*"): "that space is short is seen; without its size or growth the same is said in fewer words",
    ("insufficient-sample", "*"): ITS_OWN_LACK,
    ("io-bound-data", "totals.myisam_rows"): ONE_HEADER,
    ("key-buffer-too-small", "host*"): "without the machine's memory another size is planned, of which nothing was proved",
    ("key-cache-contention", "*"): NO_SERVER_TELLS,
    ("recovery-disabled", "*"): IT_IS_SO,
    ("table-lock-contention", "tables.lock_wait_seconds_per_second"): TIMES_STAND_IN,
    ("table-lock-contention", "*performance_schema*"): TIMES_STAND_IN,
    ("table-lock-contention", "myi"): TIMES_STAND_IN,
    ("table-lock-contention", "a data directory that cannot be read"): TIMES_STAND_IN,
    ("table-lock-contention", "a server that is reached over the network"): TIMES_STAND_IN,
}
SHAPES = {table.name: table.shape for table in TABLES}
# Without these there is no look at all: the server answers to them whatever rights an account has. Key caches are read off them.
ALWAYS_THERE = {"server", "variables", "status", "key_caches"}


def facts_of(*collectors: str) -> frozenset[str]:
    declared = (collector.sections.items() for collector in all_collectors() if collector.name in collectors)
    return frozenset(f"{table}.{column.name}" for sections in declared for table, columns in sections for column in columns if column.name not in NAMES)


def groups() -> Iterator[tuple[str, frozenset[str]]]:
    """What goes with each source that fails, and what is away together on real servers, by name."""
    sources = {collector.name for collector in all_collectors()}
    for source in sources - ALWAYS_THERE:
        yield source, facts_of(source) - facts_of(*(sources - {source}))
    files = ("myi", "page_cache", "page_cache_lookups", "rebuild_files", "disk_space", "schema_disks")
    yield "a data directory that cannot be read", facts_of(*files) - facts_of("sql_tables")
    machine = (*files, "host", "cgroup", "mysqld_process", "processors")
    yield "a server that is reached over the network", facts_of(*machine) - facts_of("sql_tables", "processlist")
    yield "no performance_schema", facts_of("performance_schema", "index_reads") - facts_of("user_statistics")
    yield "neither performance_schema nor userstat", facts_of("performance_schema", "index_reads", "user_statistics")
    yield "no PROCESS and no REPLICATION CLIENT", facts_of("processlist", "replica")
    traced = ("read_syscalls_per_second", "read_bytes_per_second", "disk_read_bytes_per_second", "page_cache_hit_ratio", "page_cache_accesses_per_second", "page_cache_misses_per_second", "page_cache_method")
    yield "no right to trace the server", frozenset(f"mysqld.{name}" for name in (*traced, "open_files", "mapped_data_files", "mapped_data_bytes", "malloc"))
    columns = ((table, column) for collector in all_collectors() for table, declared in collector.sections.items() for column in declared)
    yield "no interval", frozenset(f"{table}.{column.name}" for table, column in columns if column.needs_interval) | {"interval_seconds"}


GROUPS = dict(groups())


def is_gone(key: str, name: str, gone: Set[str]) -> bool:
    return ("status.per_second" in gone) if key == "status_per_second" else SHAPES.get(key) != "pairs" and f"{key}.{name}" in gone


def without_all(document: dict[str, Any], gone: Set[str]) -> dict[str, Any]:
    """The document without these facts; a list of which nothing else is known goes as a whole, but where the server tells names."""
    left: dict[str, Any] = {}
    for key, content in document.items():
        if isinstance(content, dict):
            left[key] = {name: value for name, value in content.items() if not is_gone(key, name, gone)}
        elif isinstance(content, list):
            rows = [{name: value for name, value in row.items() if not is_gone(key, name, gone)} for row in content]
            if key in ("tables", "key_cache") or rows == content or any(row.keys() - NAMES for row in rows):
                left[key] = rows
        elif key not in gone:
            left[key] = content
    return left


@cache
def silent_without_groups(name: str) -> tuple[list[tuple[str, str]], set[str]]:
    """The groups, each with the case, without which the rule is silent, and none of whose facts alone explains it; and what it says that it needs without others."""
    silent: list[tuple[str, str]] = []
    needed: set[str] = set()
    for case in cases_of(name, published=False):
        document, proofs = case["facts"], case.get("proofs", ())
        if not asked_alone(RULES[name], document, proofs).spoken:
            continue
        for group, gone in GROUPS.items():
            left = without_all(document, gone)
            answer = None if left == document else asked_alone(RULES[name], left, proofs)
            if answer is not None:
                needed |= answer.needed
            if answer is None or not answer.is_silent or not answer.is_applicable:
                continue
            alone = ((key, column) for key, column, fact in facts_in(document) if is_gone(key, column, gone) and is_excepted(name, fact))
            if not any(asked_alone(RULES[name], without(document, key, column), proofs).is_silent for key, column in alone):
                silent.append((group, case["name"]))
    return silent, needed


@cache
def confirmed_without(name: str) -> list[tuple[str, str]]:
    """The facts and groups, each with the case, that keep the rule quiet, and without which it calls itself confirmed."""
    confirmed = []
    for stem, case in CASES:
        if stem != name or "confirmed" not in (RULES[name].confidence, *RULES[name].query.split("'")):
            continue
        document, proofs = case["facts"], case.get("proofs", ())
        spoken = asked_alone(RULES[name], document, proofs).spoken
        asked = [(fact, without(document, key, column)) for key, column, fact in facts_in(document) if not any(fnmatch(fact, one) for one in NEVER_ALONE)]
        asked += [(group, left) for group, gone in GROUPS.items() if (left := without_all(document, gone)) != document]
        for lacking, left in asked:
            if asked_alone(RULES[name], left, proofs).confirmed - spoken:
                confirmed.append((lacking, case["name"]))
    return confirmed


@pytest.mark.parametrize("name", RULES)
def test_without_a_group_of_facts_that_it_was_found_by_a_rule_says_what_it_needs(name: str) -> None:
    assert [(group, case) for group, case in silent_without_groups(name)[0] if (name, group) not in QUIET_WITHOUT_GROUP] == []
    deciding, needed = {one.fact for one in RULES[name].not_quiet_without}, outcomes(name)[1] | silent_without_groups(name)[1]
    assert deciding <= needed or deciding <= needed | outcomes(name, published=True)[1], "a case shows that each of them decides"


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_not_confirmed_where_what_may_exclude_it_is_unknown(name: str) -> None:
    assert [(lacking, case) for lacking, case in confirmed_without(name) if not is_excused(name, lacking)] == []


def is_excused(name: str, lacking: str) -> bool:
    return any(fnmatch(name, rule) and fnmatch(lacking, pattern) for rule, pattern in CONFIRMED_WITHOUT)


def test_every_exception_of_a_group_is_one() -> None:
    silent = {(name, group) for name in RULES for group, _ in silent_without_groups(name)[0]}
    assert [one for one in QUIET_WITHOUT_GROUP if one not in silent] == []
    confirmed = {(name, lacking) for name in RULES for lacking, _ in confirmed_without(name)}
    assert [(rule, pattern) for rule, pattern in CONFIRMED_WITHOUT if not any(fnmatch(name, rule) and fnmatch(lacking, pattern) for name, lacking in confirmed)] == []
