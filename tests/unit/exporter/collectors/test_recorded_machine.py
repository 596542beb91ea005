"""Host, process, key caches, page cache and replica on the recorded machines: numbers that stand in their /proc and in their servers' answers."""

import pytest

from myisam_exporter.collectors.base import Collector, all_collectors
from myisam_exporter.collectors.key_caches import MARIADB_QUERY
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.residency import PAGE_BYTES
from tests.support.recorded import RecordedLook
from tools.record_machine import PROCESS
from tools.server_to_record import INIT_FILE


def counter(text: str, name: str) -> int:
    """The number behind a name at a line's start."""
    return int(next(line.split()[1] for line in text.splitlines() if line.split()[0].rstrip(":") == name))


def grown(look: RecordedLook, path: str, name: str) -> int:
    return counter(look.kernel(path, 1), name) - counter(look.kernel(path, 0), name)


def test_the_machine(look: RecordedLook) -> None:
    (row,) = look.rows("host", "host")
    assert row["memory_bytes"] == counter(look.kernel("proc/meminfo"), "MemTotal") * 1024
    assert row["memory_available_bytes"] == counter(look.kernel("proc/meminfo"), "MemAvailable") * 1024
    assert row["context_switches_per_second"] * look.seconds == pytest.approx(grown(look, "proc/stat", "ctxt"))
    assert row["major_faults_per_second"] * look.seconds == pytest.approx(grown(look, "proc/vmstat", "pgmajfault"))
    assert row["processes_running"] == counter(look.kernel("proc/stat"), "procs_running")
    assert row["cpu_count"] == look.machine.moment["cpu_count"]
    assert 0 < row["cpu_user_ratio"] + row["cpu_system_ratio"] <= 1
    assert row["kernel"] == look.machine.moment["kernel"]


def test_the_disk_below_the_data_directory(look: RecordedLook) -> None:
    (row,) = look.rows("host", "host")
    before, after = (next(line.split() for line in look.kernel("proc/diskstats", part).splitlines() if line.split()[2] == look.machine.moment["disk"]) for part in (0, 1))
    assert row["disk_reads_per_second"] * look.seconds == pytest.approx(int(after[3]) - int(before[3]))
    assert row["disk_read_bytes_per_second"] * look.seconds == pytest.approx((int(after[5]) - int(before[5])) * 512)


def test_the_process(look: RecordedLook) -> None:
    (row,) = look.rows("mysqld_process", "mysqld")
    own = f"proc/{PROCESS}"
    assert row["pid"] == PROCESS
    assert row["threads"] == counter(look.kernel(f"{own}/status"), "Threads")
    assert row["resident_bytes"] == counter(look.kernel(f"{own}/status"), "VmRSS") * 1024
    assert row["open_files"] == look.machine.moment["open_files"]
    assert row["read_syscalls_per_second"] * look.seconds == pytest.approx(grown(look, f"{own}/io", "syscr"))
    assert row["voluntary_switches_per_second"] > 100
    assert row["cpu_user_ratio"] > 0


def test_the_hit_ratio_is_told_where_it_can_be(on_mariadb: RecordedLook, on_mysql: RecordedLook) -> None:
    (mariadb,), (mysql,) = on_mariadb.rows("mysqld_process", "mysqld"), on_mysql.rows("mysqld_process", "mysqld")
    assert mariadb["page_cache_hit_ratio"] == 1.0
    assert mysql["page_cache_hit_ratio"] is None
    assert mysql["page_cache_method"] == "no ratio: InnoDB read a large share of the bytes"
    assert (mariadb["malloc"], mysql["malloc"]) == ("glibc", "tcmalloc")


def test_mariadb_tells_of_every_key_cache(on_mariadb: RecordedLook) -> None:
    rows = {row["name"]: row for row in on_mariadb.rows("key_caches", "key_cache")}
    before = {row[0]: int(row[7] or 0) for row in on_mariadb.told(MARIADB_QUERY, 0)}
    after = {row[0]: int(row[7] or 0) for row in on_mariadb.told(MARIADB_QUERY, 1)}
    assert {name: row["size_bytes"] for name, row in rows.items()} == {"default": 8 << 20, "hot": 1 << 20}
    for name, row in rows.items():
        assert row["read_requests_per_second"] * on_mariadb.seconds == pytest.approx(after[name] - before[name])


def test_mysql_tells_of_a_named_cache_its_size_alone(on_mysql: RecordedLook) -> None:
    assert b"IN hot" in INIT_FILE
    rows = {row["name"]: row for row in on_mysql.rows("key_caches", "key_cache")}
    assert {name: row["size_bytes"] for name, row in rows.items()} == {"default": 8 << 20, "hot": 1 << 20}
    assert rows["hot"]["read_requests"] is None
    assert rows["default"]["read_requests"] == on_mysql.number_told("SHOW GLOBAL STATUS", "Key_read_requests")


def test_the_page_cache_holds_what_was_just_written(look: RecordedLook) -> None:
    rows = look.rows("page_cache", "tables")
    pages = look.machine.moment["pages"]
    assert sum(row["data_resident_bytes"] for row in rows) == PAGE_BYTES * sum(one[0] for name, one in pages.items() if name.endswith(".MYD"))
    orders = next(row for row in rows if row["table_name"] == "orders")
    assert orders["index_resident_bytes"] == PAGE_BYTES * pages["shop/orders.MYI"][0]
    assert {row["data_evicted_bytes"] for row in rows} == {0}


def test_no_server_is_a_replica(look: RecordedLook) -> None:
    assert look.rows("replica", "replica") == []
    assert "replica" not in look.facts.unknown


@pytest.mark.parametrize("unit", all_collectors(), ids=lambda unit: unit.name)
def test_a_collector_fills_no_column_that_it_does_not_declare(look: RecordedLook, unit: Collector[object]) -> None:
    if isinstance(look.sample(unit.name), Unknown):
        return
    declared = {table: {column.name for column in columns} for table, columns in unit.sections.items()}
    filled = {(block.table, column) for block in unit.facts(look.pair(unit.name)) for column in block.columns}
    assert {(table, column) for table, column in filled if column not in declared.get(table, ())} == set()
