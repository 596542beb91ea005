"""A line for a shell without its path is none: who may not see paths reads what it does."""

import subprocess

import pytest

from myisam_advisor.remedies.shell_lines import NOT_SHOWN, ShellLine, shell_line
from myisam_advisor.reports.page.host_paths import document_without_paths, without_paths
from myisam_advisor.reports.page.view import cleaner
from tests.support.planning import MARIADB, facts, planned

ROW = {"schema_name": "shop", "table_name": "orders", "data_bytes": 1000, "index_bytes": 2000, "header_problem": None}
DIRECTORY = "/srv/data"
IN_WORDS = "# copy the files of shop.orders (.MYI, .MYD and .frm) from the data directory to a disk with room for them, outside of it"


@pytest.fixture
def copy() -> ShellLine:
    known = facts(server={**MARIADB, "data_directory": DIRECTORY})
    (line,) = (one for one in planned("crashed_table", ROW, known).commands if isinstance(one, ShellLine))
    return line


def test_the_copy_of_a_crashed_table_is_told_in_words(copy: ShellLine) -> None:
    assert "&& cp -p /srv/data/shop/orders.* " in copy
    assert without_paths(copy, DIRECTORY) == IN_WORDS
    assert document_without_paths({"commands": (copy,)}, DIRECTORY) == {"commands": [IN_WORDS]}
    assert subprocess.run(["sh", "-n"], input=IN_WORDS, text=True, check=False).returncode == 0


def test_a_line_that_does_not_say_what_it_does_is_told_to_be_left_out() -> None:
    assert without_paths(shell_line("cat {}", "/srv/data/shop/a.MYD"), DIRECTORY) == f"# {NOT_SHOWN}"


def test_a_line_without_a_path_stays_as_it_is() -> None:
    line = shell_line("myisam-advisor trial pack-keys --table {}", "shop.orders", meant="try it")
    assert without_paths(line, DIRECTORY) is line


def test_no_words_hold_what_a_terminal_would_act_on() -> None:
    with pytest.raises(ValueError, match="control character"):
        shell_line("cat {}", "/a/b", meant="a\nb")


def test_who_may_see_paths_gets_the_line(copy: ShellLine) -> None:
    assert cleaner(None, paths=True)[1](copy) is copy
    assert cleaner(None, paths=False)[1](copy) == IN_WORDS
