"""What is said, and done first, where a rebuild left a file beside the table that is to be rebuilt."""

import json
from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.catalogue.measured import rebuild_rates_for
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.changes.formats import json as json_plan
from myisam_advisor.changes.formats import markdown, sql
from myisam_advisor.changes.offline import describe_offline
from myisam_advisor.changes.plan import make_plan
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.rebuild_files import IN_WORDS
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.script import for_copying, now_and_later, portions
from myisam_advisor.remedies.statements.base import Command, Remark, Statement, remark, text_of
from myisam_advisor.remedies.statements.closing import FlushTables
from myisam_advisor.remedies.statements.tables import AnalyzeTable, CheckTable, RepairPartitions
from myisam_advisor.reports.formats.json import finding_document
from myisam_exporter.look.fact_set import FactSet

from .test_refused_rebuilds import OPTIMIZE, REPAIR, TABLE, admitted, table

MYSQL = {"server": {"flavour": "mysql", "version": "9.7.4", "data_directory": "/data"}}
TABLES = table(row_format="dynamic", rows=10, data_bytes=1000, index_bytes=1000)


def admitted_all(commands: tuple[Statement, ...], **facts: Any) -> tuple[Command, ...]:
    return RemedyGate(PlanFacts(complete(facts_from_document({"schema": 1, **facts})))).admit(Remedy(commands)).remedy.commands


def lying(*files: str | None, **columns: Any) -> list[dict[str, Any]]:
    return [{"schema_name": "x", "table_name": "t", "file_name": file, **columns} for file in files]


WORDS = (
    "-- t.TMD (in /data/x): If no rebuild of the table is running (SHOW PROCESSLIST), an earlier one left this file: move it out of the directory, or rename it to end in -TMD.BAK. "
    "If one is running, leave it: the server removes the file itself. If t.MYD is gone, its rows may be in this file alone: do not delete it."
)
WRITTEN: list[dict[str, Any]] = [{"written_since_start": 0}, {"written_since_start": 1}, {}]


def found_in(facts: FactSet, rule: str) -> Finding:
    (found,) = [one for one in judge(prepared(facts, Site(shipped_rules()))).findings if one.rule == rule]
    return found


def facts_of(columns: dict[str, Any], **written: Any) -> FactSet:
    document = {"schema": 1, **MYSQL, "host": {"data_directory_free_bytes": 1 << 40}, "tables": [{**TABLES[0], **columns}], "rebuild_file": lying("t.TMD", **written)}
    return complete(facts_from_document(document))


@pytest.mark.parametrize("command", [OPTIMIZE, REPAIR, RepairPartitions(TABLE, partitions=("p0",))])
@pytest.mark.parametrize("written", WRITTEN)
def test_where_one_lies_a_rebuild_waits_behind_words_on_what_to_do_with_it(command: Any, written: dict[str, Any]) -> None:
    found = admitted(command, **MYSQL, tables=TABLES, rebuild_file=lying("t.TMD", **written))
    first, then = found.remedy.commands
    assert isinstance(first, Remark)
    assert text_of(first) == WORDS
    assert for_copying(found.remedy.commands) == [f"-- {WORDS}", f"-- {command.sql}"]
    assert now_and_later(found.remedy.commands) == ((), (first, then))
    left = ", left by a rebuild that ended with the server" if written == {"written_since_start": 0} else ""
    (cost,) = (cost for cost in found.cost if "TMD" in cost)
    assert cost.startswith(f"Beside the table lies t.TMD{left}: MySQL writes over none")


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize(("rule", "columns", "runs"), [
    ("fragmented-table", {"rows": 6_000_000, "data_bytes": 5 << 30, "index_bytes": 300_000_000, "fragments_per_row": 1.34, "crashed": 0}, 0),
    ("table-crashed", {"crashed": 1}, 2),
])  # fmt: skip
def test_no_format_has_it_run_and_the_words_stay_with_the_statement(rule: str, columns: dict[str, Any], runs: int, written: dict[str, Any]) -> None:
    facts = facts_of(columns, **written)
    finding = found_in(facts, rule)
    document = finding_document(finding)
    commands, later = list(document["commands"]), list(document["offered_commands"])  # type: ignore[call-overload]
    assert len(commands) == runs
    assert [line.partition(" ")[0] for line in commands] == ["FLUSH", "df"][:runs]
    assert WORDS in later
    assert later[later.index(WORDS) + 1].startswith(("OPTIMIZE", "REPAIR"))
    assert "mv " not in json.dumps(document)
    plan = make_plan([finding], facts)
    assert (plan.online, plan.shell) == ([], [])
    (offline,) = plan.offline
    texts = list(map(text_of, offline.statements))
    assert texts == later
    assert len(offline.before) == runs
    assert json.loads(json_plan.render(plan))["offline"][0]["statements"] == later
    for lines in (sql.render(plan).splitlines(), markdown.render(plan).splitlines()):
        at = lines.index(f"-- {WORDS}")
        assert lines[at + 1] == f"-- {texts[-1]}"
        assert all(line.startswith("-- ") for line in lines if texts[-1] in line)
        assert not any("mv " in line for line in lines)


def test_a_rules_own_statement_before_it_waits_with_it() -> None:
    finding = found_in(facts_of({"crashed": 1}, written_since_start=1), "table-crashed")
    commands = admitted_all((FlushTables((TABLE,)), OPTIMIZE), **MYSQL, tables=TABLES, rebuild_file=lying("t.TMD"))
    plan = make_plan([replace(finding, remedy=Remedy(commands))], facts_of({}))
    assert (plan.online, plan.shell) == ([], [])
    assert plan.offline[0].lock == OPTIMIZE.lock


def test_where_none_lies_nothing_is_said_and_where_nobody_looked_it_is_to_be_looked_for() -> None:
    assert not any("TMD" in cost for cost in admitted(OPTIMIZE, **MYSQL, tables=TABLES, rebuild_file=[]).cost)
    unseen: list[dict[str, Any]] = [{"tables": TABLES}, {"rebuild_file": []}, {"tables": TABLES, "rebuild_file": lying(None)}, {"tables": TABLES, "rebuild_file": lying("t.TMM", None)}]
    for facts in unseen:
        found = admitted(OPTIMIZE, **MYSQL, **facts)
        assert found.remedy.commands == (OPTIMIZE,)
        assert IN_WORDS in found.cost


def test_what_writes_over_it_or_makes_no_file_is_left_alone() -> None:
    beside = {"tables": TABLES, "rebuild_file": lying("t.TMD", written_since_start=0)}
    for server in ({"flavour": "mariadb", "version": "10.11.6"}, {"flavour": "mysql", "version": "5.5.34"}):
        assert admitted(OPTIMIZE, server=server, **beside).remedy.commands == (OPTIMIZE,)
    assert admitted(AnalyzeTable(TABLE), **MYSQL, **beside).remedy.commands == (AnalyzeTable(TABLE),)


def test_without_a_path_the_file_is_named_alone() -> None:
    for directory in (None, "relative", "/with\nline"):
        server = {**MYSQL["server"], "data_directory": directory}
        (first, _) = admitted(OPTIMIZE, server=server, tables=TABLES, rebuild_file=lying("t.TMM", written_since_start=0)).remedy.commands
        assert text_of(first).startswith("-- t.TMM (in the database's directory): If no rebuild")
        assert "end in -TMM.BAK" in text_of(first)
        assert "If t.MYI is gone, its index may be in this file alone" in text_of(first)


def test_a_name_cannot_end_the_line() -> None:
    (first, _) = admitted(OPTIMIZE, **MYSQL, tables=TABLES, rebuild_file=lying("t\nDROP TABLE x.TMD")).remedy.commands
    assert text_of(first).startswith("-- t\\nDROP TABLE x.TMD (in /data/x)")


def test_many_are_named_in_part() -> None:
    files = [f"t#P#p{number}.TMD" for number in range(5)]
    found = admitted(OPTIMIZE, **MYSQL, tables=TABLES, rebuild_file=lying(*files, written_since_start=0))
    assert [text_of(one).partition(" (")[0] for one in found.remedy.commands[:3]] == [f"-- t#P#p{number}.TMD" for number in range(3)]
    assert text_of(found.remedy.commands[3]) == "-- 2 more such files lie there: the same holds for each."
    assert len(found.remedy.commands) == 5
    assert any("lie t#P#p0.TMD, t#P#p1.TMD, t#P#p2.TMD and 2 more, left by a rebuild" in cost for cost in found.cost)


def test_the_copy_of_a_crashed_table_stands_before_the_words() -> None:
    finding = found_in(facts_of({"crashed": 1}, written_since_start=0), "table-crashed")
    shown = [(portion.in_shell, portion.lines[-1]) for portion in portions([finding.remedy.commands])]
    assert not any(portion.is_altered for portion in portions([finding.remedy.commands]))  # no name is blamed
    assert [in_shell for in_shell, _ in shown] == [False, True, False]
    assert "cp -p" in shown[1][1]
    assert shown[2][1] == "-- REPAIR TABLE `x`.`t`;"
    plan = sql.render(make_plan([finding], facts_of({"crashed": 1}, written_since_start=0)))
    assert plan.index("FLUSH TABLES") < plan.index("cp -p") < plan.index("CHECK TABLE `x`.`t`;") < plan.index("t.TMD (in") < plan.index("-- REPAIR TABLE `x`.`t`;")


def test_a_remark_between_check_and_repair_does_not_make_the_repair_a_check() -> None:
    group = (CheckTable(TABLE), remark("between"), REPAIR)
    known = PlanFacts(complete(facts_from_document({"schema": 1, **MYSQL, "tables": TABLES})))
    told = describe_offline((), group, known, rebuild_rates_for(known.all, known.rates))
    assert told.lock == REPAIR.lock
    assert told.needed_bytes == 2000
