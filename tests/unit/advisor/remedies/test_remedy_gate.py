"""The one gate for remedies: every rule's findings, judged again on servers whose state forbids or changes what they advise."""

import copy
import re
from functools import cache
from typing import Any

import pytest

from myisam_advisor.changes.plan import make_plan
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.faults import OUR_FAULT
from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.effects import needed_bytes, row_of
from myisam_advisor.remedies.gate import NOTHING_DONE, RemedyGate
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.remedies.statements.base import Change, Command, Logged, Remark, Statement, remark
from myisam_advisor.remedies.statements.closing import FlushTables, LockTables
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.remedies.statements.tables import AlterKeys, AlterTable, OptimizeTable, RepairTable, option
from myisam_advisor.remedies.statements.variables import SetGlobal, set_global
from myisam_advisor.remedies.variable_origins import MY_CNF_BACK
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.server.sql import Sql, quote_table, statement
from tests.rules.test_cases import CASES, judged
from tests.support.judging import judged_facts
from tests.support.proofs import kept
from tests.support.thoroughness import THOROUGH

TABLE = ("x", "t")
NAME = quote_table(*TABLE)
MIB = 1 << 20
CACHES = ("table_open_cache", "table_cache")
OPTIMIZE, REPAIR, FROM_DEFINITION = OptimizeTable(TABLE), RepairTable(TABLE), RepairTable(TABLE, by_definition=True)
TO_INNODB = AlterTable(TABLE, (option(ENGINE="InnoDB"),))
# Facts that are merged into those of a case, table by table; None takes a table away.
STATES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "binary log": {"variable": {"log_bin": "ON", "read_only": "OFF"}},
    "replica that is read-only": {"variable": {"log_bin": "ON", "read_only": "ON", "gtid_mode": "ON"}},
    "MariaDB's read_only of other names": {"variable": {"read_only": "NO_LOCK_NO_ADMIN"}},
    "super_read_only": {"variable": {"read_only": "ON", "super_read_only": "ON"}},
    "cluster node": {"variable": {"wsrep_on": "ON", "log_bin": "ON"}},
    "member of a group": {"variable": {"group_replication_group_name": "c0ffee00-0000-4000-8000-000000000001", "log_bin": "ON", "read_only": "OFF"}},
    "secondary of a group": {"variable": {"group_replication_group_name": "c0ffee00-0000-4000-8000-000000000001", "log_bin": "ON", "read_only": "ON", "super_read_only": "ON"}},
    "replica that may be written": {"variable": {"read_only": "OFF"}, "replica": [{"channel": "", "io_running": 0, "sql_running": 0}]},
    "full disk": {"host": {"data_directory_free_bytes": 1000, "temporary_directory_free_bytes": 1000}},
    "few files": {"variable": {"open_files_limit": 200, "max_connections": 151}},
    "MySQL 5.0": {"server": {"flavour": "mysql", "version": "5.0.96", "version_number": 50096}},
    "MySQL 5.1": {"server": {"flavour": "mysql", "version": "5.1.73", "version_number": 50173}},
    "an init_file": {"variable": {"init_file": "/etc/mysql/mine.sql"}},
    "unknown server and machine": {"server": None, "host": None, "mysqld": None, "totals": None},
    "everything at once": {
        "server": {"flavour": "mysql", "version": "5.1.73", "version_number": 50173},
        "variable": {"log_bin": "ON", "read_only": "ON", "wsrep_on": "ON", "open_files_limit": 200, "init_file": "/etc/mysql/mine.sql"},
        "host": {"data_directory_free_bytes": 1000},
    },
}
# Judging the cases in one state takes a second: script/test fast asks those of the worst state, and the marked tests are left to the whole.
IN_STATES = [pytest.param(state, marks=() if state == "everything at once" else pytest.mark.slow) for state in STATES]


def in_states(*names: str) -> list[Any]:
    return [one for one in IN_STATES if one.values[0] in names]


WORDS = re.compile(r"(?:query_cache_type|concurrent_insert) = (?!\d)\S+")


def merged(facts: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = copy.deepcopy(facts)
    for table, content in state.items():
        if content is None:
            document.pop(table, None)
        elif isinstance(content, list):
            document[table] = content
        else:
            document[table] = {**document.get(table, {}), **content}
    return document


def kind_of_remedy(finding: Finding) -> tuple[str, frozenset[str], frozenset[str]]:
    """What a gate can tell findings apart by: their rule, the kinds of commands, the options."""
    commands = (*finding.remedy.commands, *finding.remedy.undo_commands)
    return finding.rule, frozenset(f"{type(command).__name__} {getattr(command, 'verb', '')}" for command in commands), frozenset(line.option for line in finding.my_cnf)


@cache
def telling_cases() -> list[dict[str, Any]]:
    """The first case for each kind of remedy that the rules have: the states change remedies, not what is found."""
    if THOROUGH:
        return [case for _, case in CASES]
    first: dict[tuple[str, frozenset[str], frozenset[str]], int] = {}
    for number, (_, case) in enumerate(CASES):
        for finding in judged(case).findings:
            first.setdefault(kind_of_remedy(finding), number)
    return [CASES[number][1] for number in sorted(set(first.values()))]


@cache
def judged_in(state: str) -> list[tuple[FactSet, tuple[Finding, ...]]]:
    """Every case that tells something in this state, with what the rules find."""
    found = []
    for case in telling_cases():
        facts = facts_from_document({"schema": 1, **merged(case["facts"], STATES[state])})
        judgement = judged_facts(facts, kept(case.get("proofs", ())))
        assert [outcome for outcome in judgement.not_evaluated if outcome.how == OUR_FAULT or "that works" in outcome.needs] == []
        found.append((complete(facts), tuple(judgement.findings)))
    return found


def remedies(state: str) -> list[tuple[PlanFacts, Finding, Statement]]:
    """Every statement that a finding would have run, its way back included."""
    return [
        (PlanFacts(facts), finding, command)
        for facts, findings in judged_in(state)
        for finding in findings
        for command in (*finding.remedy.commands, *finding.remedy.undo_commands, *finding.remedy.init_file)
        if isinstance(command, Statement) and not isinstance(command, Remark)
    ]


def lines(state: str) -> list[str]:
    return [line for _, findings in judged_in(state) for finding in findings for line in finding.my_cnf]


@pytest.mark.parametrize("state", IN_STATES)
def test_no_state_makes_a_gate_leave_a_finding_without_words(state: str) -> None:
    rules = set()
    for facts, findings in judged_in(state):
        plan = make_plan(findings, facts)
        assert len(plan.rollback) == len([finding for finding in findings if finding.commands])
        for finding in findings:
            rules.add(finding.rule)
            assert all((finding.recommendation, finding.cost, finding.undo))
            assert "  " not in finding.recommendation + finding.cost
            assert not (finding.undo_commands and not finding.commands)
    # The states change remedies, not what is found; MySQL 5 has none of what speaks of 8, and some rules need the machine.
    assert len(rules) >= 20


@pytest.mark.slow
def test_remedies_that_rest_on_a_proof_are_among_them() -> None:
    changes = {change for _, _, command in remedies("as it is") for change in command.changes}
    assert {Change.FIXED_ROWS, Change.INTO_INNODB} <= changes


@pytest.mark.parametrize("state", IN_STATES)
def test_what_holds_in_every_state(state: str) -> None:
    for known, finding, command in remedies(state):
        row, needed = row_of(command, known), needed_bytes(command, known)
        free = known.all.single("host").get("data_directory_free_bytes")
        if command.verb == "REPAIR TABLE":
            assert row.get("row_format") != "compressed"
            # The copy of the files comes before.
            first = next(one for one in finding.remedy.commands if isinstance(one, ShellLine | Remark))
            assert "copy the files" in first.sql if isinstance(first, Remark) else "cp -p" in first
            assert finding.remedy.commands.index(first) < finding.remedy.commands.index(command)
        if command.from_definition:
            assert row["row_format"] in ("fixed", "dynamic")
            assert "AUTO_INCREMENT" in finding.cost
        if isinstance(free, int) and needed is not None:
            assert needed <= free, command
        if Change.FIXED_ROWS in command.changes:
            assert row["fixed_row_bytes"] is not None or row["row_format"] == "fixed"
        if "log_queries_not_using_indexes = ON" in command.sql:
            assert "log_throttle_queries_not_using_indexes" in finding.cost or "min_examined_row_limit" in finding.cost


@pytest.mark.parametrize("state", in_states("binary log", "replica that is read-only", "replica that may be written", "cluster node", "member of a group", "everything at once"))
def test_nothing_that_can_stay_out_of_the_binary_log_is_in_it(state: str) -> None:
    seen = 0
    for _, _, command in remedies(state):
        assert command.logged is not Logged.UNLESS_TOLD, command
        seen += "NO_WRITE_TO_BINLOG" in command.sql
    assert seen


@pytest.mark.parametrize("state", in_states("replica that is read-only", "super_read_only", "secondary of a group", "MariaDB's read_only of other names", "everything at once"))
def test_a_read_only_server_is_not_written(state: str) -> None:
    for _, _, command in remedies(state):
        assert not command.rewrites, command
        assert not (isinstance(command, FlushTables) and command.logged is Logged.UNLESS_TOLD)


@pytest.mark.slow
def test_a_cluster_gets_no_engine_and_no_locks_and_is_told_of_the_rest() -> None:
    told = 0
    for _, finding, command in remedies("cluster node"):
        assert "ENGINE=" not in command.sql
        assert not isinstance(command, LockTables)
        assert command.logged is not Logged.UNLESS_TOLD
        if command.logged is Logged.ALWAYS:
            assert "TOI" in finding.cost
            told += 1
    assert told


@pytest.mark.slow
def test_a_group_gets_no_engine_and_is_told_that_every_member_runs_the_rest() -> None:
    told = 0
    for _, finding, command in remedies("member of a group"):
        assert "ENGINE=" not in command.sql
        if command.logged is Logged.ALWAYS:
            assert "every member runs it too" in finding.cost
            told += 1
    assert told
    refused = [finding.recommendation for _, findings in judged_in("member of a group") for finding in findings if finding.rule == "migrate-engine"]
    assert any("expels the member from the group" in words for words in refused)


@pytest.mark.slow
def test_a_secondary_sends_to_the_primary_and_not_to_a_source() -> None:
    words = " ".join(finding.recommendation for _, findings in judged_in("secondary of a group") for finding in findings)
    assert "names it" in words
    assert "replication source" not in words


@pytest.mark.slow
def test_a_replica_is_told_of_its_own_transactions_even_while_it_stands_still() -> None:
    told = 0
    for _, finding, command in remedies("replica that may be written"):
        if command.verb == "ALTER TABLE" and command in finding.remedy.commands:
            assert "replica itself" in finding.cost
            told += "sql_log_bin = 0" in finding.cost
        if command.verb == "REPAIR TABLE":
            assert "its source still has them" in finding.cost
    assert told


@pytest.mark.parametrize("state", in_states("MySQL 5.0", "MySQL 5.1", "everything at once"))
def test_old_servers_start_with_every_line_of_my_cnf(state: str) -> None:
    assert "query_cache_type = 0" in lines(state)
    for line in (*lines(state), *(command.sql for _, _, command in remedies(state) if isinstance(command, SetGlobal))):
        assert not WORDS.search(line) or "'" in line, line
        assert "myisam_recover_options" not in line
        assert not re.search(r"= (?:ON|OFF)$", line), line


@pytest.mark.slow
def test_an_unknown_server_gets_lines_that_every_version_reads() -> None:
    assert not any(WORDS.search(line) for line in lines("unknown server and machine"))


@pytest.mark.slow
def test_key_caches_of_old_servers_are_set_in_my_cnf_only() -> None:
    for _, finding, command in remedies("MySQL 5.0"):
        if isinstance(command, SetGlobal):
            assert command.variable not in ("key_buffer_size", "key_cache_block_size", "slow_query_log", "log_queries_not_using_indexes"), command
        assert command in finding.remedy.init_file or not command.sql.startswith(("CACHE INDEX", "LOAD INDEX"))
    assert "hot_1.key_buffer_size" in " ".join(lines("MySQL 5.0"))


@pytest.mark.slow
def test_no_table_cache_is_set_beyond_the_files_that_the_server_may_open() -> None:
    as_it_is, few_files = ([command for *_, command in remedies(state) if isinstance(command, SetGlobal) and command.variable in CACHES] for state in ("as it is", "few files"))
    assert as_it_is
    assert few_files == []
    placed = [[line.option for line in finding.my_cnf] for _, findings in judged_in("few files") for finding in findings]
    together = [options for options in placed if "table_open_cache" in options]
    assert together
    assert all(options.index("open_files_limit") < options.index("table_open_cache") for options in together)


@pytest.mark.slow
def test_an_init_file_is_never_replaced() -> None:
    for state in ("an init_file", "everything at once"):
        assert not any(line.startswith("init_file") for line in lines(state))
    assert any(line.startswith("init_file") for line in lines("as it is"))


def admitted(*commands: Command, my_cnf: tuple[Any, ...] = (), **facts: Any) -> Any:
    document = {"schema": 1, **facts}
    return RemedyGate(PlanFacts(complete(facts_from_document(document)))).admit(Remedy(commands=commands, my_cnf=my_cnf))


def table(**columns: Any) -> list[dict[str, Any]]:
    return [{"schema_name": "x", "table_name": "t", **columns}]


def test_what_is_unknown_forbids_nothing_and_is_said() -> None:
    passed = admitted(OPTIMIZE, TO_INNODB)
    assert passed.remedy.commands == (OPTIMIZE, TO_INNODB)
    said = " ".join(passed.cost)
    assert "OPTIMIZE NO_WRITE_TO_BINLOG TABLE" in said
    assert "If this server replicates" in said
    assert "wsrep_on" in said


def test_what_is_known_to_be_harmless_is_not_spoken_of() -> None:
    facts: dict[str, Any] = {"variable": {"log_bin": "OFF", "read_only": "OFF", "version": "5.5.34"}, "host": {"data_directory_free_bytes": 9_000_000_000}, "tables": table(data_bytes=1000, index_bytes=1000, rows=10)}
    facts["server"] = {"flavour": "mysql", "version": "5.5.34", "version_number": 50534}
    passed = admitted(OPTIMIZE, TO_INNODB, **facts)
    assert passed.remedy.commands == (OPTIMIZE, TO_INNODB)
    assert passed.cost == ()


def test_what_is_refused_has_no_way_back_that_runs() -> None:
    facts = facts_from_document({"schema": 1, "variable": {"open_files_limit": 1024, "max_connections": 151, "table_open_cache": 400}})
    remedy = Remedy((set_global("table_open_cache", 4000),), (set_global("table_open_cache", 400),))
    assert RemedyGate(PlanFacts(complete(facts))).admit(remedy).remedy == Remedy()


def test_a_writable_replica_is_told_that_an_alter_is_its_own() -> None:
    passed = admitted(TO_INNODB, variable={"log_bin": "ON", "read_only": "OFF"}, status={"Slave_running": "ON"})
    assert passed.remedy.commands == (TO_INNODB,)
    assert "replica itself" in " ".join(passed.cost)


def test_a_replica_without_a_binary_log_has_no_transaction_to_leave() -> None:
    passed = admitted(TO_INNODB, variable={"log_bin": "OFF", "read_only": "OFF"}, replica=[{"channel": "from_b"}])
    said = " ".join(passed.cost)
    assert "definition differs from the source's" in said
    assert "transaction" not in said


def test_the_channels_of_a_group_make_no_replica() -> None:
    passed = admitted(TO_INNODB, variable={"log_bin": "ON", "read_only": "OFF"}, replica=[{"channel": "group_replication_applier", "io_running": 1}])
    assert "replica itself" not in " ".join(passed.cost)


@pytest.mark.parametrize(("free", "passes"), [(2200, True), (2199, False), (0, False)])
def test_a_tenth_of_room_is_left_on_the_disk(free: int, passes: bool) -> None:
    passed = admitted(REPAIR, host={"data_directory_free_bytes": free}, tables=table(row_format="fixed", data_bytes=1500, index_bytes=500))
    assert bool(passed.remedy.commands) is passes
    assert passes or f"({2200 - free} bytes) are missing" in " ".join(passed.instead)


def test_holes_need_no_room() -> None:
    facts: dict[str, Any] = {"host": {"data_directory_free_bytes": 1256 * MIB}, "tables": table(row_format="dynamic", data_bytes=9000 * MIB, free_bytes=8500 * MIB, index_bytes=500 * MIB)}
    assert admitted(OPTIMIZE, **facts).remedy.commands == (OPTIMIZE,)


@pytest.mark.parametrize(("columns", "passes"), [({"row_format": "fixed"}, True), ({"row_format": "dynamic"}, True), ({"row_format": "compressed"}, False), ({}, False), ({"row_format": "dynamic", "partitions": 2}, False)])
def test_use_frm_wants_a_format_that_is_known(columns: dict[str, Any], passes: bool) -> None:
    passed = admitted(FROM_DEFINITION, tables=table(**columns))
    assert bool(passed.remedy.commands) is passes
    assert bool(passed.instead) is not passes


def test_a_group_is_refused_whole() -> None:
    off, on = AlterKeys(TABLE, enabled=False), AlterKeys(TABLE, enabled=True)
    load = remark("load, then:")
    assert admitted(off, load, on, tables=table(rows_read_per_second=6000)).remedy.commands == ()
    assert admitted(off, load, on, tables=table(rows_read_per_second=0)).remedy.commands == (off, load, on)
    assert admitted(off, load, on, tables=table()).remedy.commands == (off, load, on)


def test_the_undo_is_of_what_was_done() -> None:
    old = {"flavour": "mysql", "version": "5.0.96", "version_number": 50096}
    change = set_global("key_buffer_size", 9)
    assert admitted(change, my_cnf=(option_line("key_buffer_size", 9),), server=old).undo_instead == f"{MY_CNF_BACK} Then restart."
    assert admitted(TO_INNODB, variable={"wsrep_on": "ON"}).undo_instead == NOTHING_DONE
    assert admitted(change).undo_instead == ""


@pytest.mark.parametrize(("version_number", "written"), [(50173, "myisam_use_mmap = 1"), (50534, "myisam_use_mmap = 1"), (50600, "myisam_use_mmap = ON"), (None, "myisam_use_mmap = ON")])
def test_a_switch_is_a_number_before_5_6(version_number: int | None, written: str) -> None:
    server = {} if version_number is None else {"flavour": "mysql", "version_number": version_number}
    assert admitted(my_cnf=(option_line("myisam_use_mmap", "ON"),), server=server).remedy.my_cnf == (written,)


@pytest.mark.parametrize(
    ("logged", "quiet"),
    [
        ("OPTIMIZE TABLE `a`.`b`;", "OPTIMIZE NO_WRITE_TO_BINLOG TABLE `a`.`b`;"),
        ("REPAIR TABLE `a`.`b``; c` USE_FRM;", "REPAIR NO_WRITE_TO_BINLOG TABLE `a`.`b``; c` USE_FRM;"),
        ("ANALYZE TABLE `a`.`b`;", "ANALYZE NO_WRITE_TO_BINLOG TABLE `a`.`b`;"),
        ("FLUSH TABLES;", "FLUSH NO_WRITE_TO_BINLOG TABLES;"),
        ("FLUSH TABLES `a`.`b, c`, `d`.`e.f`;", "FLUSH NO_WRITE_TO_BINLOG TABLES `a`.`b, c`, `d`.`e.f`;"),
        ("ALTER TABLE `a`.`b` PACK_KEYS=0;", None),
        ("FLUSH TABLES WITH READ LOCK;", None),
    ],
)
def test_the_form_that_stays_out_of_the_binary_log(logged: str, quiet: str | None) -> None:
    wanted = parsed(Sql(logged))
    kept = wanted.unlogged()
    assert (kept.sql if kept else None) == quiet
    if kept:
        assert kept.logged is Logged.NEVER
        assert (kept.phase, kept.verb, kept.table) == (wanted.phase, wanted.verb, wanted.table)
        assert kept.unlogged() is None


def test_a_rule_of_the_site_own_is_held_to_the_same() -> None:
    dropped = parsed(statement("DROP INDEX a ON {};", NAME))
    assert admitted(dropped, variable={"read_only": "ON"}).remedy.commands == ()
    purge = parsed(statement("PURGE BINARY LOGS BEFORE NOW();"))
    passed = admitted(purge, variable={"read_only": "ON"})
    assert passed.remedy.commands == (purge,)
    assert "rule of your own" in " ".join(passed.cost)
