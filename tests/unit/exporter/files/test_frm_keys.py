"""Names of indexes in .frm files, and whether they are those of a .MYI."""

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files.frm_definition import FIRST_READ_BYTES, FrmError
from myisam_exporter.files.frm_keys import (
    LONG_HASH,
    USES_COMMENT,
    VECTOR,
    FrmKey,
    named_as,
    parse_full_keys,
    parse_keys,
)
from myisam_exporter.files.myi_definition import KEY_FULLTEXT, KEY_SPATIAL, Key
from myisam_exporter.files.myi_header import parse_header
from tests.support.frm import INT, LATIN1, definition, pieces, with_keys
from tests.support.myi import header

LONGEST_PIECE = 80_000
PRIMARY, PLAIN, WORDS, PLACE = ("PRIMARY", 1, 1, 0), ("a`b/\"é ключ", 0, 2, 0), ("words", KEY_FULLTEXT, 1, 0), ("place", KEY_SPATIAL, 1, 2)
INT_PART = (4, 0, 4)


def keys_of(data: bytes) -> tuple[FrmKey, ...]:
    return parse_keys(pieces(data))


def in_header(*keys: tuple[int, tuple[tuple[int, int, int], ...]]) -> Sequence[Key]:
    return parse_header(header(keys=keys)).definition.keys or ()


def test_names_come_in_order_with_what_tells_the_indexes_apart() -> None:
    assert keys_of(with_keys([PRIMARY, PLAIN, WORDS])) == (PRIMARY, PLAIN, WORDS)
    assert keys_of(with_keys([])) == ()


def test_an_index_without_columns_is_refused() -> None:
    with pytest.raises(FrmError, match="no columns"):
        keys_of(with_keys([PRIMARY, ("none", 0, 0, 0)]))


def test_more_than_a_byte_counts_have_two() -> None:
    many = [(f"key{number}", 0, 3, 1) for number in range(64)]
    assert keys_of(with_keys(many)) == tuple(many)
    more = [(f"key{number}", 0, 1, 1) for number in range(130)]
    assert keys_of(with_keys(more)) == tuple(more)


def test_indexes_beyond_the_first_read_are_read_by_themselves() -> None:
    whole, asked = with_keys([PRIMARY, PLAIN], definition([(INT, LATIN1, 11)] * 1100)), []

    def read(position: int, length: int) -> bytes:
        asked.append(length)
        return whole[position : position + length]

    assert parse_keys(read) == (PRIMARY, PLAIN)
    assert asked == [FIRST_READ_BYTES, 6, 2 * 8 + 3 * 9, 2 * 257 + 2]
    whole = definition([(INT, LATIN1, 11)] * 900)
    whole = with_keys([PRIMARY, PLAIN], whole.ljust(FIRST_READ_BYTES - 6 - 2 * 8 - 3 * 9 - 5, b"\0"))
    asked.clear()
    assert parse_keys(read) == (PRIMARY, PLAIN)  # of which the first read holds a part of the names
    assert asked == [FIRST_READ_BYTES, 2 * 257 + 2]


def test_each_index_has_its_own_comment() -> None:
    keys = [("PRIMARY", 1, 1, 0), ("first", USES_COMMENT, 1, 0), ("bare", 0, 1, 0), ("second", USES_COMMENT, 1, 0)]
    found = parse_full_keys(pieces(with_keys(keys, comments=b"\x03\0one\x06\0second")))
    assert [(key.name, key.comment) for key in found] == [("PRIMARY", ""), ("first", "one"), ("bare", ""), ("second", "second")]


def test_comments_behind_the_names_are_no_names_whatever_their_length() -> None:
    for comments in (b"\x05\0\xffone\0", b"\0\x04" + b"x" * 1024, (b"\0\x04" + b"x" * 1024) * 64):
        assert keys_of(with_keys([PRIMARY, PLAIN], comments=comments)) == (PRIMARY, PLAIN)


def test_a_hash_counts_for_a_part_that_is_not_described() -> None:
    data = bytearray(with_keys([("lu", 1, 1, LONG_HASH), PRIMARY]))
    place = struct.unpack_from("<H", data, 6)[0]
    assert data[place + 1] == 2
    data[place + 1] = 3
    assert keys_of(bytes(data) + bytes(9)) == (("lu", 1, 1, LONG_HASH), PRIMARY)


def test_an_index_that_lies_in_a_table_of_its_own_is_left_out() -> None:
    assert keys_of(with_keys([PRIMARY, ("vk", 0, 1, VECTOR)])) == (PRIMARY,)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"TYPE=VIEW\nquery=select 1", "does not begin"),
        (definition(version=8) + bytes(100), "before MySQL 4.1"),
        (with_keys([PRIMARY, PLAIN])[:-1], "names of its indexes do not end"),
        (with_keys([PRIMARY])[:-12], "ends before byte .* where its indexes are still described"),
        (with_keys([PRIMARY])[:-3] + b"xyz\0", "name for each of 1 indexes"),
        (with_keys([PRIMARY, PLAIN]).replace(b"PRIMARY\xff", b"PRIMARYx"), "name for each of 2 indexes"),
        (with_keys([PRIMARY]).replace(b"\xffPRIMARY", b"xPRIMARY"), "name for each of 1 indexes"),
        (with_keys([("", 0, 1, 0)]), "name for each of 1 indexes"),
        (with_keys([PRIMARY]).replace(b"PRIMARY", b"PRIM\xc3RY"), "not text"),
        (with_keys([(str(number), 0, 1, 0) for number in range(256)]), "256 indexes of 256 columns"),
        (with_keys([("k", 0, 40, 0)]), "1 indexes of 40 columns"),
    ],
)
def test_says_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(FrmError, match=message):
        keys_of(data)


@pytest.mark.parametrize("counted", [0, 1])
def test_more_columns_than_it_says_are_refused(counted: int) -> None:
    data = bytearray(with_keys([PRIMARY, PLAIN]))
    data[struct.unpack_from("<H", data, 6)[0] + 1] = counted
    with pytest.raises(FrmError, match="more columns than it says"):
        keys_of(bytes(data) + bytes(40))


def test_they_are_those_of_a_header_that_has_the_same() -> None:
    keys = keys_of(with_keys([PRIMARY, PLAIN, PLACE, WORDS]))
    theirs = in_header((1, (INT_PART,)), (0x48, (INT_PART, INT_PART)), (KEY_SPATIAL, (INT_PART,) * 5), (0x8A, (INT_PART,)))
    assert named_as(keys, theirs) == ("PRIMARY", "a`b/\"é ключ", "place", "words")
    assert named_as(keys_of(with_keys([("lu", 1, 3, LONG_HASH)])), in_header((0x48, (INT_PART,)))) == ("lu",)


@pytest.mark.parametrize(
    "other",
    [
        (),
        ((1, (INT_PART,)),),
        ((1, (INT_PART,)), (0, (INT_PART, INT_PART)), (0, (INT_PART,))),
        ((0, (INT_PART, INT_PART)), (1, (INT_PART,))),
        ((1, (INT_PART,)), (0, (INT_PART,))),
        ((1, (INT_PART,)), (1, (INT_PART, INT_PART))),
        ((1, (INT_PART,)), (KEY_FULLTEXT, (INT_PART, INT_PART))),
        ((1, (INT_PART,)), (KEY_SPATIAL, (INT_PART, INT_PART))),
    ],
)
def test_of_a_table_that_was_altered_between_the_two_readings_nothing_is_named(other: tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...]) -> None:
    assert named_as(keys_of(with_keys([PRIMARY, PLAIN])), in_header(*other)) is None


@given(st.binary(max_size=300), st.integers(0, 700), st.integers(0, 40))
def test_any_bytes_give_names_or_an_error_and_no_long_read(tail: bytes, kept: int, changed: int) -> None:
    whole = with_keys([PRIMARY, PLAIN, WORDS])
    place = struct.unpack_from("<H", whole, 6)[0] + changed
    for data in (tail, b"\xfe\x01" + tail, whole[:kept] + tail, whole[:place] + tail, whole[:place] + tail[:1] + whole[place + 1 :]):
        read = pieces(data)

        def bounded(position: int, length: int, read: object = read) -> bytes:
            assert 0 <= length <= LONGEST_PIECE
            assert 0 <= position < 2**17
            return read(position, length)  # type: ignore[operator, no-any-return]

        try:
            assert all(key.name for key in parse_keys(bounded))
        except FrmError as error:
            assert str(error)
