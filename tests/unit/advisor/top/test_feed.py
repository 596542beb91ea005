"""The thread that looks: at its pace, through failures, and until it is told to end."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.verdict import verdict_of
from myisam_advisor.top import feed as feeds
from myisam_advisor.top.feed import Feed
from myisam_advisor.top.moment import Moment
from myisam_exporter.errors import UserError
from tests.support.daemon import wait_for

MOMENT = Moment(facts_from_document({"schema": 1}), Judgement(), verdict_of(Judgement(), 2.0), 1.0)


class Scripted:
    """Looks that each do what they were told; the last goes on for ever."""

    def __init__(self, *looks: Callable[[], Moment]) -> None:
        self.looks = list(looks)
        self.taken: list[float] = []
        self.glances = self.rests = 0
        self.given_up = threading.Event()

    def look(self) -> Moment:
        self.taken.append(time.monotonic())
        return (self.looks.pop(0) if len(self.looks) > 1 else self.looks[0])()

    def glance(self) -> None:
        self.glances += 1

    def rest(self) -> None:
        self.rests += 1

    def give_up(self) -> None:
        self.given_up.set()


def good() -> Moment:
    return MOMENT


def gone() -> Moment:
    raise UserError("the server is gone.")


def broken() -> Moment:
    raise ZeroDivisionError("ours")


def slow() -> Moment:
    time.sleep(0.2)
    return MOMENT


@contextmanager
def fed(looks: Scripted, interval: float = 0.01) -> Iterator[tuple[Feed, threading.Event]]:
    woken = threading.Event()
    feed = Feed(looks, interval, woken.set)
    feed.start()
    try:
        yield feed, woken
    finally:
        feed.end()
        feed.join(10)
        assert not feed.is_alive()
        assert looks.given_up.is_set()


def test_a_look_is_published_and_somebody_woken() -> None:
    with fed(Scripted(good)) as (feed, woken):
        assert woken.wait(20)
        assert feed.last is MOMENT
        assert feed.failure is None


def test_a_failure_is_told_with_its_first_time_and_gone_with_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "RETRY_SECONDS", 0.05)
    looks = Scripted(good, gone)
    with fed(looks) as (feed, _):
        assert wait_for(lambda: feed.failure)
        first = feed.failure
        assert first is not None
        assert first.why == "the server is gone."
        count = len(looks.taken)
        assert wait_for(lambda: len(looks.taken) > count + 1)
        assert feed.failure == first
        assert feed.last is MOMENT
        looks.looks[:] = [good]
        assert wait_for(lambda: feed.failure is None)


def test_a_fault_of_ours_is_handed_over_and_ends_the_thread() -> None:
    with fed(Scripted(broken)) as (feed, woken):
        assert woken.wait(20)
        assert isinstance(feed.fault, ZeroDivisionError)


@pytest.mark.slow
def test_it_never_looks_for_more_than_a_fifth_of_the_time() -> None:
    looks = Scripted(good, slow)
    with fed(looks):
        assert wait_for(lambda: len(looks.taken) > 3)
    assert looks.taken[3] - looks.taken[2] >= 0.2 * (1 + feeds.REST_PER_LOOK)


def test_after_a_look_that_hung_it_rests_no_longer_than_anybody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "LONGEST_REST_SECONDS", 0.01)
    monkeypatch.setattr(feeds, "REST_PER_LOOK", 1e6)
    looks = Scripted(good, slow)
    with fed(looks):
        assert wait_for(lambda: len(looks.taken) > 3)


def test_while_it_is_paused_nothing_is_asked() -> None:
    looks = Scripted(good)
    with fed(looks) as (feed, _):
        assert wait_for(lambda: looks.taken)
        feed.pause(True)
        time.sleep(0.2)
        count = len(looks.taken)
        time.sleep(0.3)
        assert len(looks.taken) == count
        feed.pause(False)
        assert wait_for(lambda: len(looks.taken) > count)


def test_between_two_looks_it_glances() -> None:
    looks = Scripted(good)
    with fed(looks, interval=60.0):
        assert wait_for(lambda: looks.glances > 1)
    assert len(looks.taken) == 1


def test_what_looks_is_told_that_it_is_paused_once_and_before_the_next_look_was_due() -> None:
    looks = Scripted(good)
    with fed(looks, interval=60.0) as (feed, _):
        assert wait_for(lambda: looks.taken)
        assert looks.rests == 0
        feed.pause(True)
        assert wait_for(lambda: looks.rests)
        glances = looks.glances
        time.sleep(0.6)
        assert (looks.rests, looks.glances) == (1, glances)
        feed.pause(False)
        assert wait_for(lambda: looks.glances > glances)
    assert len(looks.taken) == 1
