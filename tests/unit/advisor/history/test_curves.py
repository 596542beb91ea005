"""Curves for people: their ends have moments, and MyISAM's facts come first; those of one table are of its server alone."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.history.curves import curves_in_words, episodes_in_words, facts_in_words
from myisam_advisor.history.format import identity_of
from myisam_advisor.history.memory import Clocks
from myisam_advisor.history.reader import curves_of_server
from myisam_advisor.history.writer import History
from myisam_advisor.reports.one_table import curve_names
from myisam_advisor.texts.bars import BARS
from myisam_exporter.errors import UserError

from .test_history_damage import facts, look
from .test_memory import QUIET, finding


@pytest.fixture
def path(tmp_path: Path) -> Path:
    history = History(tmp_path / "h.sqlite")
    for uptime in (1000.0, 1010.0):
        look(history, facts(uptime, ("default", "hot")))
        time.sleep(0.01)
    history.close()
    return tmp_path / "h.sqlite"


def test_a_curve_stands_between_its_moments(path: Path) -> None:
    title, line, summary = curves_in_words(path, "status.Questions.per_second", 3600.0).splitlines()
    assert title == "status.Questions.per_second"
    begin, bars, end = line.split()
    assert begin == time.strftime("%H:%M", time.localtime()) or ":" in begin
    assert ":" in end
    assert set(bars) <= set(BARS)
    assert "min 7.5" in summary


def test_a_fact_that_is_nearly_written_so_is_named(path: Path) -> None:
    with pytest.raises(UserError, match=r"Did you mean status\.Questions\.per_second"):
        curves_in_words(path, "status.Question.per_second", 3600.0)


def test_facts_of_myisam_come_first(path: Path) -> None:
    names = facts_in_words(path, headings=False).splitlines()
    assert "key_cache.size_bytes" in names
    own = [name.startswith(("key_cache.", "tables.", "mysqld.", "totals.", "mutex_wait.", "host.", "server.", "status.Questions")) for name in names]
    assert names[0].startswith("key_cache.")
    assert own == sorted(own, reverse=True)
    assert facts_in_words(path, headings=True).splitlines()[0] == "Of MyISAM and what it runs on:"


def test_a_tables_curves_are_those_of_its_server(path: Path) -> None:
    names = curve_names("s", "t")
    server, _ = identity_of(facts(), time.time(), 0.0)
    found = curves_of_server(path, server, names, 0)
    assert {names[name] for name in found} >= {"data_bytes", "write_statements_per_second"}
    assert [value for _, value in found["tables.data_bytes[s.t]"]] == [5, 5]
    assert curves_of_server(path, "another:3306:/d/", names, 0) == {}
    assert curves_of_server(path, server, names, time.time() + 60) == {}


def test_where_nobody_ever_looked_no_finding_is_no_good_news(tmp_path: Path) -> None:
    History(tmp_path / "new.sqlite").close()
    said = f"{tmp_path}/new.sqlite holds no samples yet: let `myisam-advisor serve` run for a while."
    assert episodes_in_words(tmp_path / "new.sqlite") == said
    with pytest.raises(UserError) as listed:
        facts_in_words(tmp_path / "new.sqlite", headings=False)
    with pytest.raises(UserError) as drawn:
        curves_in_words(tmp_path / "new.sqlite", "status.Questions", 60.0)
    assert (str(listed.value), str(drawn.value)) == (said, said)


def test_without_a_finding_the_looks_are_what_is_on_record(path: Path) -> None:
    assert episodes_in_words(path).startswith("no finding is on record")


def test_findings_are_broken_between_words_for_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "long.sqlite"
    history = History(path)
    found = replace(finding("lock", "s.t"), message="Statements wait " * 12 + "here.")
    history.remember("db", [found], QUIET, Clocks(time.time(), 0.0))
    history.close()
    lines = episodes_in_words(path, 80).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) > 3
    assert all(line.startswith("    ") and not line.startswith("     ") for line in lines[1:])
    assert " ".join(episodes_in_words(path).split()) == " ".join(" ".join(lines).split())


def test_findings_that_nobody_saw_since_then_are_left_out_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, now = tmp_path / "h.sqlite", time.time()
    history = History(path)
    for hours, rule in ((50, "old"), (3, "young"), (2, "young")):
        history.remember("db", [finding(rule)], QUIET, Clocks(now - hours * 3600, 360000.0 - hours * 3600))
    history.close()
    monkeypatch.setattr(time, "time", lambda: now)
    everything, two_days, an_hour = (episodes_in_words(path, None, seconds) for seconds in (None, 2 * 86400.0, 3600.0))
    assert [rule in everything for rule in ("old", "young")] == [True, True]
    assert [rule in two_days for rule in ("old", "young")] == [False, True]
    assert an_hour.startswith("no finding is on record of the last 60 min; 3 are older: --since reaches further back\n")
    assert an_hour.count("was not looked at") == 1, "what held within the hour is not known"
    assert "; " in everything.splitlines()[-1]
    assert "; " not in an_hour.splitlines()[-1], "a gap that ended before is not told"
