"""Key caches: sizes in bytes, counters as the server has them."""

import pytest

from myisam_exporter.metrics.key_caches import COUNTERS, GROUP
from tests.support.recorded import RecordedLook

STATUS = {"read_requests": "Key_read_requests", "reads": "Key_reads", "write_requests": "Key_write_requests", "writes": "Key_writes"}


def test_sizes_are_bytes(look: RecordedLook) -> None:
    values = look.values(GROUP)
    assert values["key_cache_size_bytes", "default"] == 8 << 20
    assert values["key_cache_size_bytes", "hot"] == 1 << 20
    # A block of 1,024 bytes takes 228 more.
    assert values["key_cache_usable_bytes", "hot"] == (1 << 20) // 1252 * 1024
    status = {name: look.number_told("SHOW GLOBAL STATUS", name) for name in ("Key_blocks_used", "Key_blocks_unused", "Key_blocks_not_flushed")}
    assert values["key_cache_most_used_bytes", "default"] == status["Key_blocks_used"] * 1024
    assert values["key_cache_dirty_bytes", "default"] == status["Key_blocks_not_flushed"] * 1024


@pytest.mark.parametrize("name", COUNTERS)
def test_counters_are_the_servers(on_mysql: RecordedLook, name: str) -> None:
    assert on_mysql.values(GROUP)[f"key_cache_{name}_total", "default"] == on_mysql.number_told("SHOW GLOBAL STATUS", STATUS[name])


def test_what_mysql_hides_of_a_named_cache_is_left_out(on_mysql: RecordedLook, on_mariadb: RecordedLook) -> None:
    assert ("key_cache_reads_total", "hot") not in on_mysql.values(GROUP)
    assert ("key_cache_segments", "default") not in on_mysql.values(GROUP)
    assert on_mariadb.values(GROUP)["key_cache_write_requests_total", "hot"] > 0
    assert on_mariadb.values(GROUP)["key_cache_segments", "default"] == 0
