"""The largest value of a FLOAT(M,D), where four bytes make a larger one of it: as MariaDB takes and refuses it (tests/servers/test_migrate_rows.py)."""

import json
from typing import Any

import pytest

from myisam_exporter.files.frm_column_bytes import float_limit
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


@pytest.mark.parametrize(("given", "limit"), [({"numeric_precision": 10, "numeric_scale": 2, "numeric_scale_null": False}, 99_999_999.99), ({}, 0)])
def test_an_sdi_tells_it(given: dict[str, Any], limit: float) -> None:
    whole = json.loads(next((ROOT / "tests" / "recorded" / "structures").glob("*.sdi")).read_text("utf-8"))
    (column,) = (one for one in whole["dd_object"]["columns"] if one["name"] == "f")
    column.update(given)
    (found,) = (one for one in parse_sdi(json.dumps(whole))[2].columns if one.name == "f")
    assert (found.type, found.float_limit) == (FLOAT, limit)
