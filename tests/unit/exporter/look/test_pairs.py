"""Samples side by side: one maker for facts, for scrapes, and for the plugin without a daemon."""

from dataclasses import replace
from typing import Any

import pytest

from myisam_exporter.collectors.key_caches import KeyCache
from myisam_exporter.collectors.status import Status
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.pairs import Latest, pairs_between

FAILED = Unknown("not now")
CACHE = KeyCache("default", 8 << 20, 1024, 0, read_requests=100, reads=10, write_requests=0, writes=0)
BEFORE, AFTER = (CACHE,), (replace(CACHE, read_requests=900, reads=10),)


def taken(moment: float, **samples: object) -> Latest:
    return Latest(samples, dict.fromkeys(samples, moment))


def test_every_sample_has_its_former_one_its_interval_and_all_the_others_of_both_moments() -> None:
    before, after = taken(10.0, a="a before", b="b before"), taken(14.0, a="a after", b="b after")
    pairs = pairs_between(before, after)
    assert [(pairs[name].after, pairs[name].before, pairs[name].seconds) for name in "ab"] == [("a after", "a before", 4.0), ("b after", "b before", 4.0)]
    assert all(pair.others is after.samples and pair.others_before is before.samples for pair in pairs.values())


@pytest.mark.parametrize(
    "before",
    [None, taken(10.0, b="only another"), taken(10.0, a=FAILED), taken(14.0, a="the same moment"), taken(20.0, a="later"), Latest({"a": "no moment"}, {})],
)
def test_without_a_former_sample_there_is_no_interval(before: Latest | None) -> None:
    pair = pairs_between(before, taken(14.0, a="now"))["a"]
    assert (pair.after, pair.before, pair.seconds) == ("now", None, None)
    assert pair.others == {"a": "now"}


def status(uptime: int, since_flush: int) -> Status:
    return Status({"Uptime": uptime, "Uptime_since_flush_status": since_flush})


@pytest.mark.parametrize(("since_flush", "known"), [(4, False), (0, False), (10, False), (11, False), (120, True)])
def test_flush_status_takes_the_former_half_of_what_it_sets_back_and_of_nothing_else(since_flush: int, known: bool) -> None:
    before = taken(10.0, status=status(110, 110), key_caches=BEFORE, host="before")
    after = taken(20.0, status=status(120, since_flush), key_caches=AFTER, host="after")
    pairs = pairs_between(before, after)
    assert [pairs[name].before is not None for name in ("status", "key_caches", "host")] == [known, known, True]
    assert [pairs[name].seconds for name in ("status", "host")] == [10.0 if known else None, 10.0]


@pytest.mark.parametrize("set_by", [-90, -5, 3600])
def test_a_clock_that_is_set_flushes_nothing(set_by: int) -> None:
    """Both uptimes are told by the machine's clock."""
    before, after = taken(10.0, status=status(110, 100), key_caches=BEFORE), taken(20.0, status=status(120 + set_by, 110 + set_by), key_caches=AFTER)
    assert pairs_between(before, after)["status"].before is not None
    assert pairs_between(before, taken(20.0, status=status(120 + set_by, 4)))["status"].before is None


def test_a_server_that_is_younger_than_the_interval_was_not_flushed_but_started() -> None:
    pairs = pairs_between(taken(10.0, status=status(110, 110)), taken(20.0, status=status(4, 4)))
    assert pairs["status"].before is not None  # Interval.refuse_restart says the rest


def test_readings_of_different_sources_go_on_from_the_last_of_each() -> None:
    latest = Latest()
    assert latest.pairs_to(taken(1.0, a=1, b=1))["a"].seconds is None
    assert latest.pairs_to(taken(3.0, a=2))["a"].before == 1
    pairs = latest.pairs_to(taken(6.0, a=3, b=2))
    assert [(pairs[name].before, pairs[name].seconds) for name in "ab"] == [(2, 3.0), (1, 5.0)]
    assert pairs["a"].others_before == {"a": 2, "b": 1}  # and stays so, whatever is read later


def test_a_reading_that_another_has_overtaken_counts_nothing_and_is_not_counted_from() -> None:
    latest = Latest()
    latest.pairs_to(taken(5.0, a="later"))
    assert latest.pairs_to(taken(4.0, a="begun earlier, ended later"))["a"].before is None
    assert latest.pairs_to(taken(7.0, a="next"))["a"].before == "later"


def test_after_forgetting_nothing_is_counted_from() -> None:
    latest = Latest()
    latest.pairs_to(taken(5.0, a=1))
    latest.forget()
    assert latest.pairs_to(taken(7.0, a=2))["a"].before is None


def test_a_sample_that_only_others_look_at_now_has_no_interval() -> None:
    pair = pairs_between(taken(10.0, a="before"), Latest({"a": "now, without a moment"}, {}))["a"]
    assert (pair.after, pair.before, pair.seconds) == ("now, without a moment", None, None)


@pytest.mark.parametrize("unsaid", [FAILED, Status({"Uptime": 120}), Status({"Uptime_since_flush_status": 0})])
def test_who_does_not_tell_of_a_flush_was_not_flushed(unsaid: object) -> None:
    before = taken(10.0, status=status(110, 110), key_caches=BEFORE)
    assert pairs_between(before, taken(20.0, status=unsaid, key_caches=AFTER))["key_caches"].before == BEFORE


def test_a_first_status_tells_nothing_of_what_was_counted_before_it() -> None:
    pairs = pairs_between(taken(10.0, key_caches=BEFORE), taken(20.0, status=status(120, 4), key_caches=AFTER))
    assert pairs["key_caches"].before == BEFORE


@pytest.mark.parametrize(("changed", "goes_on"), [
    ({"read_requests": 900}, True), ({"blocks_used": 7}, True),
    ({"size_bytes": 16 << 20, "read_requests": 900}, False), ({"block_size_bytes": 2048, "read_requests": 900}, False), ({"segments": 4, "read_requests": 900}, False),
    ({"read_requests": 0, "reads": 0}, False), ({"reads": 9}, False), ({"read_requests": None, "reads": None}, True),
])  # fmt: skip
def test_a_key_cache_that_was_made_anew_is_not_counted_from(changed: dict[str, Any], goes_on: bool) -> None:
    """Its counters begin at 0, and 900 are no 800 more than there were."""
    pairs = pairs_between(taken(10.0, status=status(110, 110), key_caches=BEFORE), taken(20.0, status=status(120, 120), key_caches=(replace(CACHE, **changed),)))
    assert [pairs[name].before is not None for name in ("key_caches", "status")] == [goes_on, True]


def test_a_key_cache_that_came_or_went_leaves_the_others_as_they_are() -> None:
    hot = replace(CACHE, name="hot", read_requests=0)
    for before, after in ((BEFORE, (*AFTER, hot)), ((*BEFORE, hot), AFTER)):
        assert pairs_between(taken(10.0, key_caches=before), taken(20.0, key_caches=after))["key_caches"].before == before
