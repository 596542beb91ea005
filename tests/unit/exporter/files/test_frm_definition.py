import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files.frm_definition import (
    FIRST_READ_BYTES,
    FORM_BYTES,
    MAXIMUM_COLUMNS,
    FrmError,
    TableDefinition,
    parse_definition,
)
from tests.support.frm import (
    DATETIME,
    DECIMAL,
    ENUM,
    INT,
    LATIN1,
    NEW_TIMESTAMP,
    OLD_VARCHAR,
    SET,
    TIME,
    TIMESTAMP,
    UCS2,
    UTF8MB3,
    UTF8MB4,
    UTF32,
    VARCHAR,
    YEAR,
    definition,
    parsed,
    pieces,
)

LONGEST_PIECE = FORM_BYTES + 0xFFFF + 17 * MAXIMUM_COLUMNS


def test_reads_the_head() -> None:
    assert parsed(definition(created=50549)) == TableDefinition(50549, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("column", "counts"),
    [
        ((INT, UTF8MB3, 11), (0, 0, 0)),
        ((TIMESTAMP, LATIN1, 19), (1, 0, 0)),
        ((TIME, LATIN1, 8), (1, 0, 0)),
        ((DATETIME, LATIN1, 19), (1, 0, 0)),
        ((NEW_TIMESTAMP, LATIN1, 19), (0, 0, 0)),
        ((YEAR, LATIN1, 4), (0, 0, 0)),
        ((YEAR, LATIN1, 2), (0, 1, 0)),
        ((DECIMAL, LATIN1, 10), (0, 1, 0)),
        ((OLD_VARCHAR, LATIN1, 10), (0, 1, 0)),
        ((VARCHAR, UTF8MB3, 60), (0, 0, 1)),
        ((VARCHAR, 223, 60), (0, 0, 1)),
        ((VARCHAR, 2048, 60), (0, 0, 1)),
        ((VARCHAR, UTF8MB4, 80), (0, 0, 0)),
        ((VARCHAR, 33 + 256, 80), (0, 0, 0)),
    ],
)
def test_counts_columns_of_old_kinds(column: tuple[int, int, int], counts: tuple[int, int, int]) -> None:
    found = parsed(definition([(INT, LATIN1, 11), column]))
    assert (found.old_temporal_columns, found.obsolete_columns, found.utf8mb3_columns) == counts


@pytest.mark.parametrize(("columns", "misread"), [
    ([(ENUM, UCS2, 6, 1), (ENUM, UCS2, 6, 1)], 2),
    ([(ENUM, UCS2, 6, 1), (SET, UTF32, 6, 1), (ENUM, LATIN1, 6, 1), (ENUM, UCS2, 6, 2)], 3),
    ([(ENUM, LATIN1, 6, 1), (ENUM, UTF8MB3, 6, 1)], 0),  # one byte a character
    ([(ENUM, UCS2, 6, 1), (ENUM, UCS2, 6, 2)], 0),  # lists of their own
    ([(VARCHAR, UCS2, 6, 0), (VARCHAR, UCS2, 6, 0)], 0),
])  # fmt: skip
def test_counts_columns_that_share_a_list_in_characters_of_two_bytes_and_more(columns: list[tuple[int, ...]], misread: int) -> None:
    assert parsed(definition(columns)).misread_columns == misread


@pytest.mark.parametrize(("version", "counts"), [(6, (None,) * 4), (8, (None,) * 4), (9, (0,) * 4), (12, (0,) * 4)])
def test_of_before_4_1_only_the_head_is_known(version: int, counts: tuple[int | None, ...]) -> None:
    assert parsed(definition(version=version, created=0)) == TableDefinition(0, *counts)


@pytest.mark.parametrize(("number", "told"), [(0, 0), (1, None), (29_999, None), (30_000, 30_000), (999_999, 999_999), (1_000_000, None), (0xFFFF_FFFF, None)])
def test_a_version_that_no_server_has_is_unknown(number: int, told: int | None) -> None:
    assert parsed(definition(created=number)).created_version == told


def test_a_table_has_as_many_columns_as_servers_allow() -> None:
    assert parsed(definition([(DATETIME, LATIN1, 19)] * MAXIMUM_COLUMNS)).old_temporal_columns == 4096


def test_columns_beyond_the_first_read_are_read_by_themselves() -> None:
    data, asked = definition([(DATETIME, LATIN1, 19)] * 800, at=FIRST_READ_BYTES - 100), []

    def read(position: int, length: int) -> bytes:
        asked.append(length)
        return data[position : position + length]

    assert parse_definition(read).old_temporal_columns == 800
    assert asked == [FIRST_READ_BYTES, FORM_BYTES, 17 * 800]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"\xfe", "ends after 1 bytes"),
        (b"TYPE=VIEW\nquery=select 1", "does not begin"),
        (definition()[:63], "ends after 63 bytes, within its header"),
        (definition(version=5), "format has the number 5"),
        (definition(version=13), "format has the number 13"),
        (definition()[:600], "ends before byte 800"),
        (definition()[:-1], "its columns are still described"),
        (definition(at=8)[:64], "ends before byte 71"),
        (definition([]), "0 columns"),
        (definition([(INT, 8, 11)] * 4097), "4097 columns"),
    ],
)
def test_says_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(FrmError, match=message):
        parsed(data)


def test_a_form_within_the_header_or_none_is_refused() -> None:
    data = bytearray(definition())
    data[67:71] = (9).to_bytes(4, "little")
    with pytest.raises(FrmError, match="begin at byte 9"):
        parsed(bytes(data))
    data[8:10] = bytes(2)
    with pytest.raises(FrmError, match="no form"):
        parsed(bytes(data))


@given(st.binary(max_size=700), st.integers(0, 64))
def test_any_bytes_give_a_definition_or_an_error_and_no_long_read(tail: bytes, kept: int) -> None:
    whole = definition([(DATETIME, LATIN1, 19), (VARCHAR, UTF8MB3, 60)])
    for data in (tail, b"\xfe\x01" + tail, whole[:kept] + tail, whole[:512] + tail):
        read = pieces(data)

        def bounded(position: int, length: int, read: object = read) -> bytes:
            assert 0 <= length <= LONGEST_PIECE
            assert 0 <= position < 2**33
            return read(position, length)  # type: ignore[operator, no-any-return]

        try:
            parse_definition(bounded)
        except FrmError as error:
            assert str(error)
