"""A line for a shell without its path is none: who may not see paths reads what it does."""

import subprocess

import pytest

from myisam_advisor.remedies.shell_lines import NOT_SHOWN, ShellLine, shell_line
from myisam_advisor.reports.page.host_paths import document_without_paths, odd_paths, without_host_paths, without_paths
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


@pytest.mark.parametrize("path", ["/etc/my sql/conf d/x y.cnf", "/my.cnf", "/srv/it's (here)/my.cnf", "/srv/a,b/my.cnf"])
def test_of_a_path_whose_end_cannot_be_seen_nothing_is_shown(path: str) -> None:
    known = facts(server=MARIADB, variable={"init_file": path, "tmpdir": f"/tmp:{path}x", "datadir": "/srv/data/"}, variable_origin=[{"name": "flush", "origin": "option_file", "option_file": f"{path}.d"}])
    odd = odd_paths(known)
    assert [name for name in odd if ":" not in name and name != "/tmp"] == [f"{path}.d", f"{path}x", path], "the longest first; others are seen by their letters"
    assert without_paths(f"{path}/below, /var/tmp/x and /tmp.", None, odd) == "(a path), (a path) and (a path)."
    text = f"Put flush = ON back into {path}.d. Add the lines to the end of {path}, and keep its contents."
    hidden = "Put flush = ON back into (a path). Add the lines to the end of (a path), and keep its contents."
    assert without_paths(text, None, odd) == without_host_paths(text, DIRECTORY, odd) == hidden
    assert document_without_paths({"undo": [text]}, DIRECTORY, odd) == {"undo": [hidden]}


def test_who_logged_in_sees_an_odd_path_below_the_data_directory() -> None:
    odd = odd_paths(facts(server=MARIADB, variable={"init_file": "/srv/data/a b.sql"}))
    assert without_host_paths("See /srv/data/a b.sql.", DIRECTORY, odd) == "See /srv/data/a b.sql."
    assert without_paths("See /srv/data/a b.sql.", DIRECTORY, odd) == "See (a path)."
