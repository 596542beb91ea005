"""Advice that is followed comes to an end: at most two rounds, never back and forth, and nearly the same size at each look until it is followed."""

from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.key_caches import STEP_BYTES, spared
from myisam_exporter.outside.numbers import whole_number

MEMORY, MEBIBYTE, GIBIBYTE = 16 << 30, 1 << 20, 1 << 30
BLOCK, BOOKKEEPING = 1024, 228
OF_THE_SIZE = ("key-buffer-too-small", "key-buffer-too-large")


def facts(size: int, available: int, index: int, data: int, filled: float = 1.0) -> dict[str, Any]:
    """A server whose key cache misses from disk, of which so much is filled."""
    blocks = size // (BLOCK + BOOKKEEPING)
    used = int(blocks * filled)
    misses = 5000 * max(1 - blocks * BLOCK / index, 0.0)
    cache = {"name": "default", "size_bytes": size, "usable_bytes": blocks * BLOCK, "block_size_bytes": BLOCK, "blocks_used": used, "blocks_unused": blocks - used}
    return {
        "schema": 1, "interval_seconds": 60, "server": {"flavour": "mariadb", "version": "10.11.6", "uptime_seconds": 864000, "local": 1},
        "variable": {"key_buffer_size": size}, "key_cache": [{**cache, "read_requests_per_second": 80000, "reads_per_second": misses}],
        "totals": {"myisam_tables": 30, "myisam_index_bytes": index, "myisam_data_bytes": data}, "mysqld": {"threads_running": 4, "page_cache_misses_per_second": 900},
        "host": {"memory_bytes": MEMORY, "memory_available_bytes": available, "cpu_count": 4, "cpu_iowait_ratio": 0.4, "disk_reads_per_second": 1500},
    }  # fmt: skip


def told(document: dict[str, Any]) -> list[Finding]:
    judgement = judge(prepared(facts_from_document(document), Site(shipped_rules())))
    return [one for one in judgement.findings if one.rule in OF_THE_SIZE and one.commands]


def told_size(document: dict[str, Any]) -> int | None:
    commands = [command for finding in told(document) for command in finding.commands]
    return whole_number(str(commands[0]).rstrip(";").partition("= ")[2]) if commands else None


@pytest.mark.parametrize("filled", [1.0, 0.0], ids=["once it is full", "at once"])
@pytest.mark.parametrize("data", [90 * GIBIBYTE, 6 * GIBIBYTE, GIBIBYTE])
@pytest.mark.parametrize("index", [40 * GIBIBYTE, 5 * GIBIBYTE, GIBIBYTE])
@pytest.mark.parametrize("free", [14 * GIBIBYTE, 6 * GIBIBYTE, 3 * GIBIBYTE])
def test_a_key_cache_that_is_made_as_large_as_told_is_told_so_twice_at_most(free: int, index: int, data: int, filled: float) -> None:
    size, sizes = 16 * MEBIBYTE, list[int]()
    while (wanted := told_size(facts(size, free - int(size * filled), index, data, filled))) is not None:
        sizes.append(wanted)
        size = wanted
        assert len(sizes) <= 2, sizes
    assert sizes == sorted(sizes), "never back and forth"


@pytest.mark.parametrize("free", [6 * GIBIBYTE, 14 * GIBIBYTE])
def test_what_memory_can_spare_is_nearly_the_same_size_at_each_look(free: int) -> None:
    """MemAvailable moves at each look by some megabytes, and a plan that is made twice should be the same one."""
    looks = [told_size(facts(16 * MEBIBYTE, free + move * MEBIBYTE, 40 * GIBIBYTE, 90 * GIBIBYTE)) for move in range(-20, 21)]
    assert len(set(looks)) <= 2, set(looks)


@pytest.mark.parametrize("size", [1, STEP_BYTES, 16 * STEP_BYTES + 5, 900 * STEP_BYTES, 5 * GIBIBYTE - 7, 1 << 43])
def test_a_spared_size_is_never_more_and_hardly_less(size: int) -> None:
    assert spared(size) <= size
    assert size - spared(size) <= max(STEP_BYTES, size / 16)
    assert spared(spared(size)) == spared(size)
