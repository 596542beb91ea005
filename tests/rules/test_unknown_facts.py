"""Unknown is never zero: from each case in which a rule speaks, one fact after the other is taken away. The rule speaks on, or says what it needs.

A fact whose absence alone would make a rule quiet belongs into its `needs`, its `not_quiet_without` or the verdict of its query; what is right
to be quiet without stands here, with the reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import Rule, shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from tests.rules.test_cases import CASES
from tests.support.proofs import kept

ONE_LIST = "a server tells all columns of its process list, and `needs` asks for the list"
FEW_COUNT = "few servers count it: other signs stand in, and `needs` takes them"
NO_SERVER_TELLS = "no server tells it: a site's own facts file may"
ALL_ARE_NAMED = "a server names all its variables: a facts file that was written by hand names those that somebody set"
SINCE_THE_START = "counters since the start stand in"
ONE_HEADER = "it is read from the same place as what the rule needs"
NONE_IS_AN_ANSWER = "no index has it where none is redundant: what it is worked out of, the rule needs"
A_DOUBT_IS_ENOUGH = "what is known speaks against the finding, and the report says so"
ONE_PLACE_IS_ENOUGH = "a place that cannot be looked at is told of by itself; the rule judges the others"
# By rule and facts: why silence without them is right.
QUIET_WITHOUT = {
    ("*", "processlist.*"): ONE_LIST,
    ("*", "mutex_wait.*"): FEW_COUNT,
    ("*", "tables.lock_wait_seconds_per_second"): FEW_COUNT,
    ("cluster-not-replicated", "variable.*"): ALL_ARE_NAMED,
    ("delay-key-write", "variable.skip_external_locking"): ALL_ARE_NAMED,
    ("recovery-disabled", "variable.skip_external_locking"): ALL_ARE_NAMED,
    ("key-buffer-too-small", "variable.internal_tmp_disk_storage_engine"): ALL_ARE_NAMED,
    ("key-cache-layout-lost", "variable.init_file"): ALL_ARE_NAMED,
    ("table-near-size-limit", "variable.concurrent_insert"): ALL_ARE_NAMED,
    ("temporary-tables-on-disk", "variable.*"): ALL_ARE_NAMED,
    ("temporary-tables-on-disk", "status.Count_hit_tmp_table_size.per_second"): "servers without this counter are named by what they lack",
    ("upgrade-blockers", "variable.*"): ALL_ARE_NAMED,
    ("upgrade-blockers", "tables.*"): ONE_HEADER,
    ("upgrade-blockers", "variable_origin.origin"): "most servers tell it of nothing: then the value alone decides, and a line that sets the default is seen by nobody",
    ("table-crashed", "tables.recovery_failed"): ONE_HEADER,
    ("table-near-size-limit", "tables.fullest_partition_used_ratio"): "it is there for partitioned tables alone",
    ("table-near-size-limit", "tables.max_index_bytes"): "less than pointers of three bytes reach comes of a small MAX_ROWS alone: these are what is supposed",
    ("concurrent-insert-lock", "tables.rows_added_per_second"): A_DOUBT_IS_ENOUGH,
    ("full-scan-no-index", "tables.*_per_second"): A_DOUBT_IS_ENOUGH,
    ("migrate-engine", "tables.deleted_rows"): A_DOUBT_IS_ENOUGH,
    ("migrate-engine", "status.Table_locks_waited.per_second"): A_DOUBT_IS_ENOUGH,
    ("swap-pressure", "host.memory_pressure_some_ratio"): A_DOUBT_IS_ENOUGH,
    ("insufficient-sample", "*"): "it says itself that too little is known",
    ("delay-key-write", "tables.data_modified_seconds_ago"): "a table that nobody is known to write is left alone",
    ("disk-nearly-full", "host.*_directory_free_*"): ONE_PLACE_IS_ENOUGH,
    ("disk-nearly-full", "host.data_directory_growth_bytes_per_day"): "it is known after three days: until then the share that is free decides",
    ("disk-nearly-full", "schema_disk.*"): ONE_PLACE_IS_ENOUGH,
    ("disk-nearly-full", "tables.data_modified_seconds_ago"): ONE_PLACE_IS_ENOUGH,
    ("duplicate-indexes", "indexes.duplicate_of"): NONE_IS_AN_ANSWER,
    ("duplicate-indexes", "indexes.is_left_prefix_of"): NONE_IS_AN_ANSWER,
    ("duplicate-indexes", "indexes.*read*"): "what is redundant is judged without it: which index nothing reads is told where reads are counted",
    ("duplicate-indexes", "tables.write_statements_per_second"): "the size of the table decides",
    ("file-size-limit", "mysqld.file_size_limit_bytes"): "it is not there where there is no limit, as on nearly every server",
    ("gtid-mixed-engines", "replica.error"): "it wants a right that is optional; doctor names it",
    ("replica-not-crash-safe", "replica.error"): "it wants a right that is optional; doctor names it",
    ("key-buffer-too-large", "variable.innodb_buffer_pool_size"): ALL_ARE_NAMED,
    ("key-buffer-too-small", "mysqld.page_cache_m*"): "what the machine reads stands in",
    ("key-buffer-too-small", "status.Key_reads.per_second"): SINCE_THE_START,
    ("table-lock-contention", "status.Table_locks_waited.per_second"): SINCE_THE_START,
    ("key-cache-contention", "key_cache.read_requests_per_second"): "of several caches no one value tells which is busy",
    ("key-cache-contention", "mysqld.usable_cpu_count"): "the machine's processors stand in",
    ("key-cache-contention", "server.flavour"): "without it no remedy is known",
    ("key-cache-layout-lost", "key_cache.*"): "of several caches no one value tells which is idle",
    ("key-cache-layout-lost", "tables.key_cache"): NO_SERVER_TELLS,
    ("no-myisam", "*"): "it says that nothing is to be judged: what is unknown lets the others judge",
    ("open-files-limit", "mysqld.open_files"): "the server's own count stands in",
    ("query-cache-contention", "mysqld.waiting_for_query_cache"): "one glance at the process list stands in",
    ("repair-with-keycache", "indexes.*"): "the size of the index file stands in",
    ("sort-buffer-too-small", "status.Sort_scan.per_second"): "Sort_range stands in",
    ("table-cache-too-small", "status.Table_open_cache_overflows.per_second"): "older servers have none: Opened_tables stands in",
}  # fmt: skip
NAMES = {"schema_name", "table_name", "index_number", "name"}
RULES = {rule.id: rule for rule in shipped_rules()}
DATABASE = FactDatabase(of_many=True)


def facts_in(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Of each fact that is known the key in the document, its name there, and what rules call it."""
    for key, content in document.items():
        if isinstance(content, dict):
            yield from ((key, name, f"status.{name}.per_second" if key == "status_per_second" else f"{key}.{name}") for name in content)
        elif isinstance(content, list):
            names = {name for row in content for name, value in row.items() if value is not None}
            yield from ((key, name, f"{key}.{name}") for name in sorted(names - NAMES))


def without(document: dict[str, Any], key: str, name: str) -> dict[str, Any]:
    content = document[key]
    rows = [content] if isinstance(content, dict) else content
    left = [{other: value for other, value in row.items() if other != name} for row in rows]
    return {**document, key: left[0] if isinstance(content, dict) else left}


@dataclass(frozen=True)
class Answer:
    """What a rule says alone: of which objects it speaks, those of which it is sure, and the facts that it says it needs, where it cannot judge."""

    spoken: frozenset[str]
    confirmed: frozenset[str]
    needed: frozenset[str]
    is_undecided: bool
    is_applicable: bool

    @property
    def is_silent(self) -> bool:
        """As if it had judged, or had nothing to judge."""
        return not self.spoken and not self.is_undecided


ANSWERS: dict[tuple[str, str, str], Answer] = {}


def asked_alone(rule: Rule, document: dict[str, Any], proofs: Any) -> Answer:
    """The same facts are left by many ways, by a group that is away and by its one fact that a case has: what they give is worked out once."""
    key = (rule.id, repr(document), repr(proofs))
    if key not in ANSWERS:
        ANSWERS[key] = answer_of(judge(prepared(facts_from_document({"schema": 1, **document}), Site((rule,)), kept(proofs)), DATABASE))
    return ANSWERS[key]


def answer_of(judgement: Judgement) -> Answer:
    found, lacking = judgement.findings, judgement.not_evaluated
    return Answer(
        frozenset(one.object for one in found),
        frozenset(one.object for one in found if one.confidence == "confirmed"),
        frozenset(fact for one in lacking for fact in one.facts),
        bool(lacking),
        not judgement.not_applicable,
    )


def cases_of(name: str, published: bool) -> Iterator[dict[str, Any]]:
    for stem, case in CASES:
        if stem == ("published" if published else name) and (not published or name in (*case["expect"].get("fires", ()), *case["expect"].get("only", ()))):
            yield case


@cache
def outcomes(name: str, published: bool = False) -> tuple[list[tuple[str, str]], set[str]]:
    """The facts, each with the case, without which the rule is silent, and what it says that it needs."""
    silent: list[tuple[str, str]] = []
    needed: set[str] = set()
    for case in cases_of(name, published):
        document, proofs = case["facts"], case.get("proofs", ())
        if not asked_alone(RULES[name], document, proofs).spoken:
            continue
        for key, column, fact in facts_in(document):
            answer = asked_alone(RULES[name], without(document, key, column), proofs)
            needed |= answer.needed
            if answer.is_silent:
                silent.append((fact, case["name"]))
    return silent, needed


def is_excepted(rule: str, fact: str) -> bool:
    return any(fnmatch(rule, one) and fnmatch(fact, pattern) for one, pattern in QUIET_WITHOUT)


@pytest.mark.parametrize("name", RULES)
def test_without_a_fact_that_it_was_found_by_a_rule_says_what_it_needs(name: str) -> None:
    assert [(fact, case) for fact, case in outcomes(name)[0] if not is_excepted(name, fact)] == []


def test_every_exception_is_one() -> None:
    silent = {(name, fact) for name in RULES for fact, _ in outcomes(name)[0]}
    assert [(rule, fact) for rule, fact in QUIET_WITHOUT if not any(fnmatch(one, rule) and fnmatch(other, fact) for one, other in silent)] == []
