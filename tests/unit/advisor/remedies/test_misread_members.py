"""Of a table whose members the server reads cut in half no ALTER is offered, whoever asks for it: in commands, and in words."""

from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.remedy import Admitted, Remedy
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_exporter.server.sql import statement

ROW = {"schema_name": "shop", "table_name": "t", "row_format": "fixed", "rows": 10, "fixed_row_bytes": 9}
MISREAD = {**ROW, "misread_columns": 2}
LOST = "2 ENUM or SET columns of shop.t share a list of members"


def admitted(command: Statement, row: dict[str, Any]) -> Admitted:
    return RemedyGate(PlanFacts(complete(facts_from_document({"schema": 1, "tables": [row]})))).admit(Remedy(commands=(command,)))


@pytest.mark.parametrize("words", [
    "ENGINE=InnoDB", "ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0", "ROW_FORMAT=FIXED", "PACK_KEYS = 0", "MAX_ROWS=0 AVG_ROW_LENGTH=0", "FORCE",
    "FORCE REMOVE PARTITIONING", "DELAY_KEY_WRITE=1", "ADD INDEX of_a (a)", "DROP INDEX of_a", "COMMENT = 'x'",
])  # fmt: skip
def test_no_alter_is_offered_that_writes_the_members(words: str) -> None:
    command = parsed(statement(f"ALTER TABLE `shop`.`t` {words};"))
    passed = admitted(command, MISREAD)
    assert passed.remedy.commands == ()
    (why,) = passed.instead
    assert why.startswith(f"No ALTER TABLE yet: {LOST}")
    assert "myisam-advisor migrate" in why
    for row in (ROW, {**ROW, "misread_columns": 0}):
        assert admitted(command, row).remedy.commands == (command,)


@pytest.mark.parametrize("words", [
    "CREATE INDEX of_a ON {} (a);", "create unique index of_a on shop.t (a)", "DROP INDEX of_a ON {};", "ALTER IGNORE TABLE {} ADD UNIQUE (a);", "ALTER ONLINE TABLE {} FORCE;", "ALTER TABLE {} DROP PARTITION p1",
    "alter table shop.t force;", "/* at night */ ALTER TABLE {} FORCE;",
])  # fmt: skip
def test_in_whichever_words_a_rule_of_the_site_asks_for_it(words: str) -> None:
    command = parsed(statement(words.replace("{}", "`shop`.`t`")))
    assert admitted(command, MISREAD).remedy.commands == ()
    assert admitted(command, ROW).remedy.commands == (command,)


@pytest.mark.parametrize("words", ["ALTER TABLE t FORCE;", "ALTER TABLE `T` ENGINE = InnoDB", "CREATE INDEX of_a ON t (a);"])
def test_a_statement_that_names_no_database_may_mean_each_table_of_that_name(words: str) -> None:
    command = parsed(statement(words))
    assert LOST in admitted(command, MISREAD).instead[0]
    assert admitted(command, ROW).remedy.commands == (command,)
    assert admitted(command, {**MISREAD, "table_name": "u"}).remedy.commands == (command,)


@pytest.mark.parametrize("words", [
    "ALTER TABLE {} TRUNCATE PARTITION p1", "ALTER TABLE {} RENAME TO shop.u", "OPTIMIZE TABLE {}", "ANALYZE TABLE {}", "CHECK TABLE {} EXTENDED", "REPAIR TABLE {}", "ALTER TABLE {} ENABLE KEYS", "ALTER TABLE {}  DISABLE  KEYS",
])  # fmt: skip
def test_what_leaves_the_definition_as_it_is_passes(words: str) -> None:
    command = parsed(statement(words.format("`shop`.`t`") + ";"))
    assert admitted(command, MISREAD).remedy.commands == (command,)


@pytest.mark.parametrize(("words", "passes"), [("REPAIR TABLE {}", False), ("REPAIR TABLE {} USE_FRM", True), ("OPTIMIZE TABLE {}", True)])
def test_a_repair_that_copies_a_table_of_old_columns_is_an_alter(words: str, *, passes: bool) -> None:
    command = parsed(statement(words.format("`shop`.`t`") + ";"))
    told = admitted(command, {**MISREAD, "obsolete_columns": 1})
    assert bool(told.remedy.commands) is passes
    assert passes or "myisamchk -r" in told.instead[0]
    assert admitted(command, {**ROW, "obsolete_columns": 1}).remedy.commands == (command,)


@pytest.mark.parametrize(("misread", "told"), [(2, 1), (0, 0), (None, 0)])
def test_advice_in_words_says_so_too(misread: int | None, told: int) -> None:
    row = {**ROW, "misread_columns": misread, "rows": 100_000, "auto_increment_value": 2_000_000_000, "auto_increment_maximum": 2_147_483_647, "auto_increment_within_index": 0, "data_bytes": 900_000, "index_bytes": 900_000}
    facts = facts_from_document({"schema": 1, "server": {"flavour": "mysql", "version": "5.6.24"}, "tables": [row]})
    (found,) = (one for one in judge(prepared(facts, Site(shipped_rules()))).findings if one.rule == "auto-increment-nearly-full")
    assert found.recommendation.count(LOST) == told


def told_of(rule: str, *rows: dict[str, Any], version: str = "5.6.24") -> str:
    facts = facts_from_document({"schema": 1, "server": {"flavour": "mysql", "version": version}, "totals": {"myisam_tables": len(rows)}, "tables": list(rows)})
    (found,) = (one for one in judge(prepared(facts, Site(shipped_rules()))).findings if one.rule == rule)
    return found.recommendation


OLD = {"created_version": 50018, "obsolete_columns": 1, "old_temporal_columns": 0, "data_bytes": 90, "index_bytes": 1024}
AFTERWARDS = "Once the table is repaired (a crashed one takes no ALTER, error 145), run the two ALTERs that keep them"


@pytest.mark.parametrize(("further", "way"), [({}, "No ALTER TABLE yet: "), (OLD, "Stop the server and run myisamchk -r on its .MYI file")])
def test_a_crashed_table_is_repaired_before_the_two_alters(further: dict[str, Any], way: str) -> None:
    words = told_of("table-crashed", {**MISREAD, "crashed": 1, **further})
    assert (words.count(LOST), words.count("members-misread"), words.count(AFTERWARDS)) == (1, 1, 1)
    assert way in words
    assert "First run the two ALTERs" not in words


@pytest.mark.parametrize(("row", "says"), [
    ({**MISREAD, **OLD, "crashed": 1}, "No ALTER TABLE of shop.t yet, nor REPAIR TABLE of shop.t, which copies as an ALTER does: this server reads"),
    ({**MISREAD, **OLD, "crashed": 0}, "No REPAIR TABLE and no ALTER TABLE yet: "),
    ({**MISREAD, "created_version": 50018, "obsolete_columns": 0, "old_temporal_columns": 0}, "No ALTER TABLE of shop.t yet: this server reads"),
])  # fmt: skip
def test_a_finding_about_the_server_says_it_of_tables_that_it_counts(row: dict[str, Any], says: str) -> None:
    words = told_of("upgrade-blockers", row)
    assert "and repair what it names" in words
    assert says in words
    assert words.count("members-misread") == 1
    assert "members-misread" not in told_of("upgrade-blockers", {**row, "misread_columns": 0})


def test_a_finding_that_alters_nothing_leaves_it_out() -> None:
    facts = facts_from_document({"schema": 1, "server": {"flavour": "mysql", "version": "5.6.24"}, "host": {"data_directory_free_bytes": 1, "data_directory_total_bytes": 1 << 40}, "tables": [MISREAD]})
    (full,) = (one for one in judge(prepared(facts, Site(shipped_rules()))).findings if one.rule == "disk-nearly-full")
    assert "members-misread" not in full.recommendation
