"""Precise page-cache counts of real tables, by the kernel's tracepoints."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.kernel.tracepoints import PageCacheTracer
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.watch import Watch
from tests.support.daemon import serving, wait_for
from tests.support.listener import Listener
from tests.support.tracefs import tracepoints_below

from .conftest import schema, target


def test_precise_counts_of_a_real_tables_reads(mariadb: PrivateServer) -> None:
    with schema(mariadb, "traced") as name:
        mariadb.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, c CHAR(200) NOT NULL) ENGINE=MyISAM", database=name)
        mariadb.execute("INSERT INTO t VALUES " + ", ".join(f"({row}, 'x')" for row in range(20_000)), "FLUSH TABLES", database=name)
        with serving("--socket", mariadb.socket, "--user", "root", "--collect.page-cache.precise") as daemon:
            if daemon.looked().value("exporter_collector_success", collector="page_cache_lookups") == 0:
                pytest.skip("no tracepoints here: the daemon's log says why")
            labels = {"schema": name, "table": "t", "file": "data"}
            assert wait_for(lambda: daemon.get().value("table_page_cache_lookups_total", **labels) is not None)
            before = daemon.get().value("table_page_cache_lookups_total", **labels) or 0
            with mariadb.session(name) as connection:
                cursor = connection.cursor()
                deadline = time.monotonic() + 3
                while time.monotonic() < deadline:
                    cursor.execute("SELECT c FROM t WHERE id = 77")
                    cursor.fetchall()
                    time.sleep(0.005)
            assert wait_for(lambda: (daemon.get().value("table_page_cache_lookups_total", **labels) or 0) > before + 50)
            after = daemon.get()
            assert (after.value("table_page_cache_insertions_total", **labels) or 0) <= 60
            assert after.value("exporter_tracing_cpu_seconds_total") is not None


def test_precise_counts_follow_the_tables_that_come_later(mariadb: PrivateServer, tmp_path: Path) -> None:
    """The kernel takes one filter for each event: it has to be another one when a table comes."""
    with tracepoints_below(tmp_path), schema(mariadb, "traced_later") as name, ThreadPoolExecutor(4) as pool:
        tracer, listener = PageCacheTracer(1.0), Listener()
        watching = Watch("here", lambda: target(mariadb), pool, WatchOptions(tracer=tracer), TableChooser(), [listener])
        try:
            for table in ("early", "late"):
                mariadb.execute(f"CREATE TABLE {table} (c CHAR(200) NOT NULL) ENGINE=MyISAM", f"INSERT INTO {table} VALUES {', '.join(['(1)'] * 2000)}", "FLUSH TABLES", database=name)
                watching.look()
                time.sleep(1)  # the next window counts it
                for _ in range(20):
                    mariadb.execute(f"SELECT COUNT(*) FROM {table} WHERE c = 'x'", database=name)
                    time.sleep(0.02)
                time.sleep(1)
                watching.look()
                rows = {row["table_name"]: row for row in listener.facts.tables["tables"].dictionaries() if row["schema_name"] == name}
                rate = rows[table]["data_lookups_per_second"]
                assert isinstance(rate, float)
                assert rate > 50
            watching.count_no_more()
            assert tracer.counts().lookups == {}
        finally:
            watching.close()
            tracer.close()
