"""Whether a server refuses to convert a table is looked for once, for all tables together, and only where a finding would give the ALTER."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.advice import TABLES_TO_LIST_AGAIN, of_small_databases
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.migrate.refused_here import KEPT_SECONDS, KeptRefusals
from myisam_advisor.remedies.planners.base import Plan, PlanContext, PlanFacts, planner_named
from myisam_advisor.remedies.refused_conversions import MOST_TABLES, Refusals, RefusedConversions, migrate_line
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import TableName
from myisam_exporter.look.fact_set import FactRows
from myisam_exporter.server.session import Session
from tests.support.moved_clock import MovedClock
from tests.support.planning import MARIADB, facts, parameters_of, texts

REFUSED, TAKEN, UNSEEN = ("shop", "kept"), ("shop", "plain"), ("shop", "away")
WHY = "error 4120: the server keeps the history of its rows"
LOAD: dict[str, Any] = {"schema": 1, "interval_seconds": 10, "server": {"flavour": "mariadb", "version": "10.11.6"}, "status_per_second": {"Table_locks_waited": 12, "Table_locks_immediate": 300}}


class Looking:
    """Answers for two tables, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[list[TableName]] = []

    def __call__(self, names: Sequence[TableName]) -> Refusals:
        self.asked.append(list(names))
        return {REFUSED: (WHY,), TAKEN: ()}


def planned(table: TableName, conversions: RefusedConversions, row: dict[str, Any] | None = None) -> Plan:
    given = {"schema_name": table[0], "table_name": table[1], "data_bytes": 1000, "index_bytes": 2048, "rows": 10, **(row or {})}
    plan = planner_named("engine_migration")(given, PlanContext(PlanFacts(facts(server=MARIADB), conversions=conversions), parameters_of("engine_migration")))
    assert isinstance(plan, Plan)
    return plan


def test_of_a_refused_table_there_is_no_alter_and_the_words_name_the_error_and_what_mends_it() -> None:
    plan = planned(REFUSED, RefusedConversions(Looking(), [REFUSED, TAKEN]), {"auto_increment_within_index": 1})
    assert (plan.commands, plan.undo_commands) == ((), ())
    assert plan.values["blockers"] == f"Obstacles: {WHY}.", "what the facts let one suppose is not told beside what was read"
    assert "Only then remove the obstacles and convert" in str(plan.values["advice"])
    assert "Before that, run `sudo myisam-advisor migrate shop.kept`. It says how to remove what the server refuses, and what breaks." in str(plan.values["advice"])


def test_of_a_table_that_it_takes_the_facts_still_say_what_would_change_in_silence() -> None:
    assert texts(planned(TAKEN, RefusedConversions(Looking(), [TAKEN])).commands) == ["ALTER TABLE `shop`.`plain` ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;"]
    assert planned(TAKEN, RefusedConversions(Looking(), [TAKEN]), {"auto_increment_within_index": 1}).commands == ()


@pytest.mark.parametrize("conversions", [RefusedConversions(), RefusedConversions(Looking(), [UNSEEN]), RefusedConversions(Looking(), [TAKEN])], ids=["nobody looks", "not seen", "not asked for"])
def test_where_nobody_could_look_the_alter_stays_and_the_words_say_so(conversions: RefusedConversions) -> None:
    plan = planned(UNSEEN, conversions)
    assert plan.commands
    assert "Before that, run `sudo myisam-advisor migrate shop.away`." in str(plan.values["advice"])
    assert "what this server refuses to convert (a table with SYSTEM VERSIONING, for example): nobody could look for that here" in str(plan.values["advice"])


def test_a_name_is_one_word_of_the_line_and_none_that_is_no_line_stands_in_it() -> None:
    assert migrate_line("shop", "a b") == "sudo myisam-advisor migrate 'shop.`a b`'"
    assert migrate_line("shop", "a\nb") == "sudo myisam-advisor migrate DB.TABLE"


def document(*tables: str, **changed: Any) -> dict[str, Any]:
    rows = [{"schema_name": "shop", "table_name": name, "row_format": "dynamic", "rows": 1000, "data_bytes": 90000, "index_bytes": 20480, "rows_changed_per_second": 25, "rows_added_per_second": 0.1} for name in tables]
    return {**LOAD, "tables": rows, **changed}


def test_all_tables_are_looked_at_together_and_no_other() -> None:
    looking = Looking()
    judgement = judge(prepared(facts_from_document(document("kept", "plain")), Site(shipped_rules())), refusals=looking)
    commands = {one.object: one.commands for one in judgement.findings if one.rule == "migrate-engine"}
    assert commands["shop.kept"] == ()
    assert len(commands["shop.plain"]) == 1
    assert [sorted(names) for names in looking.asked] == [[REFUSED, TAKEN]]


def test_nobody_looks_where_no_finding_would_give_the_alter() -> None:
    looking = Looking()
    quiet = document("kept", status_per_second={"Table_locks_waited": 0, "Table_locks_immediate": 300})
    judge(prepared(facts_from_document(quiet), Site(shipped_rules())), refusals=looking)
    assert looking.asked == []


def test_of_very_many_tables_the_first_are_looked_at() -> None:
    looking = Looking()
    RefusedConversions(looking, [("shop", str(number)) for number in range(10 * MOST_TABLES)]).of("shop", "0")
    assert len(looking.asked[0]) == MOST_TABLES


def test_a_daemon_of_very_many_tables_looks_into_databases_that_hold_few() -> None:
    rows = [(name,) for name, held in (("shop", 10), ("blogs", TABLES_TO_LIST_AGAIN - 10), ("wiki", 1), ("archive", TABLES_TO_LIST_AGAIN + 1)) for _ in range(held)]
    tables, looking = FactRows(("schema_name",), rows), Looking()
    of_small_databases(looking, tables, [REFUSED, ("archive", "old"), ("wiki", "page"), TAKEN])
    of_small_databases(looking, tables, [("blogs", "post"), REFUSED])
    of_small_databases(looking, tables, [("blogs", "post"), ("wiki", "page"), TAKEN])
    assert looking.asked == [[REFUSED, ("wiki", "page"), TAKEN], [("blogs", "post"), REFUSED], [("wiki", "page"), TAKEN]]
    # Asked for no table, a look would be at all of them.
    assert of_small_databases(looking, tables, [("archive", "old")]) == {}
    assert len(looking.asked) == 3


def test_a_daemon_asks_again_after_a_while_or_for_another_table_and_keeps_that_nobody_may_look() -> None:
    asked = []

    def session() -> Session:
        asked.append(1)
        raise UserError("it is not watched any more.")

    clock = MovedClock()
    kept = KeptRefusals(session, Path("/proc"), clock)
    assert kept([REFUSED, TAKEN]) == kept([TAKEN]) == {}
    assert len(asked) == 1
    kept([UNSEEN])
    assert len(asked) == 2
    clock.move(KEPT_SECONDS)
    kept([UNSEEN])
    assert len(asked) == 3
