"""Key caches that a server's init_file names."""

import time

import pytest

from myisam_exporter.collectors.key_caches import cache_names


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
