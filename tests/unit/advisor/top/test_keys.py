"""Bytes of terminals as keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_advisor.top.keys import Keys


@pytest.mark.parametrize(
    ("portion", "keys"),
    [
        (b"q", ["q"]), (b"\x1b[A\x1b[B", ["up", "down"]), (b"\x1bOA", ["up"]), (b"\x1b[5~\x1b[6~", ["page up", "page down"]), (b"\x1b[1~\x1bOF", ["home", "end"]),
        (b"\r\n", ["enter", "enter"]), (b"\x7f\x08", ["backspace", "backspace"]), (b"\x1b[1;5A", ["up"]), (b"\x1b[5;2~", ["page up"]), (b"\x1b\x1b[A", ["escape", "up"]),
        ("é".encode(), ["é"]), (b"\x1b[200~x", ["x"]), (b"\x00\x01", []), (b"\x1b[?1;2c", []),
    ],
)  # fmt: skip
def test_what_terminals_send_is_a_key_by_name(portion: bytes, keys: list[str]) -> None:
    assert Keys().read(portion) == keys


def test_escape_alone_is_a_key_once_nothing_follows_it() -> None:
    keys = Keys()
    assert keys.read(b"\x1b") == []
    assert keys.is_waiting
    assert keys.nothing_more() == ["escape"]
    assert keys.nothing_more() == []


def test_a_sequence_that_comes_in_two_portions_is_one_key() -> None:
    keys = Keys()
    assert keys.read(b"\x1b[") + keys.read(b"A") == ["up"]
    assert keys.read("é".encode()[:1]) + keys.read("é".encode()[1:]) == ["é"]


@given(st.lists(st.binary(max_size=20), max_size=10))
def test_whatever_is_typed_is_keys_that_can_be_shown(portions: list[bytes]) -> None:
    keys = Keys()
    found = [key for portion in portions for key in keys.read(portion)] + keys.nothing_more()
    assert all(key.isprintable() for key in found)
