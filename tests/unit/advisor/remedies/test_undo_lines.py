"""Ways back as a person pastes them: statements by themselves, words behind them."""

import pytest

from myisam_advisor.remedies.undo_lines import one_statement_a_line


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("SET GLOBAL a = 1; SET GLOBAL b = 2; Drop the index.", ["SET GLOBAL a = 1;", "SET GLOBAL b = 2;", "Drop the index."]),
        # A client would take the words for the beginning of the statement behind them.
        ("Drop the index. SET GLOBAL a = 1;", ["SET GLOBAL a = 1;", "Drop the index."]),
        ("UNINSTALL SONAME 'a;b'; Nothing else.", ["UNINSTALL SONAME 'a;b';", "Nothing else."]),
        ("ALTER TABLE `a; SET GLOBAL x = 1;`.`b``c` ENGINE=MyISAM; It copies the table.", ["ALTER TABLE `a; SET GLOBAL x = 1;`.`b``c` ENGINE=MyISAM;", "It copies the table."]),
        # Words about a statement are no statement.
        ("Add it again (ALTER TABLE ... ADD INDEX; it copies the table).", ["Add it again (ALTER TABLE ... ADD INDEX; it copies the table)."]),
        ("ALTER TABLE ... ENABLE KEYS;", ["ALTER TABLE ... ENABLE KEYS;"]),
        ("Set it to its former value; then restart.", ["Set it to its former value; then restart."]),
        ("SET GLOBAL a = 1; SET GLOBAL a = 1;", ["SET GLOBAL a = 1;"]),
        ("Nothing to undo.", ["Nothing to undo."]),
    ],
)
def test_statements_stand_one_a_line_before_the_words(text: str, lines: list[str]) -> None:
    assert one_statement_a_line(text).split("\n") == lines
    assert one_statement_a_line(one_statement_a_line(text)) == one_statement_a_line(text)
