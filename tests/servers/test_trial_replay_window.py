"""A recording that is longer than the budget can bear: a window of it is replayed, and that is said."""

from pathlib import Path

from myisam_advisor.trial.comparison import MINIMUM_ROUNDS
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support import workloads

from .test_trial_replay import ROWS, on, shop
from .trials import measured, temporary, trial, warned

__all__ = ["temporary"]  # a fixture that tests of a trial share
CONNECTIONS, ROUNDS = 4, 6_000
SETTING = ("--set", "key_buffer_size=1M")


def test_a_run_is_as_long_as_the_budget_can_bear(mariadb: PrivateServer, temporary: Path, tmp_path: Path) -> None:
    # At the end, and too late for any window that fits: what has half of the recording's time.
    recorded = workloads.shop(CONNECTIONS, ROUNDS, ROWS)
    whole = sum(event.duration_microseconds or 0 for event in recorded)
    late = CONNECTIONS * ROUNDS * 1000
    recorded.append(workloads.event(1, late, b"SELECT COUNT(*) FROM words WHERE name LIKE '%9%'", 1, duration=whole))
    path = workloads.write(tmp_path / "w", recorded)
    with shop(mariadb):
        document = measured(temporary, *on(mariadb, path, *SETTING, "--budget", "4s"))
        status, text, errors = trial(temporary, *on(mariadb, path, *SETTING, "--budget", "4s"))
    course, fidelity = document["course"], document["fidelity"]
    assert course["rounds"] + course["warm_up_rounds"] + course["disturbed_rounds"] >= MINIMUM_ROUNDS
    window = fidelity["window"]
    assert window["recorded_statements"] == len(recorded)
    assert fidelity["sent"] == fidelity["statements"] < len(recorded)
    assert 0 < window["time_share"] < 0.5
    assert fidelity["rows_equal"] >= 0.999 * fidelity["sent"]
    assert [one["fingerprint"] for one in window["absent"]] == ["select count(*) from words where name like ?"]
    assert (status, warned(errors)) == (0, [])
    assert f"of {len(recorded):,} recorded statements" in text
    assert "not in it" in text


def test_without_times_and_rows_a_variant_is_held_against_the_baseline(mariadb: PrivateServer, temporary: Path, tmp_path: Path) -> None:
    # As a general log tells it: reads beside writes, of which neither rows nor times are known.
    recorded = [one._replace(rows_sent=None, duration_microseconds=None) for one in workloads.shop(CONNECTIONS, 200, ROWS)]
    reads = [workloads.event(one.connection, 1000 * number, b"SELECT place FROM log WHERE id > 5", None) for number, one in enumerate(recorded[:100])]
    path = workloads.write(tmp_path / "w", [one._replace(duration_microseconds=None) for one in [*recorded, *reads]])
    with shop(mariadb):
        document = measured(temporary, *on(mariadb, path, *SETTING, "--sql", "DELETE FROM shop.words", "--rounds", "4"))
    other, emptied = document["variants"]
    assert (other["problem"], other["measured"]["rounds"] > 0) == ("", True)
    assert "answered otherwise under it" in emptied["problem"]
    assert "select name from words where id = ? returns other rows" in emptied["problem"]
    assert emptied["times"] is None
    assert document["fidelity"]["window"]["tells_times"] is False


def test_without_a_budget_everything_is_replayed(mariadb: PrivateServer, temporary: Path, tmp_path: Path) -> None:
    path = workloads.write(tmp_path / "w", workloads.shop(CONNECTIONS, 500, ROWS))
    with shop(mariadb):
        document = measured(temporary, *on(mariadb, path, *SETTING, "--rounds", "1"))
    assert document["fidelity"]["window"]["time_share"] == 1
    assert document["fidelity"]["sent"] == CONNECTIONS * 500 * 2
