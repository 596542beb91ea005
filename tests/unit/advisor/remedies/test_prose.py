"""Words beside statements are broken for a terminal of 80 columns; what somebody copies is not."""

import pytest

from myisam_advisor.remedies.prose import WIDTH, broken
from myisam_advisor.remedies.script import in_prose, offered_in_prose

WORDS = "the statements that hold the lock are shortened, and writes are taken off the read path"
STATEMENTS = [
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('myisam_recover_options', 'skip_external_locking', 'delay_key_write');",
    "ALTER TABLE `shop`.`a name; with. all that` ENGINE=MyISAM, ROW_FORMAT=DEFAULT, COMMENT='it''s; one. text', MAX_ROWS=100000;",
    "DROP TABLE `DATABASE`.`#mysql50##sql-...`",
    'myisam-advisor query "SELECT schema_name, table_name FROM tables WHERE crashed = 1 OR recovery_failed = 1 OR needs_check"',
    "`myisam-advisor check --statements --interval 60s --history /var/lib/myisam-advisor/history.sqlite --verbose`",
]


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("begin", ["", "table-lock-contention: ", f"{WORDS}. "])
def test_a_statement_is_not_broken_and_the_words_around_it_are(begin: str, statement: str) -> None:
    lines = in_prose(f"{begin}{statement} {WORDS}; {WORDS}.").split("\n")
    assert any(statement in line for line in lines)
    assert all(line.startswith("-- ") for line in lines)
    assert [line for line in lines if len(line) > WIDTH and statement not in line] == []
    assert " ".join(line.removeprefix("-- ") for line in lines) == f"{begin}{statement} {WORDS}; {WORDS}."


def test_what_fits_stays_as_it_is_and_what_an_error_means_goes_on_below_itself() -> None:
    assert broken("  two  spaces", WIDTH) == ["  two  spaces"]
    first, *others = broken(f"  1205  {WORDS}, {WORDS}", WIDTH)
    assert first.startswith("  1205  the statements")
    assert others
    assert all(line.startswith(" " * 8) and line[8] != " " for line in others)


def test_a_name_brings_no_line_without_a_mark() -> None:
    hostile = f"{WORDS} `a\nDROP TABLE x;\r\u2028\x1f` {WORDS}"
    lines = offered_in_prose(hostile).split("\n")
    assert all(line.startswith("-- ") for line in lines)
    assert not any(character in line for line in lines for character in "\r\u2028\x1f")
    assert "written as an escape here" in lines[-1]


def test_words_that_begin_as_a_statement_are_broken_and_a_number_keeps_its_unit() -> None:
    lines = broken(f"Cost: CHECK takes a read lock, and {WORDS} {WORDS}; it takes longer by 3.5 KiB at 48.3 MiB/s, or 0.1 s, or more.", 40)
    assert max(map(len, lines)) <= 40
    assert [width for width in range(20, 60) for line in broken(f"{WORDS} 3.5 KiB {WORDS}", width) if line.endswith("3.5")] == []
