"""How many segments are advised for a key cache."""

import pytest

from myisam_advisor.remedies.key_caches import recommended_segments

KIB, MIB = 1 << 10, 1 << 20


@pytest.mark.parametrize(("cores", "segments"), [(None, 16), (1, 16), (8, 16), (9, 32), (16, 32), (17, 64), (32, 64), (33, 64), (256, 64)])
def test_they_are_twice_the_cores_as_a_power_of_two(cores: int | None, segments: int) -> None:
    assert recommended_segments(cores) == segments


@pytest.mark.parametrize(("size_bytes", "segments"), [(1, 1), (64 * KIB, 1), (128 * KIB, 2), (MIB - 1, 8), (MIB, 16), (4 * MIB, 64), (1024 * MIB, 64)])
def test_a_small_key_cache_has_fewer(size_bytes: int, segments: int) -> None:
    assert recommended_segments(64, size_bytes) == segments


def test_each_has_room_for_eight_blocks_with_what_the_server_keeps_of_them() -> None:
    assert recommended_segments(64, 8 * MIB) == recommended_segments(64, 8 * MIB, KIB) == 64
    assert recommended_segments(64, 8 * MIB, 64 * KIB) == 8
