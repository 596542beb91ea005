"""When a snapshot was taken, and how long each source took, is told by the clock that came with the context."""

from dataclasses import replace

import pytest

from myisam_exporter.collectors.base import Context, SampleKey, all_collectors
from myisam_exporter.collectors.key_caches import KEY_CACHES, KeyCachesCollector
from myisam_exporter.collectors.status import STATUS, Status
from myisam_exporter.collectors.variables import VARIABLES, Variables
from myisam_exporter.errors import MORE_MEMORY
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.pairs import pairs_between
from myisam_exporter.look.snapshot import NO_MEMORY, Snapshot, take_snapshot
from myisam_exporter.metrics.base import Running, Scene
from tests.support.moved_clock import MovedClock
from tests.support.recorded import RecordedLook

FAILED = Unknown("not now")


def test_the_snapshot_has_the_times_of_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = MovedClock()
    clock.move(1e6)
    unit = next(one for one in all_collectors() if one.name == STATUS.name)

    def slow(self: object, context: Context) -> Status:
        clock.move(7)
        return Status({"Uptime": 1})

    monkeypatch.setattr(type(unit), "collect", slow)
    context = Context.__new__(Context)
    context.clock, context.samples = clock, {}
    before = clock.monotonic()
    snapshot = take_snapshot(context, only={STATUS.name})
    assert 7 <= snapshot.durations[STATUS.name] < 60
    assert snapshot.moments[STATUS.name] == pytest.approx(before, abs=60)
    assert snapshot.taken_at == pytest.approx(clock.time() - 7, abs=60)


@pytest.mark.parametrize(("first", "second", "seconds"), [(0, 0, 1000), (400, 400, 1000), (0, 400, 1200), (400, 0, 800)])
def test_an_answer_that_came_late_is_of_the_middle_of_the_time_it_took(monkeypatch: pytest.MonkeyPatch, first: int, second: int, seconds: int) -> None:
    """Both snapshots begin 1000 s apart: one that was answered late may have counted for all of that time, or for none of it."""
    clock, takes = MovedClock(), iter((first, second))
    unit = next(one for one in all_collectors() if one.name == STATUS.name)

    def late(self: object, context: Context) -> Status:
        clock.move(next(takes))
        return Status({"Uptime": 1})

    monkeypatch.setattr(type(unit), "collect", late)
    context = Context.__new__(Context)
    context.clock, context.samples = clock, {}
    before = take_snapshot(context, only={STATUS.name})
    clock.move(1000 - first)
    interval = Interval(take_snapshot(context, only={STATUS.name}), before)
    assert interval.seconds == pytest.approx(seconds, abs=60)
    assert pairs_between(before, interval.after)[STATUS.name].seconds == pytest.approx(seconds, abs=60)


@pytest.mark.parametrize("looked", ["mysql-9.7", "mariadb-10.11"])
def test_counters_are_of_the_moment_at_which_they_were_read(monkeypatch: pytest.MonkeyPatch, looks: dict[str, RecordedLook], looked: str) -> None:
    """MySQL's key cache counts in the status: a look that stalls between the two made a rate of it that was 34 times too high."""
    look = looks[looked]
    unit = next(one for one in all_collectors() if one.name == KEY_CACHES.name)
    clock, collect = MovedClock(), type(unit).collect

    def stalled(self: KeyCachesCollector, context: Context) -> object:
        clock.move(500)
        return collect(self, context)

    monkeypatch.setattr(type(unit), "collect", stalled)
    context = look.machine.context()
    context.clock = clock
    with look.machine.playing():
        moments = take_snapshot(context, only={KEY_CACHES.name, STATUS.name, VARIABLES.name, "server"}).moments
    later = moments[KEY_CACHES.name] - moments[STATUS.name]
    assert later == pytest.approx(0 if looked.startswith("mysql") else 250, abs=60)


def test_a_source_for_which_there_is_no_memory_is_unknown_and_no_bug(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(self: object, context: Context) -> Status:
        raise MemoryError

    unit = next(one for one in all_collectors() if one.name == STATUS.name)
    monkeypatch.setattr(type(unit), "collect", fail)
    context = Context.__new__(Context)
    context.clock, context.samples = MovedClock(), {}
    assert take_snapshot(context, only={STATUS.name}).samples == {STATUS.name: Unknown(NO_MEMORY, MORE_MEMORY)}
    assert not caplog.records


def snapshot(seconds: float, **samples: object) -> Snapshot:
    return Snapshot(seconds, samples, dict.fromkeys(samples, seconds), {})


def test_a_pair_has_the_type_of_its_key_or_says_why_there_is_none() -> None:
    first, second = snapshot(10, status=Status({"Questions": 1}), variables=FAILED), snapshot(20, status=Status({"Questions": 5}), variables=Variables({}))
    scene = Scene(pairs_between(first, second), Running())
    status = scene.pair(STATUS)
    assert not isinstance(status, Unknown)
    assert status.before is not None
    assert (status.before.number("Questions"), status.after.number("Questions"), status.seconds) == (1, 5, 10)
    variables = scene.pair(VARIABLES)
    assert not isinstance(variables, Unknown)
    assert (variables.before, variables.seconds) == (None, None)
    assert isinstance(Scene({}, Running()).pair(STATUS), Unknown)
    assert Scene(pairs_between(second, replace(second, samples={"status": FAILED})), Running()).pair(STATUS) is FAILED
    with pytest.raises(TypeError, match="the sample of status is Status, not Variables"):
        scene.pair(SampleKey("status", Variables))
