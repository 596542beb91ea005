"""Readers of a table's structure on files that servers wrote (tests/recorded/structures), whole and damaged."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.frm_column_bytes import bytes_of, bytes_of_list, decimal_bytes, is_zero_date
from myisam_exporter.files.frm_definition import FrmError
from myisam_exporter.files.frm_structure import (
    BLOB_COMPRESSED,
    COLUMN_FLAGS,
    TYPE_NAMES,
    VARCHAR_COMPRESSED,
    _named_types,
    parse_structure,
)
from myisam_exporter.files.frm_texts import text_options
from myisam_exporter.files.sdi_structure import SdiError, _structure, parse_sdi
from myisam_exporter.files.structure import (
    BLOB,
    DATETIME2,
    ENUM,
    FIXED_BINARY,
    FULLTEXT,
    LONG_BLOB,
    LONG_UNIQUE,
    SET,
    SPATIAL,
    TIME2,
    TINY_BLOB,
    VARCHAR,
    Structure,
)
from myisam_exporter.outside.numbers import LARGEST_WHOLE
from tests.support.frm import pieces
from tests.support.repository import ROOT

RECORDED = sorted((ROOT / "tests" / "recorded" / "structures").iterdir())
FRM = [path for path in RECORDED if path.suffix == ".frm"]


def read(path: Path) -> Structure:
    return parse_structure(pieces(path.read_bytes())) if path.suffix == ".frm" else parse_sdi(path.read_text("utf-8"))[2]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_a_file_of_a_server_is_read(path: Path) -> None:
    found = read(path)
    assert (found.engine, len(found.columns), found.partitioned, found.row_format) == ("MyISAM", 22, False, "DYNAMIC")
    sizes = {column.name: column.maximum_bytes for column in found.columns}
    assert [sizes[name] for name in ("i", "b1", "d", "du", "c", "v", "dt", "e", "s", "x")] == [4, 2, 10, 3, 40, 300, 5, 1, 2, 65_535]
    assert [column.name for column in found.columns if column.zero_default] == ["da", "dt"]
    assert [column.name for column in found.columns if column.auto_increment] == ["i"]
    assert found.option("PACK_KEYS") == found.option("CHECKSUM") == 1
    assert found.option("KEY_BLOCK_SIZE") == 0
    primary = found.primary
    assert primary is not None
    assert primary.unique
    (index,) = [index for index in found.indexes if index.name == "k"]
    assert [(part.length, part.prefix) for part in index.parts] == [(10, True), (40, False), (5, True)]
    assert [len(found.of_kind(kind)) for kind in (FULLTEXT, SPATIAL)] == [1, 1]


@pytest.mark.parametrize("path", FRM, ids=lambda path: path.name)
def test_a_file_that_is_cut_off_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    refused = 0
    for length in range(0, len(whole), 37):
        try:
            parse_structure(pieces(whole[:length]))
        except FrmError:
            refused += 1
    assert refused > len(whole) // 37 // 2


@pytest.mark.parametrize("path", FRM, ids=lambda path: path.name)
def test_bytes_that_changed_are_read_or_refused(path: Path) -> None:
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        try:
            parse_structure(pieces(bytes(changed)))
        except FrmError as error:
            assert str(error)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"dd_object_type": "Table"}', '{"dd_object_type": "Schema", "dd_object": {}}', '{"dd_object": {"columns": 1}, "dd_object_type": "Table"}'])
def test_a_text_that_is_no_sdi_is_refused(text: str) -> None:
    with pytest.raises(SdiError):
        parse_sdi(text)


def test_an_sdi_that_lacks_a_part_is_refused() -> None:
    whole = json.loads((ROOT / "tests" / "recorded" / "structures" / "mysql-9.7.sdi").read_text("utf-8"))
    for name in ("columns", "indexes", "options", "name", "schema_ref", "engine"):
        part = {key: value for key, value in whole["dd_object"].items() if key != name}
        with pytest.raises(SdiError):
            parse_sdi(json.dumps({**whole, "dd_object": part}))


def sdi() -> dict[str, Any]:
    """What the server wrote, to change it."""
    whole: dict[str, Any] = json.loads((ROOT / "tests" / "recorded" / "structures" / "mysql-9.7.sdi").read_text("utf-8"))
    return whole


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e30", "-1", "4294967296", f'"{"9" * 4000}"', '"9999999999999999999999"', '"-5"', "null", "[]", '"1_0"'])
@pytest.mark.parametrize("name", ["collation_id", "partition_type", "char_length", "type", "length", "column_opx"])
def test_a_number_of_an_sdi_that_no_dictionary_has_is_refused(number: str, name: str) -> None:
    text, count = re.subn(f'"{name}": *[0-9]+', f'"{name}": {number}', json.dumps(sdi()))
    assert count
    with pytest.raises(SdiError):
        parse_sdi(text)


def test_options_are_as_large_as_they_may_be_and_no_larger() -> None:
    whole = sdi()
    for said, rows in (("18446744073709551615", LARGEST_WHOLE), ("4294967295", 4_294_967_295)):
        whole["dd_object"]["options"] = f"max_rows={said};"
        assert parse_sdi(json.dumps(whole))[2].option("MAX_ROWS") == rows
    for wrong in ("9" * 4000, "-1", "inf", "x"):
        whole["dd_object"]["options"] = f"max_rows={wrong};"
        with pytest.raises(SdiError):
            parse_sdi(json.dumps(whole))


def test_an_index_without_columns_is_refused() -> None:
    whole = sdi()
    index = whole["dd_object"]["indexes"][0]
    index["elements"] = [{**element, "hidden": True} for element in index["elements"]]
    with pytest.raises(SdiError, match="index would have 0 columns"):
        parse_sdi(json.dumps(whole))
    index["elements"] = whole["dd_object"]["indexes"][1]["elements"] * 33
    with pytest.raises(SdiError, match="index would have 33 columns"):
        parse_sdi(json.dumps(whole))


def test_columns_of_an_sdi_are_compared_with_no_others() -> None:
    """Each column's place was looked for among all of them."""
    whole, compared = sdi(), []
    column = whole["dd_object"]["columns"][0]

    class Compared(dict[str, Any]):
        __hash__ = None

        def __eq__(self, other: object) -> bool:
            compared.append(other)
            return super().__eq__(other)

    whole["dd_object"]["columns"] = [Compared({**column, "name": f"c{number}"}) for number in range(50)]
    whole["dd_object"]["indexes"] = []
    assert len(_structure(whole["dd_object"]).columns) == 50
    assert not compared


def test_an_sdi_of_more_columns_or_indexes_than_any_table_has_is_refused() -> None:
    whole = sdi()
    for part, most in (("columns", 4096), ("indexes", 255)):
        table = whole["dd_object"]
        changed = {**whole, "dd_object": {**table, part: table[part] + table[part][:1] * most}}
        with pytest.raises(SdiError, match="it would have"):
            parse_sdi(json.dumps(changed))


def test_an_invisible_column_is_one_of_the_table_and_a_hidden_one_is_the_servers() -> None:
    whole = json.loads((ROOT / "tests" / "recorded" / "structures" / "mysql-9.7.sdi").read_text("utf-8"))
    columns = whole["dd_object"]["columns"]
    own, other = columns[0]["name"], columns[1]["name"]
    columns[0]["hidden"] = 4
    found = parse_sdi(json.dumps(whole))[2]
    assert [column.name for column in found.columns][:2] == [own, other]
    assert found.primary is not None
    used = {element["column_opx"] for index in whole["dd_object"]["indexes"] for element in index["elements"]}
    next(column for place, column in enumerate(columns) if place not in used)["hidden"] = 3
    assert len(parse_sdi(json.dumps(whole))[2].columns) == len(found.columns) - 1


def test_bytes_of_types() -> None:
    assert [decimal_bytes(*digits) for digits in ((5, 0), (20, 7), (18, 9), (10, 10), (65, 30))] == [3, 10, 8, 5, 30]
    assert [bytes_of(DATETIME2, length, 0, unsigned=False) for length in (19, 21, 26)] == [5, 6, 8]
    assert bytes_of(TIME2, 10, 0, unsigned=False) == 3
    assert [bytes_of_list(ENUM, 255), bytes_of_list(ENUM, 256), bytes_of_list(SET, 8), bytes_of_list(SET, 33)] == [1, 2, 1, 8]
    assert is_zero_date(DATETIME2, b"\x80\0\0\0\0")
    assert not is_zero_date(DATETIME2, b"\x80\0\0\0\1")
    assert not is_zero_date(DATETIME2, b"")


def test_character_sets_by_collations() -> None:
    assert [character_set(number) for number in (8, 33, 45, 255, 1057, 2304, 12345)] == [
        ("latin1", 1, 1), ("utf8mb3", 1, 3), ("utf8mb4", 1, 4), ("utf8mb4", 1, 4), ("utf8mb3", 1, 3), ("utf8mb4", 1, 4), ("", 1, 1),
    ]  # fmt: skip


MARIADB_FRM = ROOT / "tests" / "recorded" / "structures" / "mariadb-10.11.frm"


def described(whole: bytes) -> int:
    """Where the columns are described, 17 bytes each."""
    extras = int.from_bytes(whole[4:6], "little")
    form = int.from_bytes(whole[64 + extras : 68 + extras], "little")
    return form + 288 + int.from_bytes(whole[form + 260 : form + 262], "little")


def with_type_names(whole: bytes, names: bytes) -> bytes:
    """As MariaDB writes the names of types."""
    return with_extra(whole, TYPE_NAMES, names)


def with_extra(whole: bytes, kind: int, said: bytes) -> bytes:
    """With one more part between the header and the form."""
    extras = int.from_bytes(whole[4:6], "little")
    added = bytes((kind, len(said))) + said
    changed = bytearray(whole[: 64 + extras] + added + whole[64 + extras :])
    changed[4:6] = (extras + len(added)).to_bytes(2, "little")
    for place, size in ((6, 2), (64 + extras + len(added), 4)):  # where the indexes and the form begin
        moved = int.from_bytes(changed[place : place + size], "little") + len(added)
        changed[place : place + size] = moved.to_bytes(size, "little")
    return bytes(changed)


def test_types_that_have_a_name_and_no_number_have_their_own_length() -> None:
    whole = MARIADB_FRM.read_bytes()
    names = [column.name for column in parse_structure(pieces(whole)).columns]
    said = b"".join(bytes((names.index(column), len(kind))) + kind for column, kind in (("c", b"uuid"), ("bi", b"INET4"), ("v", b"money")))
    found = {column.name: (column.type, column.maximum_bytes) for column in parse_structure(pieces(with_type_names(whole, said))).columns}
    assert (found["c"], found["bi"], found["v"]) == ((FIXED_BINARY, 16), (FIXED_BINARY, 4), (VARCHAR, 300))
    (index,) = [index for index in parse_structure(pieces(with_type_names(whole, said))).indexes if index.name == "k"]
    assert not index.parts[1].prefix


@pytest.mark.parametrize("data", [b"\x01", b"\xfc", b"\xfe\x01", b"\x01\xfd\xff\xff\xffuuid", b"\x01\xfeuuiduuid", b"\xff" * 1000, bytes(60_000), b"\x01\xff"])
def test_names_of_types_that_no_server_writes_are_borne(data: bytes) -> None:
    assert not any(name == b"uuid" and number > 4096 for number, name in _named_types(data).items())


def test_packed_numbers_of_columns() -> None:
    assert _named_types(b"\x02\x04uuid\xfc\x00\x01\x05inet6") == {2: b"uuid", 256: b"inet6"}


@pytest.mark.parametrize("flags", [[0, 1, 2, *[0] * 18, 1], [8] * 22, [3, *[0] * 21], [3] * 3, [0] * 22 + [3]])
def test_columns_that_a_statement_may_name_stay(flags: list[int]) -> None:
    whole = MARIADB_FRM.read_bytes()
    assert parse_structure(pieces(with_extra(whole, COLUMN_FLAGS, bytes(flags)))) == parse_structure(pieces(whole))


def test_a_unique_index_by_hash_is_over_its_users_columns() -> None:
    """As MariaDB 10.11 wrote it: (DB_ROW_HASH_1 INT, u VARCHAR(255), i INT INVISIBLE, t TEXT, UNIQUE (u), UNIQUE (DB_ROW_HASH_1, t)) in utf8mb4."""
    found = read(ROOT / "tests" / "recorded" / "unique-by-hash.frm")
    assert [column.name for column in found.columns] == ["DB_ROW_HASH_1", "u", "i", "t"]
    assert [(index.kind, index.unique, [part.column for part in index.parts]) for index in found.indexes] == [(LONG_UNIQUE, True, [1]), (LONG_UNIQUE, True, [0, 3])]
    assert {index.algorithm for index in found.indexes} == {"HASH"}
    assert not any(part.prefix for index in found.indexes for part in index.parts)


def test_compressed_columns_are_what_they_are_without() -> None:
    whole = bytearray(MARIADB_FRM.read_bytes())
    names = [column.name for column in parse_structure(pieces(bytes(whole))).columns]
    for column, kind in (("x", BLOB_COMPRESSED), ("lb", BLOB_COMPRESSED), ("tb", BLOB_COMPRESSED), ("v", VARCHAR_COMPRESSED)):
        whole[described(bytes(whole)) + 17 * names.index(column) + 13] = kind
    found = {column.name: (column.type, column.maximum_bytes) for column in parse_structure(pieces(bytes(whole))).columns}
    assert [found[name] for name in ("x", "lb", "tb", "v")] == [(BLOB, 65_535), (LONG_BLOB, 4_294_967_295), (TINY_BLOB, 255), (VARCHAR, 300)]


PARSED = ROOT / "tests" / "recorded" / "parsers" / "mysql-5.6.frm"


def test_parsers_and_comments_of_indexes_are_read() -> None:
    found = read(PARSED)
    assert [(one.name, one.parser, one.comment) for one in found.indexes] == [("PRIMARY", "", ""), ("kk", "", "other"), ("f0", "", ""), ("f", "plain_parser", "abc"), ("g", "another", "")]


def test_parsers_that_are_cut_off_or_no_text_are_refused() -> None:
    whole = PARSED.read_bytes()
    for wrong in (whole[: whole.index(b"another")], whole.replace(b"another\0", b"\xff\xfether\0"), whole.replace(b"plain_parser\0", b"\0" * 13)):
        with pytest.raises(FrmError):
            parse_structure(pieces(wrong))


def test_options_that_are_kept_as_text_are_the_table_s() -> None:
    def option(name: bytes, value: bytes, quoted: int = 0x8000) -> bytes:
        return bytes((len(name),)) + name + (len(value) | quoted).to_bytes(2, "little") + value

    of_table, of_column = option(b"Encrypted", b"YES") + option(b"page_compressed", b"1", 0), option(b"FOO", b"bar")
    expected = (("ENCRYPTED", "YES"), ("PAGE_COMPRESSED", "1"))
    assert text_options(of_table + b"\0" + of_column + b"\0") == expected
    assert text_options(b"\0" + of_column + b"\0") == text_options(b"") == ()
    for length in range(len(of_table)):
        assert text_options(of_table[:length]) in (expected[:1], ())


def test_an_sdi_tells_of_an_index_s_options() -> None:
    whole = sdi()
    index = whole["dd_object"]["indexes"][-1]
    index.update({"options": "block_size=4096;flags=0;parser_name=ngram;", "comment": "it", "is_visible": False})
    whole["dd_object"]["indexes"][2].update({"is_algorithm_explicit": True, "algorithm": 4})
    whole["dd_object"]["options"] += "tablespace=ours;compress=zlib;"
    found = parse_sdi(json.dumps(whole))[2]
    assert found.texts == (("TABLESPACE", "ours"), ("COMPRESSION", "zlib"))
    assert (found.indexes[2].algorithm, found.indexes[0].algorithm) == ("HASH", "")
    told = found.indexes[-1]
    assert (told.parser, told.block_bytes, told.comment, told.ignored) == ("ngram", 4096, "it", True)
