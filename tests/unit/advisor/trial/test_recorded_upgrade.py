"""What of `trial upgrade --workload` needs no server: how answers are held together, how refusals are told, and the report."""

from array import array
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from myisam_advisor.cli.upgrading import UpgradeWish, _recorded_task
from myisam_advisor.cli.watched_server import WatchedServer
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.binaries import ServerBinaries, ServerChoice
from myisam_advisor.trial.statements.answers import Compared
from myisam_advisor.trial.statements.material import Material
from myisam_advisor.trial.statements.schedule import UNKNOWN, Schedule, ThreadPlan
from myisam_advisor.trial.statements.watched import replay_settings
from myisam_advisor.trial.upgrade import recorded_statements
from myisam_advisor.trial.upgrade.both_versions import BothServers
from myisam_advisor.trial.upgrade.carried_settings import carried, options_of
from myisam_advisor.trial.upgrade.recorded_result import ROW_COUNT, ROW_ORDER, ROW_VALUES
from myisam_advisor.trial.upgrade.recorded_statements import RecordedMaterial, RecordedOnBoth
from myisam_advisor.trial.upgrade.result_notes import CUT, FOLLOWS, GROUPED, LIMITED, ORDERED, UNORDERED, note_on
from myisam_advisor.trial.upgrade.server_words import without_values
from myisam_advisor.trial.upgrade.two_answers import Rows, TwoAnswers, held_together
from myisam_advisor.trial.upgrade.upgrade_report import as_text
from myisam_advisor.trial.upgrade.upgrade_result import from_document
from myisam_advisor.trial.upgrade.upgrade_task import present_program
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.location import Location
from tests.support.upgrades import RECORDED, UPGRADED
from tests.support.workloads import event


def said_of(*runs: tuple[list[int], list[int], list[int]]) -> TwoAnswers:
    """Answers of one kind for each run: (the present version's, its second ones, the newer one's)."""
    plan = ThreadPlan()
    first, again, newer = array("q"), array("q"), array("q")
    for kind, (before, second, after) in enumerate(runs):
        for values in zip(before, second, after, strict=True):
            plan.kinds.append(kind)
            plan.positions.append(len(plan.kinds) - 1)
            for answers, value in zip((first, again, newer), values, strict=True):
                answers.append(value)
    kinds = [str(number) for number in range(len(runs))]
    return held_together(Schedule(Path(), kinds, [plan], [], 1, 0, {}, frozenset()), [first], [again], [newer])


def error(number: int) -> int:
    """An error as an answer."""
    return UNKNOWN - number


def test_refusals_of_one_version_are_told_apart_from_those_of_both() -> None:
    found = said_of(([1, 1], [1, 1], [error(1064), 1]), ([error(1062)] * 3, [error(1062)] * 3, [error(1062), error(1064), 1]))
    assert {key: (group.statements, group.position) for key, group in found.only_newer.items()} == {(0, 1064, 0): (1, 0), (1, 1064, 1062): (1, 3)}
    assert {key: group.statements for key, group in found.only_present.items()} == {(1, 1062, 0): 1}
    assert (found.sent, found.refused_by_both, found.otherwise, found.answered_otherwise) == (5, {1: 1}, {0, 1}, 3)


def test_what_was_not_reached_and_what_is_unsteady_says_nothing() -> None:
    found = said_of(([1, UNKNOWN, 1], [error(1205), 1, UNKNOWN], [2, 1, UNKNOWN]))
    assert (found.sent, found.not_reached, found.unsteady, found.otherwise) == (1, 2, 1, set())


def test_rows_that_reads_beside_writes_return_now_so_and_now_so_are_no_difference() -> None:
    steady, straying = ([5, 5], [5, 5], [5, 4]), ([5, 5, 5, 5], [5, 5, 5, 4], [4, 5, 4, 4])
    found = said_of(steady, straying)
    assert found.otherwise == {0}
    assert found.rows[0] == Rows(2, 1, 0, 5, 4)
    assert (found.rows[1].other, found.rows[1].unsteady, found.rows[1].is_other) == (2, 1, False)
    assert not Rows(compared=100_000, other=100).is_other


NAMES = ["shop", "words", "name", "at"]


@pytest.mark.parametrize(
    ("words", "kind", "told"),
    [
        ("Incorrect date value: '0000-00-00' for column 'at' at row 1", "insert into log values (?+)", "Incorrect date value: '?' for column 'at' at row 1"),
        ("Duplicate entry 'it's for me' for key 'PRIMARY'", "insert into words values (?+)", "Duplicate entry '?'? for ?' for key '?'"),
        ("Unknown column 'rank' in 'field list'", "select rank from words", "Unknown column 'rank' in 'field list'"),
        ("Field 'name' doesn't have a default value", "insert into words values (?+)", "Field 'name' doesn't have a default value"),
        ("near 'rank from words where name = 'secr' at line 1", "select rank from words where name = ?", "near 'rank from words where name = ?' at line 1"),
        ("near 'Brien'' at line 7", "select ?", "near '?' at line 7"),
        ("near '('opensesame'), '17' LIMIT 3' at line 1", "select password(?), ? limit ?", "near '(? limit ?' at line 1"),
        ("Truncated incorrect DOUBLE value: 'a@b.c", "select ?", "Truncated incorrect DOUBLE value: '?"),
        ("Too-big precision 4711 specified, see row 3", "select ?", "Too-big precision ? specified, see row 3"),
        ("'1' is out of range in '(5 - 1)'", "select ? - ?", "'?' is out of range in '?'"),
    ],
)  # fmt: skip
def test_words_of_a_server_hold_no_value(words: str, kind: str, told: str) -> None:
    said = without_values(words, kind, NAMES)
    for value in ("0000", "it's", "secr", "Brien", "opensesame", "17", "4711", "a@b", "5"):
        assert value not in said
    assert said == told


def test_what_an_order_leaves_open_is_said() -> None:
    assert note_on("select a from t group by a", ROW_ORDER) == GROUPED
    assert note_on("select a from t", ROW_ORDER) == UNORDERED
    assert note_on("select a from t order by b", ROW_ORDER) == ORDERED
    assert note_on("select a from t limit ?", ROW_VALUES) == LIMITED
    assert note_on("select a from t order by b limit ?", ROW_VALUES) == CUT
    assert note_on("select a from t", ROW_VALUES) == ""
    assert note_on("select a from t", ROW_COUNT) == FOLLOWS


def test_settings_that_somebody_gave_go_with_the_newer_version() -> None:
    watched = {"sql_mode": "", "key_buffer_size": "1024", "read_buffer_size": "131072", "port": "3306"}
    given = carried(watched, {"sql_mode": "NO_ENGINE_SUBSTITUTION", "key_buffer_size": "8388608", "read_buffer_size": "131072"})
    assert given == {"sql_mode": "", "key_buffer_size": "1024"}
    assert options_of(given) == ["--loose-key-buffer-size=1024"]
    assert options_of(carried({"ft_stopword_file": ""}, {"ft_stopword_file": "(built-in)"})) == ["--loose-ft-stopword-file="]


@pytest.mark.parametrize(("told", "file"), [("stop.txt", "/data/stop.txt"), ("/etc/stop.txt", "/etc/stop.txt"), ("", ""), ("(built-in)", None)])
def test_both_versions_find_the_stopwords_of_the_watched_server(told: str, file: str | None) -> None:
    session: Any = None
    nowhere = Unknown("", "")
    watched = WatchedServer(session, {"ft_stopword_file": told, "datadir": "/data/", "version": "5.6.51"}, Location(nowhere, nowhere))
    chosen: Any = SimpleNamespace(budget_seconds=1.0, rounds=0)
    settings = _recorded_task(UpgradeWish("", None, chosen), {}, watched).variables
    words = [] if file is None else [f"ft-stopword-file={file}"]
    assert replay_settings(settings) == [f"--{word}" for word in words]
    assert options_of(carried(settings, {"ft_stopword_file": "(built-in)"})) == [f"--loose-{word}" for word in words]


def test_the_report_tells_refusals_results_speed_and_settings() -> None:
    text = " ".join(as_text(UPGRADED).split())
    for said in (
        "MySQL 9.7 refuses 2 kinds that the present version takes or refuses otherwise; it takes 1 kind that the present version refuses; 2 kinds have other results.",
        "10 of 12 statements were answered by both; 2 refused by both with the same error",
        "1 not reached (--budget)",
        "left out: 1 (shop.kept: it is an InnoDB table)",
        "3 x select rank from words error 1064: near 'from words' at line 1",
        "MySQL 5.6 ends it with error 1062.",
        "Under the sql_mode of now it is taken (sql_mode=).",
        "Refused by MySQL 5.6 alone: 1 x select lag(id) from words error 1305",
        "1 of 2 with another number of rows, such as 0 and not 2 (may follow",
        "another order of rows (GROUP BY sorted",
        "faster",
        "sql_mode: (empty); under MySQL 9.7 STRICT_TRANS_TABLES, its default.",
        "A note.",
    ):
        assert said in text, text
    assert "character_set_server" not in text
    nothing = replace(RECORDED, only_newer=(), only_present=(), others=(), all=None, kinds=(), course=None, speed_problem="it says nothing")
    text = " ".join(as_text(replace(UPGRADED, recorded=nothing)).split())
    assert "MySQL 9.7 takes them as the present version does, with the same results." in text
    assert "it says nothing." in text


def test_a_result_comes_back_from_its_document() -> None:
    assert from_document(asdict(UPGRADED)) == UPGRADED
    wrong = asdict(UPGRADED)
    wrong["recorded"]["sent"] = "many"
    with pytest.raises(TrialError):
        from_document(wrong)


def test_the_present_program_that_is_gone_or_replaced_is_said() -> None:
    with pytest.raises(TrialError, match=r"present version \(mysql-5\.6\), too, and its program cannot be started here \(looked for: /nowhere/mysqld\).*leave --workload out"):
        present_program(ServerChoice(candidates=("/nowhere/mysqld",)), ["mysql", 5, 6])
    newer = ServerBinaries("mysql-8.0", "mysql", Path("/usr/sbin/mysqld"), Path("/usr"), Path("/usr/share"))
    with pytest.raises(TrialError, match=r"/usr/sbin/mysqld, from which it was started, is mysql-8\.0 by now"):
        present_program(ServerChoice(known=newer), ["mysql", 5, 6])
    assert present_program(ServerChoice(known=newer), ["mysql", 8, 0]) == newer


@pytest.mark.parametrize("knows_moments", [True, False])
def test_answers_are_compared_one_by_one_and_speeds_as_the_recording_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows_moments: bool) -> None:
    """What one version does faster may come before another's write: other rows, and no difference between the versions."""
    asked: list[tuple[str, bool]] = []

    class EndedError(Exception):
        pass

    class Parts:
        def __init__(self, material: Material, *_: object) -> None:
            self.knows_moments = material.knows_moments

        def first(self, _: int) -> Any:
            asked.append(("answers", self.knows_moments))
            return SimpleNamespace(schedule=None)

        def stage(self, *_: object) -> Any:
            return SimpleNamespace(restore=lambda: None)

        def window(self, *_: object) -> Any:
            asked.append(("speeds", self.knows_moments))
            raise EndedError

    monkeypatch.setattr(recorded_statements, "Parts", Parts)
    monkeypatch.setattr(recorded_statements, "seen_answers", lambda *_: ())
    for name, found in (("_answers", ((), None)), ("_selects", Compared()), ("_refused", ((), ()))):
        monkeypatch.setattr(RecordedOnBoth, name, lambda *_, found=found: found)
    both: Any = BothServers(SimpleNamespace(binaries=None, options=[]), SimpleNamespace(), [], {}, [])  # type: ignore[arg-type]
    material = RecordedMaterial(lambda: iter([event(1, 0, b"SELECT 1")]), {}, knows_moments=knows_moments, budget_seconds=None, rounds=None)
    with pytest.raises(EndedError):
        RecordedOnBoth(both, material, "newer", "", tmp_path, Listener()).result()
    assert asked == [("answers", False), ("speeds", knows_moments)]
