"""The process's counters; those that we keep ourselves grow by what two readings show."""

from dataclasses import replace

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.mysqld_process import GROUP
from tests.support.recorded import RecordedLook
from tools.record_machine import PROCESS

OWN = f"proc/{PROCESS}"


def io(look: RecordedLook, name: str, snapshot: int = 1) -> int:
    return int(dict(line.split(": ") for line in look.kernel(f"{OWN}/io", snapshot).splitlines())[name])


def test_counters_of_the_kernel_are_passed_on(look: RecordedLook) -> None:
    values = look.values(GROUP)
    fields = look.kernel(f"{OWN}/stat").rpartition(")")[2].split()
    assert values["mysqld_threads",] == int(fields[17])
    assert values["mysqld_minor_faults_total",] == int(fields[7])
    assert values["mysqld_cpu_seconds_total", "user"] == int(fields[11]) / 100
    assert values["mysqld_read_calls_total",] == io(look, "syscr")
    assert values["mysqld_read_bytes_total",] == io(look, "rchar")
    assert values["mysqld_storage_read_bytes_total",] == io(look, "read_bytes")
    assert values["mysqld_open_files",] == look.machine.moment["open_files"]


def test_what_can_be_counted_of_the_page_cache_is(on_mariadb: RecordedLook, on_mysql: RecordedLook) -> None:
    mariadb, mysql = on_mariadb.values(GROUP), on_mysql.values(GROUP)
    assert mariadb["mysqld_page_cache_countable",] == 1
    assert mariadb["mysqld_page_cache_accesses_total",] == pytest.approx(io(on_mariadb, "syscr") - io(on_mariadb, "syscr", 0))
    assert mariadb["mysqld_page_cache_misses_total",] == 0
    # InnoDB read a large share: what is MyISAM's cannot be told apart, and 0 would be a lie.
    assert mysql["mysqld_page_cache_countable",] == 0
    assert ("mysqld_page_cache_accesses_total",) not in mysql


def test_what_was_fetched_ahead_makes_no_more_misses_than_accesses(on_mariadb: RecordedLook) -> None:
    pair = on_mariadb.pair("mysqld_process")
    assert pair.before is not None
    fetched = replace(pair.after.io, storage_bytes=pair.before.io.storage_bytes + (1 << 30))
    ahead = replace(pair, after=replace(pair.after, io=fetched))
    values = {value.name: value.number or 0.0 for value in GROUP.values(ahead, Scene({}, Running()))}
    assert values["mysqld_page_cache_misses_total"] == values["mysqld_page_cache_accesses_total"] > 0


def test_switches_grow_look_after_look(look: RecordedLook) -> None:
    running = Running()
    first, second = look.values(GROUP, running), look.values(GROUP, running)
    growth = first["mysqld_context_switches_total", "voluntary"]
    assert growth > 100
    assert second["mysqld_context_switches_total", "voluntary"] == pytest.approx(2 * growth)


def test_one_reading_has_no_growth(look: RecordedLook) -> None:
    values = {(value.name, *value.labels): value.number for value in GROUP.values(Pair(look.sample("mysqld_process")), Scene({}, Running()))}
    assert values["mysqld_context_switches_total", "voluntary"] == 0.0
    assert ("mysqld_page_cache_countable",) not in values
