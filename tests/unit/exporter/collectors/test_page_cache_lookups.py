"""Lookups by tracepoints: rates over the windows in which they were on."""

from dataclasses import dataclass

import pytest

from myisam_exporter.collectors.base import NOT_TRACED, Pair
from myisam_exporter.collectors.page_cache_lookups import COLLECTOR, Lookups
from myisam_exporter.errors import UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.tracepoints import Counts, File
from tests.support.recorded import RecordedLook

ORDERS = ("shop", "orders")


@dataclass
class Counted:
    """Stands in for the kernel's counts, which only root may have."""

    followed: frozenset[File] = frozenset()
    counted: Counts | None = None

    def follow(self, files: frozenset[File]) -> None:
        self.followed = files

    def counts(self) -> Counts:
        if self.counted is None:
            raise UserError("the kernel takes no more filters")
        return self.counted


def test_what_is_not_traced_says_how_it_would_be(look: RecordedLook) -> None:
    assert look.sample("page_cache_lookups") is NOT_TRACED
    assert look.facts.why_unknown("tables", "data_page_cache_hit_ratio") == NOT_TRACED


def test_counts_of_files_become_counts_of_tables(look: RecordedLook) -> None:
    state = (look.machine.data / "shop" / "orders.MYD").stat()
    following = Counted()
    following.counted = Counts({(state.st_dev, state.st_ino): 500, (1, 1): 7}, {(state.st_dev, state.st_ino): 5}, 2.0, 0.01, 3, 3)
    with look.machine.playing():
        context = look.machine.context()
        context.samples, context.following = dict(look.second.samples), following  # type: ignore[assignment]
        found = COLLECTOR.collect(context)
    assert isinstance(found, Lookups)
    assert (found.lookups[(*ORDERS, "data")], found.insertions[(*ORDERS, "data")], found.lookups[(*ORDERS, "index")]) == (500, 5, 0)
    assert (state.st_dev, state.st_ino) in following.followed
    files = list(look.machine.data.rglob("*.MY[ID]"))
    assert len(following.followed) == len(files)
    unwhole = COLLECTOR.incomplete(found)
    assert unwhole is not None
    assert "3 events were lost" in unwhole.reason


def test_a_kernel_that_lets_nothing_be_counted_any_more_is_no_exception(look: RecordedLook) -> None:
    with look.machine.playing():
        context = look.machine.context()
        context.samples, context.following = dict(look.second.samples), Counted()  # type: ignore[assignment]
        assert COLLECTOR.collect(context) == Unknown("the kernel takes no more filters")


def lookups(data: int, inserted: int, seconds: float) -> Lookups:
    return Lookups({(*ORDERS, "data"): data, (*ORDERS, "index"): 0}, {(*ORDERS, "data"): inserted, (*ORDERS, "index"): 0}, seconds, 0.0, 0, 0)


@pytest.mark.parametrize(("data", "inserted", "ratio"), [(1100, 10, 0.99), (100, 0, None), (110, 50, None)])
def test_the_ratio_is_of_the_windows(data: int, inserted: int, ratio: float | None) -> None:
    (block,) = COLLECTOR.facts(Pair(lookups(data, inserted, 6.0), lookups(100, 0, 2.0), 60.0))
    row = dict(zip(block.columns, next(iter(block.rows)), strict=True))
    assert row["data_lookups_per_second"] == (data - 100) / 4
    assert row["data_insertions_per_second"] == inserted / 4
    assert row["data_page_cache_hit_ratio"] == ratio
    assert list(COLLECTOR.facts(Pair(lookups(data, inserted, 2.0), lookups(1, 0, 2.0), 60.0))) == []


def test_without_tables_there_is_nothing_to_count(look: RecordedLook) -> None:
    gone = Unknown("no tables")
    with look.machine.playing():
        context = look.machine.context()
        context.samples, context.following = {"myi": gone}, Counted()  # type: ignore[assignment]
        assert COLLECTOR.collect(context) is gone
