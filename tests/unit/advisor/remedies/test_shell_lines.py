import copy
import shlex

import pytest

from myisam_advisor.remedies.shell_lines import NOT_SHOWN, ShellLine, shell_line


@pytest.mark.parametrize("value", ["a", "a b", "$(id)", "`id`", "a;b", "it's", "*", "", "-rf", "\\", "\u00e4"])
def test_a_value_is_one_word_whatever_it_holds(value: str) -> None:
    assert shlex.split(shell_line("cp -p -- {} /backup/{}", value, value)) == ["cp", "-p", "--", value, f"/backup/{value}"]


@pytest.mark.parametrize("value", ["a\nb", "a\rb", "\0", "\x1b[2J", "a\u2028b", "\u202e"])
def test_what_could_be_more_than_one_line_is_refused_as_value_and_as_meaning(value: str) -> None:
    for values, meant in (((value,), ""), (("a",), value)):
        with pytest.raises(ValueError, match="cannot stand in a line for a shell"):
            shell_line("cat {}", *values, meant=meant)


@pytest.mark.parametrize(("template", "values"), [("cat {}", ()), ("cat", ("a",)), ("cat {} {}", ("a",))])
def test_places_and_values_must_agree(template: str, values: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="places"):
        shell_line(template, *values)


def test_who_sees_no_path_is_told_what_the_line_does() -> None:
    assert shell_line("cat {}", "/srv/a", meant="show its file").in_words == "# show its file"
    assert shell_line("cat {}", "/srv/a").in_words == f"# {NOT_SHOWN}"


def test_a_line_stays_one_in_copies_with_what_it_means() -> None:
    copied = copy.deepcopy(shell_line("cat {}", "a", meant="show it"))
    assert (type(copied), copied, copied.meant) == (ShellLine, "cat a", "show it")
