"""The server's own control group. The machine's pressure is node_exporter's; that of one group is nobody's."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.cgroup import CGROUP, ControlGroup
from myisam_exporter.metrics.base import Group, Metric, Scene, Value


class CgroupMetrics(Group[ControlGroup]):
    """The memory of mysqld's control group, where it has one of its own."""

    samples = (CGROUP,)
    metrics = (
        Metric(
            "mysqld_cgroup_page_cache_bytes", "gauge", "Page cache charged to the server's own control group: file."
        ),
        Metric("mysqld_cgroup_memory_limit_bytes", "gauge", "What its memory may grow to."),
        Metric(
            "mysqld_cgroup_file_refaults_total",
            "counter",
            "Pages of files that the group read again after reclaim had dropped them: workingset_refault_file.",
        ),
        Metric(
            "mysqld_cgroup_pressure_seconds_total",
            "counter",
            "Time in which some, or all (full), of its tasks waited for memory or the disk: memory.pressure, io.pressure.",
            ("resource", "kind"),
        ),
    )

    def values(self, pair: Pair[ControlGroup], scene: Scene) -> Iterable[Value]:
        """From the group's files."""
        group = pair.after
        yield Value("mysqld_cgroup_page_cache_bytes", group.file_bytes)
        yield Value("mysqld_cgroup_memory_limit_bytes", group.limit_bytes)
        yield Value("mysqld_cgroup_file_refaults_total", group.file_refaults)
        for labels, seconds in group.pressure_seconds.items():
            yield Value("mysqld_cgroup_pressure_seconds_total", seconds, labels)


GROUP = CgroupMetrics()
