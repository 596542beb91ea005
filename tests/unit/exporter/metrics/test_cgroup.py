"""The control group's numbers, where there is one."""

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.cgroup import ControlGroup
from myisam_exporter.metrics.base import Running, Scene, Value
from myisam_exporter.metrics.cgroup import GROUP

PRESSURE = {("memory", "some"): 2.5, ("memory", "full"): 1.0}


def test_what_the_group_tells() -> None:
    group = ControlGroup("/system.slice/mariadb.service", 35962880, 1234, 1 << 30, PRESSURE, None)
    assert list(GROUP.values(Pair(group), Scene({}, Running()))) == [
        Value("mysqld_cgroup_page_cache_bytes", 35962880),
        Value("mysqld_cgroup_memory_limit_bytes", 1 << 30),
        Value("mysqld_cgroup_file_refaults_total", 1234),
        Value("mysqld_cgroup_pressure_seconds_total", 2.5, ("memory", "some")),
        Value("mysqld_cgroup_pressure_seconds_total", 1.0, ("memory", "full")),
    ]


def test_no_limit_and_no_counter_are_no_zero() -> None:
    values = {value.name: value.number for value in GROUP.values(Pair(ControlGroup("/x", 1, None, None, {}, None)), Scene({}, Running()))}
    assert values == {"mysqld_cgroup_page_cache_bytes": 1, "mysqld_cgroup_memory_limit_bytes": None, "mysqld_cgroup_file_refaults_total": None}
