"""Residency of the tables that have series, and of all others together."""

from myisam_exporter.collectors.base import Pair
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.table_page_cache import GROUP
from tests.support.recorded import RecordedLook

PAGE_BYTES = 4096


def test_pages_become_bytes_by_table_and_file(look: RecordedLook) -> None:
    values, pages = look.values(GROUP), look.machine.moment["pages"]
    assert values["table_page_cache_resident_bytes", "shop", "orders", "data"] == pages["shop/orders.MYD"][0] * PAGE_BYTES
    assert values["table_page_cache_dirty_bytes", "shop", "orders", "data"] == pages["shop/orders.MYD"][1] * PAGE_BYTES
    assert values["table_page_cache_resident_bytes", "shop", "posts", "index"] == pages["shop/posts.MYI"][0] * PAGE_BYTES
    assert values["table_page_cache_recently_evicted_bytes", "shop", "posts", "index"] == 0


def test_nothing_is_lost_between_the_shown_and_the_others(look: RecordedLook) -> None:
    values, pages = look.values(GROUP), look.machine.moment["pages"]
    shown = sum(number for (name, *labels), number in values.items() if name == "table_page_cache_resident_bytes" and labels[2] == "data")
    assert shown + values["omitted_tables_page_cache_resident_bytes", "data"] == PAGE_BYTES * sum(one[0] for name, one in pages.items() if name.endswith(".MYD"))


def test_without_a_choice_of_tables_nothing_is_said(look: RecordedLook) -> None:
    assert list(GROUP.values(Pair(look.sample("page_cache")), Scene({}, Running()))) == []
