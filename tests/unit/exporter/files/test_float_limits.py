"""The largest value of a FLOAT(M,D), where four bytes make a larger one of it: as MariaDB takes and refuses it (tests/servers/test_migrate_rows.py)."""

import json
import struct
from typing import Any

import pytest

from myisam_exporter.files.frm_column_bytes import float_limit, is_beyond
from myisam_exporter.files.sdi_structure import parse_sdi
from myisam_exporter.files.structure import DOUBLE, FLOAT
from tests.support.repository import ROOT

ANY = 31


@pytest.mark.parametrize(
    ("digits", "decimals", "limit"),
    [(10, 2, 99_999_999.99), (8, 2, 999_999.99), (10, 6, 9999.999999), (20, 0, 1e20), (7, 2, 0), (4, 2, 0), (1, 1, 0), (255, 30, 0), (12, ANY, 0), (1, 2, 0)],
)
def test_where_four_bytes_make_a_larger_value_of_the_largest_one(digits: int, decimals: int, limit: float) -> None:
    assert float_limit(FLOAT, digits, decimals) == limit
    assert float_limit(DOUBLE, digits, decimals) == 0


@pytest.mark.parametrize(("value", "beyond"), [(99_999_999.99, True), (-99_999_999.99, True), (99_999_990.0, False), (0.0, False)])
def test_a_default_is_beyond_its_limit_where_four_bytes_make_it_so(value: float, *, beyond: bool) -> None:
    data = struct.pack("<f", value)
    assert is_beyond(99_999_999.99, data) == beyond
    assert not is_beyond(0.0, data)
    assert not is_beyond(99_999_999.99, data[:3])


FIXED = {"numeric_precision": 10, "numeric_scale": 2, "numeric_scale_null": False}


@pytest.mark.parametrize(
    ("given", "limit", "is_default"),
    [
        ({}, 0, False),
        (FIXED, 99_999_999.99, False),
        ({**FIXED, "default_value_utf8_null": False, "default_value_utf8": "-100000000.00"}, 99_999_999.99, True),
        ({**FIXED, "default_value_utf8_null": False, "default_value_utf8": "99999.00"}, 99_999_999.99, False),
        ({"default_value_utf8_null": False, "default_value_utf8": "3e38"}, 0, False),
    ],
)
def test_an_sdi_tells_it(given: dict[str, Any], limit: float, *, is_default: bool) -> None:
    whole = json.loads(next((ROOT / "tests" / "recorded" / "structures").glob("*.sdi")).read_text("utf-8"))
    (column,) = (one for one in whole["dd_object"]["columns"] if one["name"] == "f")
    column.update(given)
    (found,) = (one for one in parse_sdi(json.dumps(whole))[2].columns if one.name == "f")
    assert (found.type, found.float_limit, found.limit_default) == (FLOAT, limit, is_default)
