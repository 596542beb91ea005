"""At which moment an episode, a restart or a row of looks ends that `test_memory.py` tells of."""

import pytest

from myisam_advisor.history.memory import CAME, REMEMBERED_SECONDS

from .test_memory import LOOK, NOW, Watched


@pytest.mark.parametrize("seconds", [REMEMBERED_SECONDS + LOOK, -7200.0])
def test_what_a_clock_tells_wrongly_is_not_said_to_have_gone(seconds: float) -> None:
    server = Watched()
    server.look()
    server.look("lock")
    server.now += seconds
    assert server.look() == []
    assert server.look("lock") == [(CAME, "lock")]


@pytest.mark.parametrize(("seconds", "goes_on"), [(3 * LOOK, True), (3 * LOOK + 1, False), (-60.0, True), (-61.0, False)])
def test_looks_go_on_where_the_next_is_no_more_than_three_pauses_late_or_a_minute_back(seconds: float, goes_on: bool) -> None:
    server = Watched()
    server.look()
    server.now = NOW + seconds
    server.look("lock")
    assert (len(server.memory.stretches) == 1, server.memory.since()["lock", ""].begin_seen) == (goes_on, goes_on)


def test_restarts_of_the_last_day_are_shown_and_none_that_is_still_to_come() -> None:
    server = Watched()
    server.look()
    server.uptime = 30.0
    server.look()
    (restarted,) = server.memory.past().restarts
    assert restarted == NOW + LOOK - 30.0
    server.wait(REMEMBERED_SECONDS - LOOK - 30.0)
    server.look()
    assert server.memory.past().restarts == (restarted,)
    server.look()
    assert server.memory.past().restarts == ()
    assert list(server.memory.restarts) == [restarted]
    server.now = restarted - 600.0
    server.look()
    assert server.memory.past().restarts == ()


def test_the_file_is_told_how_an_episode_went_where_it_came_or_went_only() -> None:
    server = Watched()
    server.look()
    server.look("lock")
    place = (("lock", ""), NOW + LOOK)
    assert (list(server.memory.unwritten), server.memory.turned) == ([place], {place})
    server.memory.written()
    assert (server.memory.unwritten, server.memory.turned) == ({}, set())
    server.look("lock")
    assert (list(server.memory.unwritten), server.memory.turned) == ([place], set())
    server.look()
    assert server.memory.turned == {place}


def test_what_ended_a_day_ago_is_forgotten_and_not_before() -> None:
    server = Watched()
    server.look("lock")
    server.look()
    server.now = NOW + REMEMBERED_SECONDS
    server.look()
    assert len(server.memory.past().episodes) == 1
    server.look()
    assert server.memory.past().episodes == ()
