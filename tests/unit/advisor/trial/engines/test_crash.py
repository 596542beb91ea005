"""Which checks a table is looked over by after a crash, and which of them is part of the time that it was away."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from myisam_advisor.trial.engines import crash
from myisam_advisor.trial.engines.crash import _looked_over
from myisam_advisor.trial.engines.stage import EngineServer
from myisam_exporter.server.sql import quote_table

NAME = quote_table("d", "s")
OK, OPEN, WRONG = ("status", "OK"), ("warning", "1 client is using or hasn't closed the table properly"), ("error", "Corrupt")
PLAIN_SECONDS, EXTENDED_SECONDS = 2.0, 34.0


@pytest.mark.parametrize(("plain", "extended", "is_spatial", "words", "is_damaged", "extended_seconds"), [
    ([OK], None, False, "OK", False, 0),
    ([OK], [OK], True, "OK", False, EXTENDED_SECONDS),
    ([OPEN, OK], [OK], True, OPEN[1], False, EXTENDED_SECONDS),
    ([OK], [WRONG], True, "Corrupt", True, EXTENDED_SECONDS),
    ([OPEN, OK], [WRONG], True, f"{OPEN[1]}; Corrupt", True, EXTENDED_SECONDS),
    ([WRONG], None, True, "Corrupt", True, 0),  # what the plain check sees needs no other
])  # fmt: skip
def test_the_extended_check_is_timed_apart(
    monkeypatch: pytest.MonkeyPatch, plain: Any, extended: Any, is_spatial: bool, words: str, is_damaged: bool, extended_seconds: float
) -> None:
    now = 0.0

    def execute(statement: str) -> list[tuple[object, ...]]:
        nonlocal now
        is_extended = statement.endswith(" EXTENDED")
        now += EXTENDED_SECONDS if is_extended else PLAIN_SECONDS
        return [("d.s", "check", *row) for row in (extended if is_extended else plain)]

    monkeypatch.setattr(crash, "time", SimpleNamespace(monotonic=lambda: now))
    one = EngineServer("MyISAM", cast("Any", SimpleNamespace(execute=execute)))
    found = _looked_over(one, NAME, is_spatial=is_spatial)
    assert (found.words, found.is_damaged, found.seconds, found.extended_seconds) == (words, is_damaged, PLAIN_SECONDS, extended_seconds)
