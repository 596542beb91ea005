"""Limits on the whole of something."""

import threading
import time

import pytest

from myisam_exporter.server.deadlines import Deadlines


def test_what_is_late_is_told_once_and_what_is_in_time_never() -> None:
    deadlines, told = Deadlines(), []
    late = threading.Event()

    def tell() -> None:
        told.append("late")
        late.set()

    for _ in range(1000):
        with deadlines.limit(5, lambda: told.append("in time")):
            pass
    with deadlines.limit(0.05, tell):
        assert late.wait(10)
        time.sleep(0.2)
    with deadlines.limit(60, lambda: told.append("in time")):
        pass
    assert told == ["late"]
    assert deadlines._pending == {}


def test_many_at_once_by_one_thread() -> None:
    deadlines, told = Deadlines(), []
    before = threading.active_count()

    def slow(number: int) -> None:
        done = threading.Event()

        def tell() -> None:
            told.append(number)
            done.set()

        with deadlines.limit(0.2 - number / 1000, tell):
            assert done.wait(10)

    threads = [threading.Thread(target=slow, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    assert threading.active_count() <= before + 51
    for thread in threads:
        thread.join()
    assert sorted(told) == list(range(50))


def test_where_no_thread_could_be_started_the_next_limit_starts_one(monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines, late = Deadlines(), threading.Event()

    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as changed:
        changed.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError), deadlines.limit(0.05, late.set):
            pytest.fail("nothing limits what is done here")
    assert deadlines._pending == {}
    with deadlines.limit(0.05, late.set):
        assert late.wait(10)
