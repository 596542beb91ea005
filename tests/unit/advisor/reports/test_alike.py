"""What several findings say: once what they say alike, and of each what is its own."""

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.script import portions
from myisam_advisor.reports.alike import said_of_all
from myisam_advisor.reports.told import told


@pytest.mark.parametrize(
    ("said", "together"),
    [
        ([], ""),
        ([("a", ""), ("b", "")], ""),
        ([("a", "It locks.")], "It locks."),
        ([("a", "It locks."), ("b", "It locks.")], "It locks."),
        ([("a", "It copies 1 MiB. Readers go on."), ("b", "It copies 2 MiB. Readers go on.")], "a: It copies 1 MiB. b: It copies 2 MiB. Readers go on."),
        ([("a", "Look. Take 1. End."), ("b", "Look. Take 1. End."), ("c", "Look. Take 2. End.")], "Look. a, b: Take 1. c: Take 2. End."),
        ([("a", "Look."), ("b", "Look. Mind the disk.")], "Look. b: Mind the disk."),
        ([("", "One."), ("", "Two.")], "One. Two."),
        ([("`a\nUndo: none needed.`", "It copies 1 MiB."), ("b", "It copies 2 MiB.")], "`a\\nUndo: none needed.`: It copies 1 MiB. b: It copies 2 MiB."),
        ([("a", "Run\nSET x = 1;"), ("b", "Run\nSET x = 2;")], "Run\na:\nSET x = 1;\nb:\nSET x = 2;"),
        ([("a", "Run\nSET x = 1;\nThen look."), ("b", "Run\nSET x = 2;\nThen look.")], "Run\na:\nSET x = 1;\nb:\nSET x = 2;\nThen look."),
        ([(f"t{place}", f"It takes {place}.5 s.") for place in range(14)], " ".join(f"t{place}: It takes {place}.5 s." for place in range(12)) + " Likewise of 2 more."),
    ],
)
def test_what_all_say_stands_once_and_the_rest_by_its_object(said: list[tuple[str, str]], together: str) -> None:
    assert said_of_all(said) == together


def contended(number: int) -> Judgement:
    names = ["od`d name", *(f"t{place}" for place in range(1, number))]
    tables = [{"schema_name": "shop", "table_name": name, "row_format": "dynamic", "rows": 100_000 * place, "data_bytes": 10_000_000 * place, "index_bytes": 1_000_000, "write_statements_per_second": 25, "rows_added_per_second": 0.1} for place, name in enumerate(names, 1)]
    return judge(prepared(facts_from_document({"schema": 1, "interval_seconds": 10, "server": {"flavour": "mariadb", "version": "10.11.6"}, "status_per_second": {"Table_locks_waited": 12, "Table_locks_immediate": 300}, "tables": tables}), Site(shipped_rules())))


@pytest.mark.parametrize("number", [1, 3, 5])
def test_of_tables_that_are_told_together_no_conversion_runs_and_each_has_its_cost_and_way_back(number: int) -> None:
    """Words that say `on a copy first` stand beside no line that runs, however many tables there are, and whatever their names."""
    judgement = contended(number)
    (rule,) = [one for one in told(judgement, facts_from_document({"schema": 1})).rules if one.first.rule == "migrate-engine"]
    assert len(rule.findings) == number
    for commands, count in ((rule.commands, number), (rule.undo_commands, number)):
        lines = [line for portion in portions(commands) for line in portion.lines]
        assert all(line.startswith("-- ") for line in lines)
        assert sum("ALTER TABLE" in line for line in lines) == count
    for finding in rule.findings:
        size = next(fact.value for fact in finding.evidence if fact.label.startswith("its size in InnoDB"))
        assert size
        own = next(sentence for sentence in finding.cost.split(". ") if "of disk" in sentence)
        assert own in rule.cost
        assert finding.undo.split(". ")[0] in rule.undo
    assert rule.recommendation.count("Only then convert one table at a time") == 1
    assert rule.recommendation.count("must then fit into the buffer pool") <= 1
    assert rule.cost.count("Readers continue until the end.") == 1
    assert rule.undo.count("It copies the table again") == 1


def test_what_to_do_about_many_columns_that_run_out_of_numbers_is_said_once() -> None:
    tables = [{"schema_name": "shop", "table_name": f"log{place}", "row_format": "dynamic", "rows": 1000 * place, "data_bytes": 10**8 * place, "index_bytes": 10**7, "auto_increment_value": 2**31 - 10**8 - place, "auto_increment_maximum": 2**31 - 1} for place in range(1, 7)]
    judgement = judge(prepared(facts_from_document({"schema": 1, "server": {"flavour": "mysql", "version": "5.6.24"}, "tables": tables}), Site(shipped_rules())))
    (rule,) = [one for one in told(judgement, facts_from_document({"schema": 1})).rules if one.first.rule == "auto-increment-nearly-full"]
    assert len(rule.findings) == len(tables)
    assert [rule.recommendation.count(words) for words in ("Widen the column", "TRUNCATE TABLE", "do not renumber")] == [1, 1, 1]
