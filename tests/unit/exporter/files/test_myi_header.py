import gc
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files.myi_definition import KEY_SPATIAL, Definitions, Key
from myisam_exporter.files.myi_header import (
    FIRST_READ_BYTES,
    Header,
    HeaderError,
    lacks_estimates,
    parse_header,
    read_header_bytes,
)
from tests.support.myi import beyond_its_pointers, header, of_length


def only_key(parsed: Header) -> Key:
    assert parsed.definition.keys is not None
    (key,) = parsed.definition.keys
    return key


def shaped(number: int, keys: int = 4) -> bytes:
    """A header of a shape of its own."""
    return header(keys=tuple((0, ((4, 0, number % 30_000 + 1), (15, 8, key + 1))) for key in range(keys)))


def test_reads_the_state() -> None:
    parsed = parse_header(header())
    assert (parsed.row_format, parsed.rows, parsed.data_bytes, parsed.index_bytes, parsed.update_count) == ("fixed", 3, 300, 2048, 42)
    assert not parsed.has_holes
    assert not parsed.crashed
    assert parsed.definition.maximum_data_bytes == 20 * 2**48 - 1
    assert parsed.definition.maximum_index_bytes == 1024 * (2**32 - 1)


@pytest.mark.parametrize(("options", "row_format"), [(0, "fixed"), (1, "dynamic"), (4, "compressed"), (5, "compressed")])
def test_tells_the_row_format(options: int, row_format: str) -> None:
    assert parse_header(header(options)).row_format == row_format


@pytest.mark.parametrize(("changed", "crashed", "failed"), [(0, False, False), (1, False, False), (2, True, False), (6, True, True), (0xF9, False, False)])
def test_only_two_bits_mean_crashed(changed: int, crashed: bool, failed: bool) -> None:
    parsed = parse_header(header(changed=changed))
    assert (parsed.crashed, parsed.recovery_failed) == (crashed, failed)


@pytest.mark.parametrize(
    ("flag", "parts", "binary", "binary_without", "text"),
    [
        (0, ((4, 0, 4),), True, True, "INT NOT NULL"),
        (10, ((1, 1, 40),), False, True, "CHAR(40 bytes) NOT NULL"),
        (40, ((15, 8, 100),), False, False, "VARCHAR(100 bytes) NOT NULL"),
        (72, ((4, 16, 4),), False, False, "INT"),
        (138, ((15, 0, 100),), False, False, "VARCHAR(100 bytes) NOT NULL"),
    ],
)
def test_tells_how_a_page_is_searched(flag: int, parts: tuple[tuple[int, int, int], ...], binary: bool, binary_without: bool, text: str) -> None:
    key = only_key(parse_header(header(keys=((flag, parts),))))
    assert (key.binary_search, key.binary_search_without_packing, key.description()) == (binary, binary_without, text)


@pytest.mark.parametrize(
    ("algorithm", "flag", "kind", "unique"),
    [(0, 0, "btree", False), (1, 1, "btree", True), (2, 0, "rtree", False), (3, 0, "btree", False), (3, 1, "btree", True), (5, 0, "btree", True), (6, 0, "btree", True), (1, 1024, "rtree", False), (4, 128, "fulltext", False)],
)
def test_whatever_is_neither_spatial_nor_of_words_is_kept_as_a_btree(algorithm: int, flag: int, kind: str, unique: bool) -> None:
    key = only_key(parse_header(header(keys=((flag, ((4, 0, 4),)),), algorithm=algorithm)))
    assert (key.kind, key.unique) == (kind, unique)


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "empty"), (b"\xfe\xfe\x07", "ends after 3 bytes"), (b"garbage" * 100, "does not begin"), (header()[:150], "ends after 150 bytes"), (header()[:60], "within its header")],
)
def test_says_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(HeaderError, match=message):
        parse_header(data)


def test_a_header_that_tells_of_more_than_its_pointers_reach_is_damaged() -> None:
    most_data, most_index = 20 * 2**48 - 1, 1024 * (2**32 - 1)
    assert parse_header(beyond_its_pointers(most_data, most_index)).data_bytes == most_data
    with pytest.raises(HeaderError, match=f"its data file would have {most_data + 1} bytes, and its pointers reach only {most_data}"):
        parse_header(beyond_its_pointers(most_data + 1, most_index))
    with pytest.raises(HeaderError, match=f"its index file would have {2**63 - 1} bytes, and its pointers reach only {most_index}"):
        parse_header(beyond_its_pointers(most_data, 2**63 - 1))
    with pytest.raises(HeaderError, match="more than any file can have"):
        parse_header(beyond_its_pointers(2**63, 0))


def test_pointers_of_a_compressed_table_reach_all_its_rows() -> None:
    """They are those of the table that myisampack compressed; nothing is written any more."""
    packed = bytearray(beyond_its_pointers(20 * 2**48, 2048))
    packed[4:6] = (4).to_bytes(2, "big")
    assert parse_header(bytes(packed)).data_bytes == 20 * 2**48


def test_descriptions_beyond_the_header_are_refused() -> None:
    data = bytearray(header(keys=((0, ((4, 0, 4),)),)))
    data[18] = 60
    with pytest.raises(HeaderError, match="reach beyond"):
        parse_header(bytes(data))


def test_an_index_without_a_column_is_damage() -> None:
    """Whoever asked for its first column fell over it: migrate ended in a traceback."""
    with pytest.raises(HeaderError, match="one of its indexes would have no column"):
        parse_header(header(keys=((1, ((4, 0, 4),)), (0, ()))))


@given(st.binary(max_size=600))
def test_any_bytes_give_a_header_or_an_error(tail: bytes) -> None:
    for data in (tail, b"\xfe\xfe\x07\x01" + tail, header()[:124] + tail):
        try:
            parse_header(data)
        except HeaderError:
            continue


def test_a_length_that_no_file_can_have_is_a_damaged_header() -> None:
    assert parse_header(of_length(2**63 - 1)).data_bytes == 2**63 - 1
    with pytest.raises(HeaderError, match="data file would have 18446744073709551615 bytes"):
        parse_header(of_length(2**64 - 1))
    with pytest.raises(HeaderError, match="index file would have 9223372036854775808 bytes"):
        parse_header(of_length(300, 2**63))


def test_equal_definitions_are_one_object_and_equal_indexes_too() -> None:
    definitions = Definitions()
    one, same, other = (parse_header(shaped(number), definitions).definition for number in (1, 1, 2))
    assert one is same
    assert one != other
    assert one.keys
    assert other.keys
    alike = parse_header(header(keys=((0, ((4, 0, 3), (15, 8, 1))),)), definitions).definition.keys
    assert alike
    assert alike[0] is other.keys[0]


def test_definitions_beyond_the_limit_are_told_as_unknown_and_have_room_when_others_go() -> None:
    definitions = Definitions(maximum_bytes=20_000)
    kept = [parse_header(shaped(number), definitions).definition for number in range(100)]
    with_keys = [one.keys is not None for one in kept]
    assert with_keys == sorted(with_keys, reverse=True)
    assert 5 < sum(with_keys) < 40
    assert replace(kept[-1], keys=None) == kept[-1]
    del kept
    gc.collect()
    definitions.begin_scan()
    assert parse_header(shaped(99), definitions).definition.keys is not None


def test_forged_definitions_take_no_more_than_the_limit() -> None:
    limit = 512 << 10
    definitions = Definitions(limit)
    tracemalloc.start()
    try:
        kept = [parse_header(shaped(number, 250), definitions) for number in range(60)]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert any(one.definition.keys is None for one in kept)
    assert limit / 2 < held < 4 * limit  # with what is at hand of the last ones


def test_the_whole_header_is_read_of_an_open_file_and_what_there_is_of_one_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "t.MYI"
    large = header(keys=((0, ((4, 0, 4),) * 16),) * 64)
    assert len(large) > FIRST_READ_BYTES
    for whole in (header(), large):
        for written in (whole + bytes(2 * FIRST_READ_BYTES), whole, whole[:-1]):
            path.write_bytes(written)
            with path.open("rb") as file:
                data = read_header_bytes(file.fileno())
            assert data[: len(whole)] == written[: len(whole)]
            assert len(data) <= max(len(whole), FIRST_READ_BYTES)
    path.write_bytes(b"nothing")
    with path.open("rb") as file, pytest.raises(HeaderError):
        read_header_bytes(file.fileno())


def test_indexes_that_are_kept_up_to_date_have_a_bit_each() -> None:
    """ALTER TABLE ... DISABLE KEYS clears them."""
    data = bytearray(header(keys=((1, ((4, 0, 4),)), (0, ((4, 0, 4),)))))
    key_map = 124 + 8 * (2 + 1) + 12  # behind the state, the roots of two indexes, one free list, and three numbers
    data[key_map : key_map + 8] = (0b01).to_bytes(8, "big")
    assert parse_header(bytes(data)).enabled_keys == 0b01
    data[key_map : key_map + 8] = (1 << 63 | 0b11).to_bytes(8, "big")
    assert parse_header(bytes(data)).enabled_keys == 1 << 63 | 0b11


def test_an_index_that_forbids_duplicates_is_never_the_superfluous_one() -> None:
    one, two = ((4, 0, 4),), ((4, 0, 4), (3, 0, 2))

    def redundant(*keys: tuple[int, tuple[tuple[int, int, int], ...]]) -> list[tuple[int, int, bool]]:
        return [(found.index, found.by, found.is_duplicate) for found in parse_header(header(keys=keys)).definition.redundant]

    assert redundant((0, one), (1, one)) == redundant((0, one), (1, one), (0, two)) == [(1, 2, True)]
    assert redundant((1, one), (0, one)) == redundant((1, one), (1, one)) == [(2, 1, True)]
    assert redundant((0, one), (0, two)) == [(1, 2, False)]
    assert redundant((1, one), (0, two)) == []


PART = (4, 0, 4)
PAIR, ONE, PLACE = (1, (PART, PART)), (0, (PART,)), (KEY_SPATIAL, (PART,) * 5)


@pytest.mark.parametrize(
    ("shape", "estimates", "enabled", "lacks"),
    [
        ((PAIR, ONE), (0, 1, 0), 3, True),
        ((PAIR, ONE), (1, 1, 3), 3, False),
        # ANALYZE passes over a disabled index.
        ((PAIR, ONE), (1, 1, 0), 1, False),
        ((PAIR, ONE), (0, 1, 0), 1, True),
        # As MariaDB 10.11 and MySQL 5.5 leave a table with a SPATIAL index after ANALYZE, then as MySQL 9.7 does, then before it.
        ((PAIR, PLACE, ONE, (0, (PART, PART))), (1, 1, 6, 6, 6, 6, 3, 6, 1, 0), 15, False),
        ((PAIR, PLACE, ONE, (0, (PART, PART))), (1, 1, 6, 3, 6, 1, 0, 0, 0, 0), 15, False),
        ((PAIR, PLACE, ONE, (0, (PART, PART))), (0, 1, 0, 0, 0, 0, 0, 0, 0, 0), 15, True),
        (((1, (PART,)), PLACE, ONE), (1, 0, 0, 0, 0, 0, 0), 7, True),
        ((PAIR, PLACE, ONE, PLACE), (1, 1, 6, 6, 6, 6, 3, 6, 6, 6, 6, 0, 0), 15, False),
        ((PAIR, PLACE, ONE, PLACE), (1, 1, 6, 3, 6, 0, 0, 0, 0, 0, 0, 0, 0), 15, False),
        # Of indexes that are disabled behind it nothing is missing.
        ((PAIR, PLACE, ONE), (1, 1, 0, 0, 0, 0, 0, 0), 1, False),
    ],
)
def test_an_estimate_is_missing_only_where_analyze_would_make_it(shape: tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...], estimates: tuple[int, ...], enabled: int, lacks: bool) -> None:
    assert lacks_estimates(estimates, parse_header(header(keys=shape)).definition.estimated, enabled) is lacks


def test_without_its_indexes_a_missing_estimate_is_believed() -> None:
    assert lacks_estimates((1, 0), None, 3)
