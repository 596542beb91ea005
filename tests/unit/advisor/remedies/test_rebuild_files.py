"""What is said, and done first, where a rebuild left a file beside the table that is to be rebuilt."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.catalogue.measured import rebuild_rates_for
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.changes.formats.sql import render
from myisam_advisor.changes.offline import describe_offline
from myisam_advisor.changes.plan import make_plan
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.rebuild_files import IN_WORDS
from myisam_advisor.remedies.script import for_copying, portions
from myisam_advisor.remedies.statements.base import Remark, remark, text_of
from myisam_advisor.remedies.statements.tables import AnalyzeTable, CheckTable, RepairPartitions

from .test_refused_rebuilds import OPTIMIZE, REPAIR, TABLE, admitted, table

MYSQL = {"server": {"flavour": "mysql", "version": "9.7.4", "data_directory": "/data"}}
TABLES = table(row_format="dynamic", rows=10, data_bytes=1000, index_bytes=1000)


def lying(*files: str | None, **columns: Any) -> list[dict[str, Any]]:
    return [{"schema_name": "x", "table_name": "t", "file_name": file, **columns} for file in files]


@pytest.mark.parametrize("command", [OPTIMIZE, REPAIR, RepairPartitions(TABLE, partitions=("p0",))])
def test_where_one_lies_a_rebuild_waits_until_it_is_moved(command: Any) -> None:
    found = admitted(command, **MYSQL, tables=TABLES, rebuild_file=lying("t.TMD", written_since_start=0))
    first, then = for_copying(found.remedy.commands)
    assert first == "test -e /data/x/t.MYD && test ! -e /data/x/t-TMD.BAK && mv /data/x/t.TMD /data/x/t-TMD.BAK  # while no rebuild of the table is at work"
    assert then == f"-- {command.sql}"
    assert any(cost.startswith("First move t.TMD of a rebuild that ended with the server away: MySQL writes over none") for cost in found.cost)


def test_of_one_that_may_be_at_work_that_is_said() -> None:
    for columns in ({"written_since_start": 1}, {}):
        (cost,) = (cost for cost in admitted(OPTIMIZE, **MYSQL, tables=TABLES, rebuild_file=lying("t.TMD", **columns)).cost if "TMD" in cost)
        assert cost.startswith("First move t.TMD away: ")
        assert "Unless a rebuild of the table is at work" in cost


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


def test_without_a_path_that_can_stand_in_a_line_it_is_said_in_words() -> None:
    for directory in (None, "relative", "/with\nline"):
        server = {**MYSQL["server"], "data_directory": directory}
        (first, _) = admitted(OPTIMIZE, server=server, tables=TABLES, rebuild_file=lying("t.TMM", written_since_start=0)).remedy.commands
        assert isinstance(first, Remark)
        assert text_of(first).startswith("-- first rename t.TMM in the database's directory")


def test_many_are_named_in_part() -> None:
    files = [f"t#P#p{number}.TMD" for number in range(5)]
    found = admitted(OPTIMIZE, **MYSQL, tables=TABLES, rebuild_file=lying(*files, written_since_start=0))
    assert len(found.remedy.commands) == 6
    assert any("First move t#P#p0.TMD, t#P#p1.TMD, t#P#p2.TMD and 2 more of a rebuild" in cost for cost in found.cost)


def test_the_only_rows_stay_where_they_are(tmp_path: Path) -> None:
    server = {**MYSQL["server"], "data_directory": str(tmp_path)}
    (first, _) = admitted(OPTIMIZE, server=server, tables=TABLES, rebuild_file=lying("t.TMD", written_since_start=0)).remedy.commands
    line = text_of(first)
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "t.TMD").write_bytes(b"rows")
    assert subprocess.run(["sh", "-c", line], check=False).returncode
    (folder / "t.MYD").touch()
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 0
    assert {file.name for file in folder.iterdir()} == {"t.MYD", "t-TMD.BAK"}


def test_what_is_to_be_moved_stands_before_the_repair_of_a_crashed_table() -> None:
    document = {"schema": 1, **MYSQL, "host": {"data_directory_free_bytes": 1 << 40}, "tables": [{**TABLES[0], "crashed": 1}], "rebuild_file": lying("t.TMD", written_since_start=0)}
    facts = complete(facts_from_document(document))
    (finding,) = [one for one in judge(prepared(facts, Site(shipped_rules()))).findings if one.rule == "table-crashed"]
    shown = [(portion.in_shell, portion.lines[-1]) for portion in portions([finding.remedy.commands])]
    assert [in_shell for in_shell, _ in shown] == [False, True, False, True, False]
    assert "cp -p" in shown[1][1]
    assert "mv /data/x/t.TMD" in shown[3][1]
    assert shown[4][1] == "-- REPAIR TABLE `x`.`t`;"
    plan = render(make_plan([finding], facts))
    assert plan.index("mv /data/x/t.TMD") < plan.index("-- REPAIR TABLE")


def test_a_remark_between_check_and_repair_does_not_make_the_repair_a_check() -> None:
    group = (CheckTable(TABLE), remark("between"), REPAIR)
    known = PlanFacts(complete(facts_from_document({"schema": 1, **MYSQL, "tables": TABLES})))
    told = describe_offline((), group, known, rebuild_rates_for(known.all, known.rates))
    assert told.lock == REPAIR.lock
    assert told.needed_bytes == 2000
