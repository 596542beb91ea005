"""Key caches that a server's init_file names, the default one by its variables, and how fast their counters grow."""

import time

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.key_caches import COLLECTOR, KeyCache, cache_names, default_cache


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        (b"CACHE INDEX a.b IN hot;", ["hot"]),
        (b"SET GLOBAL hot_1.key_buffer_size = 1;\nCACHE INDEX `a`.`b;c` IN hot_1;\n cache index a.b,\n c.d in `hot_2`;\n", ["hot_1", "hot_2"]),
        (b"-- the layout\nCACHE INDEX a.b PARTITION (ALL) IN hot\n# end\n", ["hot"]),
        (b"-- CACHE INDEX a.b IN none;\nLOAD INDEX INTO CACHE a.b;", []),
        (b"CACHE INDEX `in hot`.`x` IN other", ["other"]),
        (b"\xff\xfe`", []),
        (b"", []),
        (b"CACHE INDEX " * 80_000, []),
        (b"CACHE INDEX a IN b " * 40_000, ["b"]),
        (b"`" * 1_000_000, []),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_names_are_found_in_any_script_in_bounded_time(sql: bytes, names: list[str]) -> None:
    assert cache_names(sql) == names


def seconds_for(sql: bytes) -> float:
    """The least processor time of several runs."""
    times = []
    for _ in range(5):
        begun = time.process_time()
        cache_names(sql)
        times.append(time.process_time() - begun)
    return min(times)


@pytest.mark.parametrize("part", [b"\n", b"\r\n", b" \n", b"\n--", b"CACHE INDEX a IN b  ", b"`;", b"`", b"\x0b"])
@pytest.mark.parametrize("beginning", [b"", b"CACHE INDEX "])
def test_time_grows_with_the_length_of_a_script_only(part: bytes, beginning: bytes) -> None:
    assert seconds_for(beginning + part * 16_000) < 10 * seconds_for(beginning + part * 4_000)


STATUS = {"Key_blocks_used": "1", "Key_blocks_unused": "2", "Key_blocks_not_flushed": "3", "Key_read_requests": "4", "Key_reads": "5", "Key_write_requests": "6", "Key_writes": "7"}


def test_each_number_of_the_default_cache_is_of_its_own_variable() -> None:
    variables = {"key_buffer_size": "8388608", "key_cache_block_size": "2048", "key_cache_segments": "8"}
    assert default_cache(variables, STATUS) == KeyCache("default", 8388608, 2048, 8, 1, 2, 3, 4, 5, 6, 7)


@pytest.mark.parametrize(
    ("variables", "block_size"),
    [
        ({"key_buffer_size": 0}, 1024), ({"key_buffer_size": 5, "key_cache_block_size": 0}, 1024), ({"key_buffer_size": 5, "key_cache_block_size": 512}, 512),
        ({}, None), ({"key_cache_block_size": 512}, None), ({"key_buffer_size": "-1"}, None), ({"key_buffer_size": 5, "key_cache_block_size": "-1"}, None),
        ({"key_buffer_size": 5, "key_cache_block_size": None}, None),
    ],
)  # fmt: skip
def test_a_size_that_cannot_be_is_no_cache(variables: dict[str, str | int | float | None], block_size: int | None) -> None:
    found = default_cache(variables, {})
    assert (found and found.block_size_bytes) == block_size
    assert found is None or found.reads is found.segments is None


def rows(before: KeyCache | None, after: KeyCache) -> list[dict[str, object]]:
    (block,) = COLLECTOR.facts(Pair((after,), None if before is None else (before,), None if before is None else 4.0))
    return [dict(zip(block.columns, row, strict=True)) for row in block.rows]


def counted(read_requests: int | None, reads: int | None, write_requests: int | None = 0, writes: int | None = 0, name: str = "hot") -> KeyCache:
    return KeyCache(name, 12520, 1024, read_requests=read_requests, reads=reads, write_requests=write_requests, writes=writes)


def test_rates_are_of_the_cache_of_the_same_name() -> None:
    (row,) = rows(counted(100, 10, 20, 5), counted(180, 30, 60, 9))
    assert [row[f"{name}_per_second"] for name in ("read_requests", "reads", "write_requests", "writes")] == [20.0, 5.0, 10.0, 1.0]
    assert (row["miss_ratio"], row["usable_bytes"], row["reads"]) == (0.25, 10240, 30)
    for before in (None, counted(100, 10, name="other")):
        (row,) = rows(before, counted(180, 30))
        assert (row["reads_per_second"], row["miss_ratio"]) == (None, None)


@pytest.mark.parametrize(("before", "after", "ratio"), [((100, 10), (100, 10), None), ((100, 10), (104, 10), 0.0), ((100, None), (104, None), None), ((None, 10), (None, 12), None)])
def test_without_a_request_no_share_of_them_missed(before: tuple[int | None, int | None], after: tuple[int | None, int | None], ratio: float | None) -> None:
    (row,) = rows(counted(*before), counted(*after))
    assert row["miss_ratio"] == ratio


def test_that_counters_are_hidden_is_said_where_they_are() -> None:
    assert list(COLLECTOR.notes((counted(0, 0), counted(5, 0, name="b")))) == []
    (note,) = COLLECTOR.notes((counted(5, 0), counted(None, None, name="b")))
    assert (note.reason, note.off) == ("MySQL has no counters for named key caches", True)
