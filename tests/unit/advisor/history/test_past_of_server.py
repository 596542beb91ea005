"""What `check` says of earlier: the last day of the very server, from a daemon's history, and what a look of its own adds to that."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history.format import identity_of
from myisam_advisor.history.memory import Clocks
from myisam_advisor.history.reader import Seen, past_of_server
from myisam_advisor.history.writer import History
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.past import GONE, HOLDS, NO_SILENCE, NOT_KNOWN, Past, Silence, named
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats.base import Shown, report_named
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.table_choice import TableChooser

pytestmark = pytest.mark.usefixtures("in_utc")
LABEL, RULE, PAUSE = "db:3306", "key-cache-contention", 60.0
NOON = 1_763_812_800.0  # 2025-11-22 12:00 UTC
JUDGED = Silence(frozenset({RULE}), frozenset())
FOUND = Finding(RULE, "", "warning", "likely", "server", "", None, "words", (), "", "", "", "", "", ())
HELD_BACK = "Held back earlier today: 12:02 to 12:31, the lock of the key cache."


def facts(hostname: str = "h") -> FactSet:
    server = {"hostname": hostname, "data_directory": "/d/", "uptime_seconds": 90_000.0}
    return complete(facts_from_document({"schema": 1, "interval_seconds": 10, "server": server, "variable": {"port": 3306}}))


SERVER = identity_of(facts(), NOON, 0.0)[0]


def history_until(path: Path, minutes: int, held: range, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A daemon looked each minute from noon on; in the minutes `held` it found the contention."""
    now = NOON
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: now)
        history = History(path, days=1e6)
        known = facts()
        for minute in range(minutes):
            now = NOON + PAUSE * minute
            list(history.follow(LABEL, known, TableChooser().choose(known.tables["tables"])))
            history.remember(LABEL, [FOUND] if minute in held else [], JUDGED, Clocks(now, now))
        history.close()
    return path


def standings(past: Past | None) -> list[str]:
    assert past is not None
    return [past.standing(one) for one in past.episodes]


def of(path: Path, minute: float, found: Sequence[Finding] | None = None, silence: Silence = JUDGED) -> Past | None:
    """What is known in that minute, with a look of our own where `found` is given."""
    seen = None if found is None else Seen(found, silence, 90_000.0)
    return past_of_server(path, SERVER, NOON + PAUSE * minute, seen)


def said(past: Past, format_name: str = "text", chosen: tuple[str, ...] = ()) -> str:
    site = Site(shipped_rules())
    ready = prepared(facts(), site)
    judgement = judge(ready)
    chosen = chosen and (judgement.findings[0].rule,)
    return report_named(format_name).render(judgement, ready.judged, Shown(chosen=chosen, past=named(past, site)))


def test_check_says_when_it_was_held_back_in_the_line_below_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    past = of(history_until(tmp_path / "h", 40, range(2, 32), monkeypatch), 40, [])
    assert past is not None
    text = said(past)
    assert text.count(HELD_BACK) == 1
    assert text.partition(HELD_BACK)[0].count("\n\n") == 0, "it is below the verdict"
    document = json.loads(said(past, "json"))["past"]
    assert [(one["rule"], one["standing"], one["since"]) for one in document["episodes"]] == [(RULE, "gone", "2025-11-22T12:02:00Z")]
    assert document["episodes"][0]["resource"] == "the lock of the key cache"
    assert HELD_BACK in said(past, "html")


def test_it_says_nothing_where_nothing_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    past = of(history_until(tmp_path / "h", 5, range(0), monkeypatch), 5, [])
    assert past is not None
    assert "earlier" not in said(past)


def test_a_look_of_our_own_comes_behind_those_of_the_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = history_until(tmp_path / "h", 10, range(2, 10), monkeypatch)
    assert standings(of(path, 9)) == [HOLDS], "the daemon's last look"
    assert standings(of(path, 10, [FOUND])) == [HOLDS]
    assert standings(of(path, 10, [])) == [GONE]
    assert standings(of(path, 10, [], NO_SILENCE)) == [NOT_KNOWN], "a look without an interval"


def test_of_a_daemon_that_stopped_it_is_not_known_how_long_it_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    past = of(history_until(tmp_path / "h", 10, range(2, 10), monkeypatch), 100, [], NO_SILENCE)
    assert past is not None
    assert "Held back earlier today: 12:02 to 12:09 at least, the lock of the key cache." in said(past)


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = history_until(tmp_path / "h", 10, range(2, 10), monkeypatch)
    before = path.read_bytes()
    of(path, 10, [])
    assert standings(of(path, 9)) == [HOLDS]
    assert path.read_bytes() == before


def test_only_the_very_server_and_only_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = history_until(tmp_path / "h", 10, range(2, 5), monkeypatch)
    assert past_of_server(path, identity_of(facts("another"), NOON, 0.0)[0], NOON + 600, None) is None
    assert standings(of(path, 10)) == [GONE]
    assert of(path, 2 * 24 * 60) is None, "two days later nothing of it is left"
