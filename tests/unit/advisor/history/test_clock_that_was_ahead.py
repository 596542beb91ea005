"""A daemon whose clock was a day ahead, and was set back: what it noted then is no last change, and no last value. And clocks that drift apart."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history.curves import curves_in_words
from myisam_advisor.history.reader import changes_of
from myisam_advisor.history.writer import History
from tests.support.moved_clock import MovedClock
from tests.support.program import run
from tests.unit.advisor.history.test_history_damage import LABEL, look
from tests.unit.advisor.history.test_verification import noted

DAY = 86_400.0
OPENED = "status.Opened_tables.per_second"


def looks(path: Path, ahead_seconds: float, table_caches: list[int]) -> None:
    """Looks a minute apart, the last of them at that time, each with its table cache; the larger it is, the fewer tables are opened."""
    clock = MovedClock()
    clock.move(ahead_seconds - 60 * len(table_caches))
    history = History(path, clock=clock)
    for number in table_caches:
        clock.move(60)
        document = {
            "schema": 1, "interval_seconds": 60, "server": {"hostname": "h", "data_directory": "/d/"},
            "variable": {"port": 3306, "table_open_cache": number}, "status_per_second": {"Questions": 7.5, "Opened_tables": 4000 / number},
        }  # fmt: skip
        look(history, facts_from_document(document))
    history.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Twenty looks around a change tomorrow, then forty around another one, now."""
    path = tmp_path / "h.sqlite"
    looks(path, DAY, [100] * 10 + [200] * 10)
    looks(path, 0, [200] * 20 + [400] * 20)
    return path


def verified(path: Path, *words: object) -> tuple[int, str]:
    done = run("verify", *words, "--history", path, environment={"STATE_DIRECTORY": str(path.parent), "TZ": os.environ.get("TZ", "UTC")})
    return done.returncode, done.stdout + done.stderr


def test_the_last_change_is_none_that_is_still_to_come(path: Path) -> None:
    status, text = verified(path, "table-cache-too-small", "--window", "18min")
    assert "table_open_cache: 200 -> 400" in text
    assert (status, text.splitlines()[-1]) == (0, "Improved.")


def test_changes_of_a_clock_that_was_wrong_are_told_so(path: Path) -> None:
    _, text = verified(path, "--changes")
    assert re.findall("table_open_cache: (.*)", text) == ["200 -> 400", "100 -> 200, by a clock that was wrong"]


def test_a_curve_ends_now(path: Path) -> None:
    assert curves_in_words(path, OPENED, DAY).endswith("min 10 · median 15 · max 20 · last 10")


def test_changes_beyond_what_is_kept_go_as_samples_do(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    looks(path, 30 * DAY, [100, 200])
    looks(path, 0, [200])
    looks(path, DAY, [200])
    assert changes_of(path, LABEL) == []


@contextmanager
def in_zone(zone: str) -> Iterator[None]:
    """The clock on the wall as TZ says it: tzset(3)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        yield
    time.tzset()


def test_a_change_is_not_verified_before_it_is_made(path: Path) -> None:
    told = [(time.strftime("%Y-%m-%d 12:00", time.gmtime(time.time() + 2 * DAY)), ""), ("23:59", " (a time alone is of today: write the day with it)")]
    with in_zone(f"NOON{time.gmtime().tm_hour - 12}"):
        for moment, more in told:
            status, text = verified(path, "--at", moment)
            assert status == 2
            assert f"'{moment}' is still to come{more}" in text


def test_a_moment_before_the_clock_was_changed_has_its_zone(tmp_path: Path) -> None:
    path, changed = tmp_path / "h.sqlite", time.gmtime(time.time() - 1800)
    begin, end = changed.tm_yday - 1, (changed.tm_yday + 100) % 365
    with in_zone(f"WIN0SUM-1,{begin}/{changed.tm_hour}:{changed.tm_min},{end}"):
        looks(path, -3600, [100, 200])
        looks(path, 0, [400])
        _, text = verified(path, "--changes")
    first, second = text.splitlines()
    assert re.fullmatch(r"\S+ \S+ WIN  table_open_cache: 100 -> 200", first)
    assert re.fullmatch(r"\S+ \S+  table_open_cache: 200 -> 400", second)


def test_clocks_that_drift_apart_are_no_restart() -> None:
    none: dict[str, object] = {}
    assert noted(*((none, 100 + seconds) for seconds in (0, 1, 2, 4, 6, 8, 10))) == []
    assert noted(*((none, 100 - seconds) for seconds in (0, 3, 6, 9))) == []
    assert noted((none, 100), (none, 104), (none, 110)) == ["restart"]
