import copy

import pytest

from myisam_advisor.remedies.option_lines import OptionLine, comment_line, option_line, option_value


@pytest.mark.parametrize(
    ("line", "option", "is_comment"),
    [
        (option_line("key_buffer_size", 4096), "key_buffer_size", False),
        (option_line("key_buffer_size", 4096, "hot"), "hot.key_buffer_size", False),
        (option_line("mysqld.skip-networking", "ON"), "mysqld.skip-networking", False),
        (comment_line("key_buffer_size = 4096"), "", True),
    ],
)
def test_a_line_tells_its_option_and_a_comment_none(line: OptionLine, option: str, is_comment: bool) -> None:
    assert (line.option, line.is_comment) == (option, is_comment)


@pytest.mark.parametrize("name", ["h", "9hot", "_", "$", "hot-1", "h" * 64])
def test_a_key_cache_is_named_where_an_option_file_can(name: str) -> None:
    assert option_line("key_buffer_size", 1, name) == f"{name}.key_buffer_size = 1"


@pytest.mark.parametrize("name", ["-hot", "h.t", "h t", "h=t", "h#t", "h\nt", "hot\n", "[mysqld]", "!include", "h\u00f6t", "h" * 65])
def test_a_key_cache_that_no_option_file_can_name_is_a_comment_with_the_way(name: str) -> None:
    line = option_line("key_buffer_size", 4096, name)
    assert line.is_comment
    assert "set its key_buffer_size to 4096 after each start of the server" in line
    assert line.isprintable()


@pytest.mark.parametrize("option", ["", "1a", "a b", "a=b", "a#", "a\n", "a.b.c", "a.", ".a", "!include"])
def test_what_can_be_no_option_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of an option"):
        option_line(option, 1)


@pytest.mark.parametrize("option", ["a.b", "a-b", "a b", "a\n"])
def test_behind_a_key_cache_stands_a_variable(option: str) -> None:
    with pytest.raises(ValueError, match="system variable"):
        option_line(option, 1, "hot")


@pytest.mark.parametrize("value", ["a b", "a#b", "a\n", "'a'", '"', "a\\b", "a;b", "\u00e9"])
def test_a_value_that_could_be_read_otherwise_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="more than plain words"):
        option_value(value)


@pytest.mark.parametrize(("value", "told"), [("", ""), ("/var/lib/mysql-files/a_b,c:d@e+f.cnf", "/var/lib/mysql-files/a_b,c:d@e+f.cnf"), (1 << 40, "1099511627776"), (0.5, "0.5")])
def test_plain_words_and_numbers_stand_as_they_are(value: str | float, told: str) -> None:
    assert option_value(value) == told


def test_what_is_neither_number_nor_text_is_no_value() -> None:
    with pytest.raises(TypeError, match="neither a number nor quoted"):
        option_value(None)


def test_a_line_stays_one_in_copies() -> None:
    assert type(copy.deepcopy(option_line("key_buffer_size", 1))) is OptionLine
