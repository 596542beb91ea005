"""Plans from findings on facts: order, way back, names that would break out, forms."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.changes.formats.base import format_named
from myisam_advisor.changes.plan import LOOK_FIRST, PERSISTED, ChangePlan, make_plan
from myisam_advisor.cli.commands.plan import FORMATS
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.chosen import choose
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.base import Phase, Remark, Statement, remark
from myisam_advisor.remedies.statements.closing import FlushTables, LockTables, UnlockTables, grouped
from myisam_advisor.remedies.statements.own import OwnStatement
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.remedies.statements.tables import RemovePartitioning
from myisam_advisor.remedies.statements.variables import set_global
from myisam_exporter.errors import UserError
from myisam_exporter.server.sql import Sql, quote_value
from myisam_exporter.server.version_number import text_as_number
from tests.rules.test_cases import CASES, judged
from tests.support.healthy import healthy_facts
from tests.support.judging import judged_document
from tests.support.mounts import mounted
from tests.support.program import run
from tests.support.proofs import kind
from tests.support.read_comments import read
from tests.support.repository import ROOT
from tests.unit.advisor.remedies.test_statements import Present

GIB = 1 << 30


def plan_of(case: dict[str, Any], *wanted: str) -> ChangePlan:
    facts = facts_from_document({"schema": 1, **case["facts"]})
    return make_plan(choose(judged(case), wanted, [rule.id for rule in shipped_rules()]), facts)


def case(rule: str, name: str) -> dict[str, Any]:
    return next(one for stem, one in CASES if stem == rule and one["name"] == name)


OLD_BULK = case("key-cache-contention", "fires_for_the_bulk_inserts_of_2008")
# The same on a server whose key caches may be made while it runs, with columns that are known.
BULK = {
    **OLD_BULK,
    "facts": {
        **OLD_BULK["facts"],
        "server": {"flavour": "mysql", "version": "5.6.51", "version_number": 50651},
        "tables": [{**table, "fixed_row_bytes": 110} for table in OLD_BULK["facts"]["tables"]],
    },
}
# The same tables, scanned too, of fixed length in spirit, and with trials that proved the unpacked keys and the fixed rows.
FIXED_PROOFS = [
    {"rule_id": "fixed-row-format", "experiment": "row-format", "objects": [f"log.{name}"], "change": [f"ALTER TABLE `log`.`{name}` ROW_FORMAT=FIXED;"], "kinds": [kind("full scan", 2.0, "worth it")]}
    for name in "abc"
]
PROVED: dict[str, Any] = {"proofs": FIXED_PROOFS, "facts": {**BULK["facts"], "tables": [{**table, "unpacked_keys_speed_ratio": 1.4, "fixed_row_bytes": 103, "rows_read_per_second": 20000} for table in BULK["facts"]["tables"]]}}
HOSTILE = "x`; DROP TABLE y; --\nSET GLOBAL general_log = 1"


def texts(statements: Iterable[Statement]) -> tuple[str, ...]:
    return tuple(statement.sql for statement in statements)


def live_lines(script: str) -> list[str]:
    """What a client would run of it."""
    return [line for line in script.splitlines() if line and not line.startswith("--")]


@pytest.mark.parametrize("one", [one for _, one in CASES], ids=[f"{stem}:{one['name']}" for stem, one in CASES])
def test_every_statement_of_every_case_has_its_place_and_its_way_back(one: dict[str, Any]) -> None:
    findings = judged(one).findings
    for finding in findings:
        for command in finding.remedy.commands:
            if isinstance(command, Statement) and not isinstance(command, Remark):
                assert command.phase is not Phase.OFFLINE or command.verb, command
                assert not isinstance(command, OwnStatement)
                assert command.taken_back(Present(quote_value(1)))
    plan = plan_of(one)
    changed = [finding for finding in findings if finding.commands]
    assert len(plan.rollback) == len(changed)
    assert all(lines or finding.undo for finding, lines in plan.rollback)
    for name in FORMATS:
        assert isinstance(format_named(name).render(plan), str)


def test_only_online_statements_run_when_the_script_is_fed_to_a_client() -> None:
    script = format_named("sql").render(plan_of(PROVED))
    live = live_lines(script)
    assert live[0] == "SET GLOBAL `hot_1`.key_buffer_size = 8388608;"
    assert {parsed(Sql(line)).phase for line in live} <= {Phase.SET, Phase.ASSIGN, Phase.LOAD}
    # Both options of a table in one ALTER: one copy.
    assert "-- ALTER TABLE `log`.`a` ROW_FORMAT=FIXED, PACK_KEYS=0;" in script.splitlines()
    assert "-- ALTER TABLE `log`.`a` ROW_FORMAT=DYNAMIC;" in script.splitlines()


def test_a_table_that_an_alter_copies_is_not_optimized_besides() -> None:
    full = {"schema_name": "shop", "table_name": "log", "row_format": "dynamic", "rows": 40_000_000, "data_bytes": 3_900_000_000, "index_bytes": 4_000_000, "max_data_bytes": 4_294_967_295, "fragments_per_row": 1.5, "crashed": 0}
    worn = {**full, "table_name": "old", "max_data_bytes": (1 << 48) - 1}
    plan = plan_of({"facts": {"tables": [full, worn]}}, "fragmented-table", "table-near-size-limit")
    offline = {tuple(sorted(finding.rule for finding in one.findings)): texts(one.statements) for one in plan.offline}
    assert offline.pop(("fragmented-table", "table-near-size-limit")) == ("ALTER TABLE `shop`.`log` MAX_ROWS=0 AVG_ROW_LENGTH=0;",)
    assert offline == {("fragmented-table",): ("OPTIMIZE TABLE `shop`.`old`;",)}


def grown_both_ways(free_bytes: int) -> ChangePlan:
    """Rows that are a third longer in fixed format, an index that is several times as large unpacked; each change alone has room for longer than both."""
    facts = PROVED["facts"]
    tables = [{**table, "fixed_row_bytes": 129} for table in facts["tables"] if table["table_name"] == "a"]
    index = {"schema_name": "log", "table_name": "a", "index_number": 1, "algorithm": "btree", "is_packed": 1, "binary_search": 0, "binary_search_without_packing": 1, "maximum_key_bytes": 40}
    host = {**facts["host"], "data_directory_free_bytes": free_bytes}
    return plan_of({"proofs": FIXED_PROOFS, "facts": {**facts, "tables": tables, "indexes": [index], "host": host}}, "fixed-row-format", "pack-keys")


def test_one_alter_of_two_changes_may_need_more_disk_than_each_of_them() -> None:
    (roomy,) = grown_both_ways(10**12).offline
    assert texts(roomy.statements) == ("ALTER TABLE `log`.`a` ROW_FORMAT=FIXED, PACK_KEYS=0;",)
    assert roomy.needed_bytes is not None
    for free_bytes, fits in ((roomy.needed_bytes, True), (roomy.needed_bytes - 1, False)):
        plan = grown_both_ways(free_bytes)
        (one,) = plan.offline
        assert (one.statements, one.fits) == (roomy.statements, fits)
        script = format_named("sql").render(plan)
        assert ("-- NOT ENOUGH DISK: make room first." in script.splitlines()) is not fits
        assert ("**Not enough disk: make room first.**" in format_named("markdown").render(plan)) is not fits


def test_what_the_disk_has_no_room_for_is_told_and_not_in_the_plan() -> None:
    """Beside a change that stays: what was left out would look as if nobody had thought of it."""
    facts = {"host": {"data_directory_free_bytes": 10**8}, "tables": [{"schema_name": "x", "table_name": "a", "row_format": "fixed", "data_bytes": 5 * GIB, "index_bytes": 3 * GIB, "crashed": 1}]}
    plan = plan_of({"facts": facts}, "table-crashed")
    for form, begins in (("sql", "LEFT OUT: No REPAIR TABLE yet"), ("markdown", "Left out")):
        told = " ".join(format_named(form).render(plan).replace("\n--", " ").split())
        assert begins in told
        assert "REPAIR TABLE `x`" not in told


def test_memory_is_given_back_before_it_is_taken_and_indexes_are_loaded_last() -> None:
    assert Phase.GIVE_BACK < Phase.SET < Phase.LOCKED < Phase.FLUSH < Phase.ASSIGN < Phase.LOAD < Phase.SHELL < Phase.OFFLINE
    facts = facts_from_document({"schema": 1, "variable": {"key_buffer_size": 9 << 20, "read_buffer_size": 8192}})
    finding = plan_of(BULK, "key-cache-contention").findings[0]
    texts_of = ("LOAD INDEX INTO CACHE `a`.`b`;", "FLUSH TABLES;", "CACHE INDEX `a`.`b` IN hot_1;", "SET GLOBAL key_buffer_size = 8388608;", "SET GLOBAL read_buffer_size = 16384;")
    commands = tuple(parsed(Sql(text)) for text in texts_of)
    plan = make_plan([replace(finding, remedy=Remedy(commands))], facts)
    # What a person looks at stands before the first statement that closes tables.
    assert [line for step in plan.online for line in texts(step.statements)] == [texts_of[3], texts_of[4], f"-- {LOOK_FIRST}", texts_of[1], texts_of[2], texts_of[0]]


def test_lock_tables_and_what_it_guards_stay_together() -> None:
    before, lock, guarded, unlock, after = set_global("a", 1), LockTables((("a", "b"),)), set_global("c", 1), UnlockTables(), FlushTables()
    assert grouped([before, lock, guarded, unlock, after]) == [(before,), (lock, guarded, unlock), (after,)]
    assert grouped([before, remark("load, then:"), after]) == [(before, remark("load, then:"), after)]


def test_the_way_back_is_the_present_value() -> None:
    plan = plan_of(case("read-buffer-too-large", next(one["name"] for stem, one in CASES if stem == "read-buffer-too-large" and one["expect"].get("fires"))))
    ((_, (back,)),) = [entry for entry in plan.rollback if entry[0].rule == "read-buffer-too-large"]
    assert re.fullmatch(r"SET GLOBAL read_buffer_size = \d{7,};", back.sql)
    (setting,) = [setting for setting in plan.settings if setting.variable == "read_buffer_size"]
    assert setting.present
    assert setting.present in back.sql


def test_where_no_statement_takes_a_change_back_the_findings_own_words_say_what_does() -> None:
    plan = plan_of(case("upgrade-blockers", "partitioned_tables_and_old_columns_on_5_7"), "upgrade-blockers")
    ((finding, lines),) = plan.rollback
    assert "PARTITION BY" in finding.undo
    assert not lines
    for form, begins in (("sql", "==== Rollback"), ("markdown", "## Rollback")):
        part = format_named(form).render(plan).partition(begins)[2].partition("Verification")[0]
        words = " ".join(part.replace("\n--", " ").replace("\\", "").split())
        assert finding.undo in words
        assert "is not known" not in words


def test_a_load_between_disabled_and_enabled_keys_costs_what_enabling_them_does() -> None:
    (offline,) = plan_of(case("bulk-load-with-keys", "fires_for_a_load_that_misses"), "bulk-load-with-keys").offline
    assert offline.lock == "readers and writers wait until it is done"
    assert offline.needed_bytes == 15_000_000_000
    assert offline.lasts != "at once"


@pytest.mark.parametrize(("version", "writers_wait"), [("10.11.6", True), ("11.1.6", True), ("11.2.2", False), ("11.8.6", False)])
def test_who_waits_for_a_copy_depends_on_the_release(version: str, writers_wait: bool) -> None:
    facts = {**case("pack-keys", "the_way_back_of_what_asked_for_packed_keys_asks_for_them_again")["facts"], "server": {"flavour": "mariadb", "version": version, "version_number": text_as_number(version)}}
    plan = plan_of({"facts": facts}, "pack-keys")
    (offline,) = plan.offline
    assert offline.lock.startswith("writers wait until it is done") == writers_wait
    assert ("This MariaDB copies online" in plan.findings[0].cost) == (not writers_wait)
    # Online or not, a copy has the table's read lock.
    assert "UPDATE, DELETE" in offline.lock or writers_wait
    assert "readers wait behind an UPDATE" in plan.findings[0].cost or writers_wait
    on_a_node = plan_of({"facts": {**facts, "variable": {"wsrep_on": "ON"}}}, "pack-keys")
    assert on_a_node.offline[0].lock.startswith("writers wait until it is done")
    assert "copies online" not in on_a_node.findings[0].cost


def test_packed_keys_come_back_as_they_were_asked_for_or_a_remark_says_where_to_look() -> None:
    ((_, lines),) = plan_of(case("pack-keys", "the_way_back_of_what_asked_for_packed_keys_asks_for_them_again"), "pack-keys").rollback
    assert texts(lines) == ("ALTER TABLE `log`.`hits` PACK_KEYS=1;",)
    ((_, lines),) = plan_of(case("pack-keys", "the_way_back_of_an_option_that_is_not_known_says_where_it_was_seen"), "pack-keys").rollback
    assert texts(lines) == ("ALTER TABLE `log`.`hits` PACK_KEYS=DEFAULT;", "-- PACK_KEYS=1 in the place of DEFAULT, where SHOW CREATE TABLE had it before the change")


def test_the_words_stand_among_the_statements_that_take_the_others_back() -> None:
    finding = plan_of(case("upgrade-blockers", "partitioned_tables_and_old_columns_on_5_7"), "upgrade-blockers").findings[0]
    commands = (parsed(Sql("SET GLOBAL read_buffer_size = 16384;")), RemovePartitioning(("shop", "a")), RemovePartitioning(("shop", "b")))
    facts = facts_from_document({"schema": 1, "variable": {"read_buffer_size": 8192}})
    ((_, lines),) = make_plan([replace(finding, remedy=Remedy(commands))], facts).rollback
    assert texts(lines) == (f"-- by hand: {finding.undo}", "SET GLOBAL read_buffer_size = 8192;")
    # A rule of the site's may say nothing.
    ((_, lines),) = make_plan([replace(finding, undo="", remedy=Remedy(commands[:2]))], facts).rollback
    assert texts(lines)[0] == "-- what takes this back is not known: ALTER TABLE `shop`.`a` REMOVE PARTITIONING;"


def test_what_holds_from_a_tables_next_opening_is_set_back_before_tables_are_closed() -> None:
    finding = plan_of(case("upgrade-blockers", "partitioned_tables_and_old_columns_on_5_7"), "upgrade-blockers").findings[0]
    commands = [parsed(Sql(text)) for text in ("SET GLOBAL delay_key_write = OFF;", "FLUSH TABLES `shop`.`a`;", "FLUSH TABLES;")]
    facts = facts_from_document({"schema": 1, "variable": {"delay_key_write": "ALL"}})
    ((_, lines),) = make_plan([replace(finding, remedy=Remedy(tuple(commands)))], facts).rollback
    assert texts(lines) == ("SET GLOBAL delay_key_write = 'ALL';", "FLUSH TABLES `shop`.`a`;", "FLUSH TABLES;")
    # Where nothing is set back, there is nothing to close tables for.
    ((_, lines),) = make_plan([replace(finding, remedy=Remedy(tuple(commands[1:])))], facts).rollback
    assert lines == []


@pytest.mark.parametrize(
    ("statement", "present", "back"),
    [
        ("SET GLOBAL concurrent_insert = NEVER;", "AUTO", "SET GLOBAL concurrent_insert = 'AUTO';"),
        ("SET GLOBAL x = 1;", None, "-- x: its value now is not known; note it before the change (SELECT @@GLOBAL.x;)"),
        ("ALTER TABLE `a`.`b` MAX_ROWS=99;", None, "ALTER TABLE `a`.`b` MAX_ROWS=0;"),
        ("ALTER TABLE `a`.`b` MAX_ROWS=0 AVG_ROW_LENGTH=0;", None, "-- nothing to take back: ALTER TABLE `a`.`b` MAX_ROWS=0 AVG_ROW_LENGTH=0;"),
        ("ALTER TABLE `a`.`b``; c` ENGINE=InnoDB;", None, "ALTER TABLE `a`.`b``; c` ENGINE=MyISAM;"),
        ("ALTER TABLE `a`.`b` ROW_FORMAT=FIXED;", None, "ALTER TABLE `a`.`b` ROW_FORMAT=DYNAMIC;"),
        ("ALTER TABLE `a`.`b` DISABLE KEYS;", None, "ALTER TABLE `a`.`b` ENABLE KEYS;"),
        ("CACHE INDEX `a`.`b` PARTITION (ALL) IN hot_1;", None, "CACHE INDEX `a`.`b` PARTITION (ALL) IN default;"),
    ],
)
def test_what_takes_a_statement_back(statement: str, present: str | None, back: str) -> None:
    assert parsed(Sql(statement)).taken_back(Present(None if present is None else quote_value(present))).sql == back


def test_a_name_cannot_break_out_of_a_comment() -> None:
    one = {"facts": {"server": {"flavour": "mysql", "version": "5.7.1", "version_number": 50701}, "tables": [{"schema_name": "a", "table_name": HOSTILE, "crashed": 1, "row_format": "fixed", "rows": 9, "data_bytes": 900, "index_bytes": 1024}]}}
    plan = plan_of(one, "table-crashed")
    script = format_named("sql").render(plan)
    assert live_lines(script) == []
    # Taking the comment marks away gives the statement back, name and all.
    quoted = HOSTILE.replace("`", "``")
    assert f"CHECK TABLE `a`.`{quoted}`;" in re.sub(r"^-- ", "", script, flags=re.MULTILINE)
    # In the page it stands in fenced blocks only, elsewhere with its line break written out.
    page = format_named("markdown").render(plan)
    outside = re.sub(r"^(`{3,})\w+$.*?^\1$", "", page, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"^SET GLOBAL general_log", outside, re.MULTILINE)
    assert "SET GLOBAL general_log" in page


def test_a_key_cache_that_mysql_does_not_list_is_unknown_and_not_empty() -> None:
    (size, *_) = [setting for setting in plan_of(BULK, "key-cache-contention").settings if setting.variable == "hot_1.key_buffer_size"]
    assert size.present is None
    assert "# key-cache-contention; now: not known" in format_named("cnf").render(plan_of(BULK, "key-cache-contention"))


def test_disk_space_is_checked() -> None:
    rows = 10_000_000
    facts = {
        "server": {"flavour": "mysql", "version": "5.6.24", "version_number": 50624}, "host": {"data_directory_free_bytes": GIB},
        "tables": [{"schema_name": "a", "table_name": "b", "row_format": "dynamic", "rows": rows, "data_bytes": 3 * GIB, "index_bytes": GIB, "max_data_bytes": 3 * GIB + 1000, "crashed": 0}],
    }  # fmt: skip
    assert plan_of({"facts": facts}, "table-near-size-limit").offline == []  # the gate refused it
    facts["host"] = {}
    plan = plan_of({"facts": facts}, "table-near-size-limit")
    (offline,) = plan.offline
    assert offline.needed_bytes == 4 * GIB
    assert offline.fits is None
    assert "not known here" in offline.disk
    assert "whether 4 GiB fit into memory is not known here" in " ".join(format_named("sql").render(plan).replace("--", "").split())
    # What was measured was in memory: of a table that does not fit no time is said.
    facts["host"] = {"memory_available_bytes": 2 * GIB}
    (offline,) = plan_of({"facts": facts}, "table-near-size-limit").offline
    assert "was not measured: 4 GiB do not fit into 2 GiB" in offline.lasts
    facts["host"] = {"memory_available_bytes": 8 * GIB}
    (offline,) = plan_of({"facts": facts}, "table-near-size-limit").offline
    assert "measured on MySQL 5.6.24" in offline.lasts


def test_named_caches_on_mysql_8_are_noted_as_deprecated() -> None:
    modern = {**BULK, "facts": {**BULK["facts"], "server": {"flavour": "mysql", "version": "8.0.36", "version_number": 80036}}}
    assert any("1287" in note for note in plan_of(modern, "key-cache-contention").notes)
    assert not any("1287" in note for note in plan_of(BULK, "key-cache-contention").notes)


def test_what_closes_tables_waits_for_a_look_at_what_runs() -> None:
    plan = plan_of(case("concurrent-insert-lock", "fires_by_the_time_spent_in_the_lock"))
    assert "SHOW PROCESSLIST" in LOOK_FIRST
    assert any("statements that come after it wait for it" in note for note in plan.notes)
    for form in ("sql", "markdown"):
        lines = format_named(form).render(plan).splitlines()
        assert lines.index(f"-- {LOOK_FIRST}") + 1 == lines.index("FLUSH TABLES;")
    untouched = plan_of(BULK, "key-cache-contention")
    assert LOOK_FIRST not in format_named("sql").render(untouched)


def test_on_mysql_8_a_persisted_value_is_told_beside_the_lines_of_my_cnf() -> None:
    modern = {**BULK, "facts": {**BULK["facts"], "server": {"flavour": "percona", "version": "8.0.36", "version_number": 80036}}}
    mariadb = {**BULK, "facts": {**BULK["facts"], "server": {"flavour": "mariadb", "version": "10.11.6", "version_number": 101106}}}
    for render in (format_named(form).render for form in ("sql", "cnf", "markdown", "json")):
        assert PERSISTED in read(render(plan_of(modern, "key-cache-contention")).replace("-- # ", ""))
        assert render(plan_of(modern, "key-cache-contention")).count("persisted_variables") == 1
        assert all(PERSISTED not in render(plan_of(older, "key-cache-contention")) for older in (BULK, mariadb))


def test_an_init_file_that_is_there_is_appended_to_not_replaced() -> None:
    used = {**BULK, "facts": {**BULK["facts"], "variable": {**BULK["facts"].get("variable", {}), "init_file": "/etc/mysql/mine.sql"}}}
    plan = plan_of(used, "key-cache-contention")
    assert "init_file" not in {setting.variable for setting in plan.settings}
    assert "append these lines" in format_named("sql").render(plan)
    assert format_named("init-file").render(plan).splitlines() == [line.sql for line in plan.init_file]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [("pack-kees", "there is no rule 'pack-kees'"), ("swap-pressure", "swap-pressure has no finding"), ("pack-keys:log.z", "it speaks of log.a, log.b")],
)
def test_what_is_not_there_is_said(wanted: str, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        plan_of(BULK, wanted)


def test_a_rule_of_the_whole_server_says_so_to_who_names_an_object() -> None:
    slow = {"facts": {"interval_seconds": 60, "status_per_second": {"Slow_queries": 5, "Questions": 100}, "variable": {"long_query_time": 1}}}
    with pytest.raises(UserError, match=re.escape("slow-queries:shop.t has no finding: it speaks of the whole server.")):
        plan_of(slow, "slow-queries:shop.t")


def test_one_object_of_a_rule_can_be_chosen() -> None:
    plan = plan_of(PROVED, "pack-keys:log.b")
    assert [texts(one.statements) for one in plan.offline] == [("ALTER TABLE `log`.`b` PACK_KEYS=0;",)]
    assert not plan.online


def test_the_command_writes_all_forms_and_overwrites_nothing(tmp_path: Path) -> None:
    facts = tmp_path / "facts.yaml"
    facts.write_text(yaml.safe_dump({"schema": 1, **BULK["facts"]}))
    folder = tmp_path / "change"
    done = run("plan", "--facts", facts, "--output", folder)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == sorted(format_named(form).FILE_NAME for form in FORMATS)
    assert "hot_1.key_buffer_size = 8388608" in (folder / "my.cnf").read_text().splitlines()
    again = run("plan", "--facts", facts, "--output", folder)
    assert again.returncode == 2
    assert "already holds" in again.stderr


def test_a_disk_with_room_for_some_of_the_files_gets_none(tmp_path: Path) -> None:
    facts = ROOT / "tests" / "recorded" / "golden" / "mysql-9.7" / "facts.json"
    place = tmp_path / "disk"
    place.mkdir()
    with mounted(place, "-t", "tmpfs", "-o", "size=12k,mode=0755", "myisam-advisor-test"):
        done = run("plan", "--facts", facts, "--output", place / "plan")
        assert (done.returncode, done.stderr) == (2, f"myisam-advisor: the plan cannot be written to {place / 'plan'}: No space left on device. Give another --output.\n")
        assert not list((place / "plan").iterdir())


def test_nothing_to_change_is_said() -> None:
    done = run("plan", "--facts", "-", stdin=yaml.safe_dump({"schema": 1, **healthy_facts()}))
    assert done.returncode == 0
    assert "Nothing to change." in done.stdout


def test_a_plan_of_what_was_not_seen_says_so_beside_it() -> None:
    blind = run("plan", "--facts", "-", stdin="schema: 1\n")
    assert "Tables cannot be seen: " in blind.stderr
    assert "Nothing to change in what was seen. Tables cannot be seen: " in blind.stdout, "the script in a file says it too"
    seen = run("plan", "--facts", "-", stdin=yaml.safe_dump({"schema": 1, **healthy_facts()}))
    assert (seen.returncode, seen.stderr) == (0, "")


def test_a_remark_alone_is_no_change_of_a_table() -> None:
    known = facts_from_document({"schema": 1, **(facts := CASES[0][1]["facts"])})
    finding = judged_document(facts).findings[0]
    plan = make_plan([replace(finding, remedy=Remedy((remark("Ask whoever owns the table first."),)))], known)
    assert plan.offline == []
    assert "-- Ask whoever owns the table first." in format_named("sql").render(plan)


def test_a_table_is_closed_behind_the_statement_that_it_is_opened_anew_for() -> None:
    plan = plan_of(case("statistics-never-collected", "newer_servers_leave_the_table_in_their_cache"))
    assert [step for step in plan.online if step.phase is Phase.FLUSH] == []
    (collecting,) = plan.offline
    assert [one.sql for one in collecting.statements if not isinstance(one, Remark)] == ["ANALYZE TABLE `a`.`b`;", "FLUSH TABLES `a`.`b`;"]
