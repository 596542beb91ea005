"""Statements without end on private servers, where answers are held against each other."""

import time

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements import answers
from myisam_advisor.trial.statements.answers import digests_of
from tests.support.workloads import event

from .conftest import on_every_server

ENDLESS = b"SELECT COUNT(*) FROM (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) a " + b" ".join(
    b"JOIN (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) %c" % letter for letter in b"bcdefghijklmnop"
) + b" WHERE RAND() < 2"  # fmt: skip
WITHOUT_END = event(1, 0, ENDLESS, 1, database=None)
ONE_ROW = event(1, 1, b"SELECT 1", 1, database=None)
INTERRUPTED = 1317  # ER_QUERY_INTERRUPTED
# Of the servers' own limits: MariaDB's and MySQL's.
OUT_OF_TIME = (1969, 3024)


@on_every_server
def test_a_statement_without_end_is_ended_on_every_server(server: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """MySQL before 5.7.4 takes neither limit, and a comparison of values hung there."""
    monkeypatch.setattr(answers, "ACCOUNT", "root")
    monkeypatch.setattr(answers, "STATEMENT_SECONDS", 1)
    monkeypatch.setattr(answers, "LIMITS", ("SET SESSION max_statement_time = 1", "SET SESSION max_execution_time = 1000"))
    began = time.monotonic()
    first, second = digests_of(server, [WITHOUT_END, ONE_ROW])
    assert first in (INTERRUPTED, *OUT_OF_TIME)
    assert isinstance(second, tuple)
    assert time.monotonic() - began < 20


@on_every_server
def test_where_no_limit_is_known_a_statement_is_ended_by_hand(server: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "ACCOUNT", "root")
    monkeypatch.setattr(answers, "STATEMENT_SECONDS", 1)
    monkeypatch.setattr(answers, "LIMITS", ("SET SESSION no_such_limit = 1",))
    first, second = digests_of(server, [WITHOUT_END, ONE_ROW])
    assert first == INTERRUPTED
    assert isinstance(second, tuple)
