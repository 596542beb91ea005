"""The columns of PARTITION BY, in the words that the server writes into a .frm."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from myisam_exporter.files.frm_partitions import _groups


@pytest.mark.parametrize(
    ("clause", "groups"),
    [
        (" PARTITION BY HASH (`a`)\nPARTITIONS 2", [["a"]]), (" PARTITION BY LINEAR KEY ALGORITHM = 1 (`a`,`b``(`)\nPARTITIONS 2", [["a", "b`("]]), (" PARTITION BY KEY ()\nPARTITIONS 3", [[]]),
        (" PARTITION BY RANGE  COLUMNS(`a`,`c`)\n(PARTITION `p` VALUES LESS THAN (10,1) ENGINE = MyISAM)", [["a", "c"]]), (" PARTITION BY HASH (year(`year`) + (1 - `b`))", [["year", "b"]]),
        (" PARTITION BY RANGE (`a`)\nSUBPARTITION BY HASH (`c`)\nSUBPARTITIONS 2\n(PARTITION `by` VALUES LESS THAN (10) COMMENT = 'BY (`x`)')", [["a"], ["c"]]),
        (" PARTITION BY SYSTEM_TIME \n(PARTITION `a` HISTORY ENGINE = MyISAM)", []), (" PARTITION BY SYSTEM_TIME \nSUBPARTITION BY KEY (`a`)\n(PARTITION `p` HISTORY)", [["a"]]),
        (" PARTITION BY SYSTEM_TIME INTERVAL 1 DAY STARTS TIMESTAMP'2020-01-01 00:00:00' (PARTITION `a` HISTORY)", []), (" PARTITION BY LIST (`a` + `c`)\n(PARTITION `p0` VALUES IN (10))", [["a", "c"]]),
        ("", []), (" PARTITION BY HASH (`a", []), (" PARTITION BY HASH (`a`", []), (")(", []),
    ],
)  # fmt: skip
def test_the_columns_are_those_in_parentheses_behind_by(clause: str, groups: list[list[str]]) -> None:
    assert list(_groups(clause)) == groups


@given(some.text("`'()\\ BYab,"))
def test_any_words_are_read_to_an_end(clause: str) -> None:
    assert all(isinstance(name, str) for group in _groups(clause) for name in group)
