"""What a person copies: lines for a shell apart from statements, and a repair apart from the copy of its files."""

from collections.abc import Sequence

import pytest

from myisam_advisor.remedies.script import ESCAPED, OFFERED, in_comments, now_and_later, portions
from myisam_advisor.remedies.shell_lines import shell_line
from myisam_advisor.remedies.statements.base import Command, remark
from myisam_advisor.remedies.statements.closing import FlushTables, LockTables, UnlockTables
from myisam_advisor.remedies.statements.tables import AlterTable, CheckTable, OptimizeTable, RepairTable, option
from tests.support.planning import MARIADB, facts, planned, texts

COPY = shell_line("cp -p {}.* {}", "/data/shop/a", "/backup")
BY_HAND = remark("between FLUSH TABLES and CHECK TABLE, copy the files of it to a safe place")


def crashed(table: str, *copied: Command) -> tuple[Command, ...]:
    name = ("shop", table)
    closed = FlushTables((name,))
    before: Sequence[Command] = (closed, *copied) if copied else (BY_HAND, closed)
    return (*before, CheckTable(name), RepairTable(name))


def test_a_line_for_a_shell_stands_apart_from_the_statements_around_it() -> None:
    shown = portions([crashed("a", COPY)])
    assert [(one.title(is_first=one is shown[0]), one.lines) for one in shown] == [
        ("run", ("FLUSH TABLES `shop`.`a`;",)),
        ("in a shell", (COPY,)),
        ("then run", ("CHECK TABLE `shop`.`a`;", "REPAIR TABLE `shop`.`a`;")),
    ]


@pytest.mark.parametrize("copied", [(), (COPY,)])
def test_no_repair_is_copied_together_with_the_closing_before_its_copy(copied: tuple[Command, ...]) -> None:
    for one in portions([crashed("a", *copied), crashed("b", *copied)]):
        repairs = {line.split()[2] for line in one.lines if line.startswith("REPAIR")}
        assert not repairs & {line.split()[2] for line in one.lines if line.startswith("FLUSH")}
        assert one.in_shell is (one.lines == (COPY,))


def test_what_the_planner_says_of_an_odd_name_stands_before_the_repair_too() -> None:
    row = {"schema_name": "shop", "table_name": "a-b", "data_bytes": 1000, "index_bytes": 2000, "header_problem": None}
    first, second = portions([planned("crashed_table", row, facts(server=MARIADB)).commands])
    assert first.lines[0].startswith("-- between FLUSH TABLES and CHECK TABLE, copy the files of ")
    assert first.lines[1:] == ("FLUSH TABLES `shop`.`a-b`;",)
    assert [line.split()[0] for line in second.lines] == ["CHECK", "REPAIR"]


def test_what_needs_nothing_before_it_is_copied_at_once() -> None:
    (one,) = portions([(OptimizeTable(("shop", "a")),), (OptimizeTable(("shop", "b")),)])
    assert one.lines == ("OPTIMIZE TABLE `shop`.`a`;", "OPTIMIZE TABLE `shop`.`b`;")
    assert not one.is_altered


def test_a_line_for_a_shell_that_must_not_run_is_a_comment_of_the_shell() -> None:
    (one,) = portions([(shell_line("cat {}", "/data/`a;b`"),)])
    assert one.in_shell
    assert one.is_altered
    assert one.lines == ("# cat '/data/`a;b`'",)


@pytest.mark.parametrize("unseen", ["\u00ad", "\u200b", "\u2060", "\ufeff", "\u00a0", "\u3000"])
def test_a_name_that_is_copied_as_another_does_not_run_as_it_stands(unseen: str) -> None:
    """A browser copies a space for one that must not break, and many a terminal nothing for one of no width: `or ders` would be repaired, or `orders`."""
    (one,) = portions([(OptimizeTable(("shop", f"or{unseen}ders")),)])
    assert one.is_altered
    assert all(line.startswith("-- ") and line.isprintable() for shown in one.lines for line in shown.split("\n"))
    assert ESCAPED in one.lines[0]


def test_the_remark_of_one_finding_is_about_nothing_of_another() -> None:
    """Of three crashed tables the name of the second holds a quote of a client's: it alone is in comments, and all of it."""
    first, second, third = (crashed(name) for name in ("<img>", "```x```", "a%sb"))
    lines = [line for one in portions([first, second, third]) for line in one.lines]
    assert lines == [*texts(first), *(in_comments(text) for text in texts(second)), *texts(third)]


def test_what_waits_for_something_else_is_in_comments_with_the_reason_and_no_name_is_blamed() -> None:
    """In whichever place it stands, and whatever the others are."""
    waits = AlterTable(("shop", "a"), (option(ENGINE="InnoDB"),), is_offered=True)
    runs = OptimizeTable(("shop", "b"))
    for remedies in ([(waits,), (runs,)], [(runs,), (waits,)], [(waits,), (runs,), (waits,)]):
        (one,) = portions(remedies)
        assert one.lines[0] == f"-- {OFFERED}"
        assert [line for line in one.lines if not line.startswith("-- ")] == texts([runs])
        assert not one.is_altered
        assert one.offers


def test_a_program_gets_what_waits_apart_and_a_lock_waits_with_what_it_holds() -> None:
    waits = AlterTable(("shop", "a"), (option(ENGINE="InnoDB"),), is_offered=True)
    runs = OptimizeTable(("shop", "b"))
    held = [LockTables((("shop", "a"),)), waits, UnlockTables()]
    assert now_and_later([runs, *held, runs]) == ((runs, runs), tuple(held))
    assert now_and_later([runs]) == ((runs,), ())
