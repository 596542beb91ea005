"""Acquisitions of the key-cache lock and the time they took, in seconds."""

import pytest

from myisam_exporter.collectors.performance_schema import WAITS
from myisam_exporter.metrics.performance_schema import GROUP
from tests.support.recorded import RecordedLook


def test_picoseconds_become_seconds(look: RecordedLook) -> None:
    counted = {row[0]: row[1:] for row in look.told(WAITS)}["wait/synch/mutex/mysys/KEY_CACHE::cache_lock"]
    values = look.values(GROUP)
    assert values == {
        ("mutex_acquisitions_total", "key_cache_lock"): int(counted[0] or 0),
        ("mutex_wait_seconds_total", "key_cache_lock"): pytest.approx(int(counted[1] or 0) / 1e12),
    }
    assert values["mutex_acquisitions_total", "key_cache_lock"] > 1000
