"""Of the machine, only what says whether the page cache is short of memory and node_exporter leaves out by default."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.host import HOST, HostSample
from myisam_exporter.metrics.base import Group, Metric, Scene, Value

# metric, counters of /proc/vmstat (the first that this kernel has), what it is
VMSTAT = (
    (
        "host_file_refaults_total",
        ("workingset_refault_file", "workingset_refault"),
        "Pages of files read again after reclaim had dropped them",
    ),
    (
        "host_file_early_refaults_total",
        ("workingset_activate_file", "workingset_activate"),
        "Those of them that came back before as much again was dropped as memory holds, and not those of a scan of more than that",
    ),
    ("host_reclaim_scanned_pages_total", ("pgscan_file",), "Pages of files that reclaim looked at"),
    ("host_reclaim_evicted_pages_total", ("pgsteal_file",), "Pages of files that reclaim dropped"),
)


class HostMetrics(Group[HostSample]):
    """/proc/vmstat."""

    samples = (HOST,)
    metrics = tuple(
        Metric(name, "counter", f"{text}: {counters[0]} of /proc/vmstat.") for name, counters, text in VMSTAT
    )

    def values(self, pair: Pair[HostSample], scene: Scene) -> Iterable[Value]:
        """Those that this kernel counts."""
        vmstat = pair.after.vmstat
        for name, counters, _ in VMSTAT:
            yield Value(name, next((vmstat[counter] for counter in counters if counter in vmstat), None))


GROUP = HostMetrics()
