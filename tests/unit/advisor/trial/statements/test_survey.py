from pathlib import Path

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.statements import survey as surveying
from myisam_advisor.trial.statements.records import SHARED, prepare_answers
from myisam_advisor.trial.statements.schedule import schedule_bytes, write_schedule
from myisam_advisor.trial.statements.survey import Judging, TableUse, options_fold_names, survey
from tests.support.workloads import BEGAN, event


def test_tables_are_counted_by_reads_and_writes() -> None:
    found = survey(
        [
            event(1, 0, b"SELECT * FROM words WHERE id = 1"),
            event(1, 1, b"INSERT INTO other.log SELECT * FROM words"),
            event(1, 2, b"CREATE TABLE new (a INT)"),
            event(1, 3, b"LOAD DATA INFILE 'x' INTO TABLE loaded"),
            event(1, 4, b"CREATE TEMPORARY TABLE mine SELECT * FROM words"),
            event(1, 5, b"SELECT * FROM mine"),
            event(1, 6, b"SELECT * FROM nowhere", database=None),
        ],
        Judging(),
    )
    assert found.tables == {("shop", "words"): TableUse(3, 0), ("other", "log"): TableUse(0, 1), ("", "nowhere"): TableUse(1, 0)}
    assert found.written == {("other", "log"): 1}


def test_connections_have_their_time_and_the_workload_has_its_own() -> None:
    found = survey([event(1, 50, b"SELECT 1", duration=100), event(2, 0, b"SELECT '\xff'", duration=10), event(1, 200, b"SELECT 2")], Judging())
    span = found.connections[1]
    assert (span.begin - BEGAN, span.end - BEGAN, span.statements, span.is_utf8) == (50, 300, 2, True)
    assert not found.connections[2].is_utf8
    assert found.seconds == pytest.approx(0.0003)


def test_statements_that_differ_in_values_are_of_a_kind() -> None:
    judging = Judging()
    kinds = [judging.of(event(1, 0, text)).kind for text in (b"SELECT 1", b"SELECT  2", b"SELECT a FROM t")]
    assert kinds == [0, 0, 1]
    assert list(judging.kinds) == ["select ?", "select a from t"]


def test_kinds_beyond_measure_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "MAXIMUM_KINDS", 2)
    judging = Judging()
    kinds = [judging.of(event(1, 0, b"SELECT a%d FROM t" % number)).kind for number in range(5)]
    assert kinds == [0, 1, 2, 2, 2]


def test_a_workload_of_nothing_is_refused_with_what_to_do() -> None:
    with pytest.raises(TrialError, match="record a longer time"):
        survey([], Judging())


def test_tables_and_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "MAXIMUM_TABLES", 3)
    with pytest.raises(TrialError, match="more than 3 tables"):
        survey([event(1, 0, b"SELECT * FROM t%d" % number) for number in range(5)], Judging())
    monkeypatch.setattr(surveying, "MAXIMUM_CONNECTIONS", 3)
    with pytest.raises(TrialError, match="more than 3 connections"):
        survey([event(number, 0, b"SELECT 1") for number in range(5)], Judging())


def test_kinds_have_their_share_of_the_time_or_of_the_statements_where_no_time_is_told() -> None:
    events = [event(1, 0, b"SELECT 1", duration=100), event(1, 1, b"SELECT a FROM t", duration=250), event(1, 2, b"SELECT 2", duration=150)]
    found = survey(events, Judging())
    assert (found.weight, found.shares) == (500, {0: 0.5, 1: 0.5})
    assert [kind.first for kind in found.kinds.values()] == [0, 1]
    untold = survey([one._replace(duration_microseconds=None) for one in events], Judging())
    assert untold.weight == 3
    assert untold.shares == pytest.approx({0: 2 / 3, 1: 1 / 3})


def test_the_disk_space_of_the_files_is_known_beforehand(tmp_path: Path) -> None:
    events = [event(number % 3, number, b"SELECT '%s'" % (b"x" * number)) for number in range(100)]
    found = survey(events, Judging())
    written = write_schedule(events, found, Judging(), tmp_path / "s", frozenset({"shop"}), lambda _: "")
    prepare_answers(written.folder, written.statements, written.writes)
    taken = sum(path.stat().st_size for path in written.folder.iterdir())
    assert taken <= schedule_bytes(found) + SHARED.size + 64 * written.connections
    assert schedule_bytes(found) <= 2 * taken + SHARED.size


def test_names_are_small_ones_where_the_server_does_not_tell_capitals() -> None:
    events = [event(1, 0, b"SELECT f(a) FROM Words JOIN Shop.Log USING (id)"), event(1, 1, b"INSERT INTO WORDS VALUES (1)"), event(1, 2, b"CALL Shop.P(1)")]
    folded = survey(events, Judging(folds=True))
    assert {name: (use.reads, use.writes) for name, use in folded.tables.items()} == {("shop", "words"): (1, 1), ("shop", "log"): (1, 0)}
    kept = survey(events, Judging())
    assert ("shop", "Words") in kept.tables
    assert kept.folded().tables == folded.tables
    assert kept.folded().called == folded.called
    assert options_fold_names(["--key-buffer-size=1", "--lower-case-table-names=1"])
    assert not options_fold_names(["--lower-case-table-names=0"])
