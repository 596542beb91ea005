"""Quoting as a type: what goes in comes out as one name or one text, and nothing gets in unquoted."""

import copy
import pickle
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from myisam_exporter.server.sql import (
    Sql,
    comment,
    plain_words,
    quote_account,
    quote_comment,
    quote_identifier,
    quote_table,
    quote_text,
    quote_value,
    quote_variable,
    sql_list,
    statement,
)

LETTERS = some.text(some.sampled_from("`'\"\\;-#/*\n\r\0 a.=!\u8868\u2028"), max_size=12) | some.text(max_size=20)


def names_in(sql: str) -> list[str]:
    """What a lexer of SQL that knows backticks alone reads as names; it fails on anything outside of them but points, commas, @ and spaces."""
    names, place = [], 0
    while place < len(sql):
        if sql[place] in "., @":
            place += 1
            continue
        assert sql[place] == "`", sql[place:]
        name = ""
        place += 1
        while sql[place] != "`" or sql[place : place + 2] == "``":
            name += sql[place]
            place += 2 if sql[place] == "`" else 1
        place += 1
        names.append(name)
    return names


@given(LETTERS)
def test_a_quoted_name_is_read_as_that_name(name: str) -> None:
    assert names_in(quote_identifier(name)) == [name]


@given(some.lists(some.tuples(LETTERS, LETTERS), min_size=1, max_size=4))
def test_a_list_of_tables_is_read_as_these_tables(tables: list[tuple[str, str]]) -> None:
    assert names_in(sql_list(quote_table(*table) for table in tables)) == [name for table in tables for name in table]


@given(LETTERS, LETTERS)
def test_an_account_holds_no_quote_that_sql_mode_decides_on(user: str, host: str) -> None:
    for part in re.findall(r"'([^`]*?)'", re.sub(r"`(?:[^`]|``)*`", "", quote_account(user, host))):
        assert re.fullmatch(r"[\w.%-]+", part, re.ASCII)


@given(LETTERS)
@example("a--b")
def test_a_quoted_text_is_plain_or_in_hexadecimal(text: str) -> None:
    quoted = quote_text(text)
    if quoted.startswith("_utf8mb4 0x"):
        assert bytes.fromhex(quoted.removeprefix("_utf8mb4 0x")).decode() == text
    else:
        assert quoted == f"'{text}'"
        assert not re.search(r"['\"\\`;#\n]|--", text)


@given(LETTERS, some.integers() | some.floats(allow_nan=False, allow_infinity=False))
def test_values_stand_in_their_places(name: str, number: float) -> None:
    made = statement("SET GLOBAL {} = {};", quote_variable("key_buffer_size", name or "x"), number)
    assert isinstance(made, Sql)
    head, _, tail = made.rpartition(" = ")
    assert head == f"SET GLOBAL {quote_identifier(name or 'x')}.key_buffer_size"
    assert type(number)(tail.removesuffix(";")) == number


def test_a_whole_number_has_any_size() -> None:
    """Beyond what a float holds, where asking whether it is finite is an OverflowError."""
    assert statement("SELECT {};", 10**400) == f"SELECT {10**400};"


@pytest.mark.parametrize("value", ["x", "x; drop table y", None, b"x", ["x"], ("a", "b"), f"{quote_identifier('a')}", quote_identifier("a") + "b", quote_identifier("a").upper()])
def test_what_is_neither_number_nor_sql_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="neither a number nor quoted"):
        statement("SELECT {}", value)
    with pytest.raises(TypeError, match="neither a number nor quoted"):
        sql_list([value])


def test_an_error_does_not_repeat_a_value_of_any_length() -> None:
    with pytest.raises(TypeError) as caught:
        statement("SELECT {}", "x" * 1_000_000)  # type: ignore[arg-type]
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not a number"):
        quote_value(number)


@pytest.mark.parametrize(("template", "values"), [("SELECT {}", ()), ("SELECT", (1,)), ("{} {}", (1,))])
def test_places_and_values_must_agree(template: str, values: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="places"):
        statement(template, *values)


@pytest.mark.parametrize("name", ["", "a b", "a;b", "a`", "1a", "a.b", "a\n", "\u00e9", "a-b"])
def test_what_can_be_no_variable_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="system variable"):
        quote_variable(name)


@pytest.mark.parametrize("words", ["", "a;b", "a--b", "a b'", "a\nb", "a/*", " a"])
def test_words_are_words(words: str) -> None:
    with pytest.raises(ValueError, match="words"):
        plain_words(words)


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\u2028b", "\x1b", "\0"])
def test_a_comment_is_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="one line"):
        comment(text)


def test_sql_stays_sql_in_copies() -> None:
    made = quote_identifier("a")
    assert type(copy.deepcopy(made)) is Sql
    assert type(pickle.loads(pickle.dumps(made))) is Sql


@given(LETTERS)
@example("C:\\tables")
@example("it's")
def test_a_comment_is_between_quotes_that_no_sql_mode_decides_on(text: str) -> None:
    if "\\" in text or not text.isprintable():
        with pytest.raises(ValueError, match="no literal that means the same everywhere"):
            quote_comment(text)
        return
    quoted = quote_comment(text)
    assert (quoted[0], quoted[-1]) == ("'", "'")
    assert re.fullmatch("(?:[^']|'')*", quoted[1:-1])
    assert quoted[1:-1].replace("''", "'") == text
