"""The processors that the server may use, which may be fewer than the machine has.

Source: /proc/PID/status, and the control groups of the server (kernel/usable_processors.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Collector, Context, Pair
from myisam_exporter.collectors.server import SERVER, location_of
from myisam_exporter.facts.columns import Block, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.usable_processors import usable_processors


class ProcessorsCollector(Collector[float]):
    """taskset, cpusets and quotas."""

    name = "processors"
    source = "/proc/PID/status, /sys/fs/cgroup"
    after = ("server",)
    states_only = True
    sections = {
        "mysqld": columns(
            (
                "usable_cpu_count",
                "real",
                "Processors that the server may use: those it is bound to (taskset, cpusets), or what the quotas of the control groups around it "
                "allow, where that is less; 1.5 is one and half the time of another.",
            ),
            source=source,
        )
    }

    def collect(self, context: Context) -> float | Unknown:
        """Of the verified process, as of now."""
        pid = location_of(context.sample(SERVER)).pid
        return pid if isinstance(pid, Unknown) else usable_processors(context.proc, context.sys, pid)

    def facts(self, pair: Pair[float]) -> Iterable[Block]:
        """Part of the row of mysqld."""
        return [single("mysqld", {"usable_cpu_count": pair.after})]


COLLECTOR = ProcessorsCollector()
