"""Names as ANSI_QUOTES has them."""

import pytest

from myisam_advisor.workload.quoted_names import has_quoted_names, with_quoted_names


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        (b'INSERT INTO "hits" VALUES ("a")', b'INSERT INTO `hits` VALUES ("a")'), (b'SELECT 1 FROM "shop" . "hits" JOIN "x y" ON 1', b'SELECT 1 FROM `shop` . `hits` JOIN "x y" ON 1'),
        (b'update "hits" set a = "from b"', b'update `hits` set a = "from b"'), (b'SELECT "a from ", x, "b"', b'SELECT "a from ", x, "b"'), (b"SELECT 1", b"SELECT 1"),
    ],
)  # fmt: skip
def test_they_are_read_where_no_string_may_stand(statement: bytes, read: bytes) -> None:
    assert with_quoted_names(statement) == read
    assert has_quoted_names(statement) == (read != statement)
