"""Counters of /proc/vmstat: the names that this kernel has."""

from dataclasses import replace

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.metrics.base import Running, Scene, Value
from myisam_exporter.metrics.host import GROUP
from tests.support.recorded import RecordedLook


def test_the_counters_are_those_of_vmstat(look: RecordedLook) -> None:
    vmstat = dict(line.split() for line in look.kernel("proc/vmstat").splitlines())
    assert look.values(GROUP) == {
        ("host_file_refaults_total",): int(vmstat["workingset_refault_file"]),
        ("host_file_early_refaults_total",): int(vmstat["workingset_activate_file"]),
        ("host_reclaim_scanned_pages_total",): int(vmstat["pgscan_file"]),
        ("host_reclaim_evicted_pages_total",): int(vmstat["pgsteal_file"]),
    }


@pytest.mark.parametrize(("vmstat", "refaults", "early"), [({"workingset_refault": 7, "workingset_activate": 3}, 7, 3), ({}, None, None)])
def test_older_names_and_none_at_all(look: RecordedLook, vmstat: dict[str, int], refaults: int | None, early: int | None) -> None:
    values = list(GROUP.values(Pair(replace(look.sample("host"), vmstat=vmstat)), Scene({}, Running())))
    assert values == [
        Value("host_file_refaults_total", refaults), Value("host_file_early_refaults_total", early),
        Value("host_reclaim_scanned_pages_total", None), Value("host_reclaim_evicted_pages_total", None),
    ]  # fmt: skip
