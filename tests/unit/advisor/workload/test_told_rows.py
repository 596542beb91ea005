"""Rows that a server tells of a statement, and those that are not believed."""

import pytest

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.told_rows import may_cache, with_believed_rows


@pytest.mark.parametrize(
    ("flavour", "version", "cache"),
    [("mysql", "5.6.51-log", True), ("percona", "5.7.44", True), ("mysql", "8.0.46", False), ("mysql", "9.7.0", False), ("mariadb", "11.8.3-MariaDB", True), ("", "", True)],
)  # fmt: skip
def test_which_servers_have_a_query_cache(flavour: str, version: str, cache: bool) -> None:
    assert may_cache(flavour, version) == cache


@pytest.mark.parametrize(
    ("statement", "sent", "examined", "cached", "uncached"),
    [
        (b"SELECT a FROM t", 0, 0, None, 0),
        (b" /* app */ (select a FROM t)", 0, 0, None, 0),
        (b"SELECT a FROM t LIMIT 5, 5", 10, 0, None, 10),
        (b"SELECT a FROM t", 7, 0, 7, 7),
        (b"SELECT a FROM t LIMIT 5, 5", 5, 10, 5, 5),
        (b"SELECT a FROM t", 0, 9, 0, 0),
        (b"INSERT INTO t VALUES (1)", 0, 0, 0, 0),
        (b"HANDLER t READ FIRST LIMIT 2, 2", 4, 0, None, None),
        (b"handler t READ FIRST LIMIT 2, 2", 4, 4, None, None),
        (b"SELECT a FROM t", None, 0, None, None),
        (b"", 0, 0, 0, 0),
    ],
)  # fmt: skip
def test_rows_that_the_query_cache_and_handler_tell_are_not_believed(
    statement: bytes, sent: int | None, examined: int, cached: int | None, uncached: int | None
) -> None:
    event = Event(1, 0, 5, b"d", statement, sent, examined)
    assert with_believed_rows(event, cache=True) == event._replace(rows_sent=cached)
    assert with_believed_rows(event, cache=False) == event._replace(rows_sent=uncached)
