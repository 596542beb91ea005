"""/metrics and /probe on real servers: what they say is true, complete, and costs the server nothing."""

import contextlib
import gzip
import http.client
import json
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families

from demo.demo import make_crashed_table
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.web.access import RELOADS_APART_SECONDS
from tests.support.daemon import Daemon, peer, serving, wait_for
from tests.support.repository import ROOT
from tests.support.servers import status_number

from .conftest import on_every_server, on_four_servers, on_one_server, schema

pytestmark = on_one_server

DOCUMENTED = set(re.findall(r"^\| `(myisam_\w+)`", (ROOT / "docs" / "reference" / "metrics.md").read_text("utf-8"), re.MULTILINE))
HOSTILE_NAMES = ['quo"te', "back\\slash", "new\nline", "tab\t", "emoji😀", "a/b", "{}=,", "x" * 64, "ünï", "'; DROP TABLE x; --"]


@pytest.fixture(scope="module")
def daemon(server: PrivateServer) -> Iterator[Daemon]:
    with serving("--socket", server.socket, "--user", "root") as running:
        yield running


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def test_promtool_finds_no_fault_and_every_metric_is_documented(server: PrivateServer, daemon: Daemon) -> None:
    with schema(server, "shop") as name:
        server.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO t VALUES (1)", database=name)
        daemon.looked()
        page = daemon.get()
    done = subprocess.run([peer("promtool"), "check", "metrics"], input=page.text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    names = {name for name, _ in page.samples()}
    assert {name for name in names if name.startswith("myisam_")} <= DOCUMENTED
    assert not {name for name in names if not name.startswith(("myisam_", "process_"))}
    for name in names:
        assert f"# HELP {name} " in page.text


@on_every_server
def test_what_it_says_is_what_the_server_says(server: PrivateServer, daemon: Daemon) -> None:
    with schema(server, "counted") as name:
        server.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, k CHAR(40) NOT NULL, KEY (k)) ENGINE=MyISAM", database=name)
        server.execute(*(f"INSERT INTO t VALUES ({row}, 'row {row}')" for row in range(200)), "FLUSH TABLES", "SELECT * FROM t WHERE k = 'row 7'", database=name)
        assert wait_for(lambda: daemon.get().value("table_rows", schema="counted", table="t") == 200)
        page = daemon.get()
        assert page.value("up") == 1
        assert page.value("key_cache_read_requests_total", cache="default") == status_number(server, "Key_read_requests")
        assert page.value("key_cache_reads_total", cache="default") == status_number(server, "Key_reads")
        assert page.value("key_cache_size_bytes", cache="default") == 256 << 20
        assert page.value("slow_queries_total") == status_number(server, "Slow_queries")
        index = server.data_directory / "counted" / "t.MYI"
        assert page.value("table_index_bytes", schema="counted", table="t") == index.stat().st_size
        assert page.value("table_crashed", schema="counted", table="t") == 0
        assert page.value("table_page_cache_resident_bytes", schema="counted", table="t", file="data") is not None
        assert 0 < (page.value("mysqld_minor_faults_total") or 0) <= int(Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()[7])
        with server.session(name) as connection:
            cursor = connection.cursor()
            cursor.execute("INSERT INTO t VALUES (999, 'opens its handle')")
            assert wait_for(lambda: daemon.get().value("table_rows", schema="counted", table="t") == 201)
            before = daemon.get().value("table_write_statements_total", schema="counted", table="t") or 0
            for row in range(1000, 1050):
                cursor.execute(f"INSERT INTO t VALUES ({row}, 'again')")
            wait_for(lambda: daemon.get().value("table_rows", schema="counted", table="t") == 251)
            assert (daemon.get().value("table_write_statements_total", schema="counted", table="t") or 0) - before == pytest.approx(50)


def test_named_caches_of_mariadb_have_series_of_their_own(mariadb: PrivateServer) -> None:
    mariadb.execute("SET GLOBAL hot.key_buffer_size = 1048576")
    try:
        with serving("--socket", mariadb.socket, "--user", "root") as daemon:
            page = daemon.get()
            assert page.value("key_cache_size_bytes", cache="hot") == 1048576
            assert page.value("key_cache_read_requests_total", cache="hot") == 0
    finally:
        mariadb.execute("SET GLOBAL hot.key_buffer_size = 0")


def test_tables_beyond_the_limit_are_summed_and_crashed_ones_always_shown(mariadb: PrivateServer) -> None:
    with schema(mariadb, "many") as name:
        for table in range(12):
            rows = ", ".join(f"({row})" for row in range(table * 10 + 1))
            mariadb.execute(f"CREATE TABLE t{table} (id INT NOT NULL) ENGINE=MyISAM", f"INSERT INTO t{table} VALUES {rows}", database=name)
        make_crashed_table(mariadb, name, "broken")
        with serving("--socket", mariadb.socket, "--user", "root", "--collect.tables.limit", 3) as daemon:
            page = daemon.looked()
            shown = {dict(labels)["table"]: value for (metric, labels), value in page.samples().items() if metric == "myisam_table_data_bytes"}
            assert len(shown) == 3
            assert page.value("table_crashed", schema=name, table="broken") == 1
            assert page.value("tables_crashed") == 1
            assert page.value("tables_omitted") == 13 - 3
            on_disk = sum(path.stat().st_size for path in mariadb.data_directory.glob("*/*.MYD") if path.parent.name not in ("mysql", "sys"))
            assert sum(shown.values()) + (page.value("omitted_tables_data_bytes") or 0) == on_disk
        with serving("--socket", mariadb.socket, "--user", "root", "--collect.tables.include", r"many\.t1.*", "--collect.tables.exclude", r".*\.t11") as daemon:
            samples = daemon.looked().samples()
            assert {dict(labels)["table"] for (metric, labels) in samples if metric == "myisam_table_rows"} == {"t1", "t10"}


def test_hostile_names_are_labels_like_others(server: PrivateServer, daemon: Daemon) -> None:
    with schema(server, "sch\"ema\\ '{}") as name:
        for table in HOSTILE_NAMES:
            # Supplementary characters become question marks on some servers, and line breaks are refused by some.
            with contextlib.suppress(Exception):
                server.execute(f"CREATE TABLE {quoted(table)} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", database=name)
        made = {str(table) for (table,) in server.execute("SHOW TABLES", database=name)}
        assert len(made) >= len(HOSTILE_NAMES) - 3
        assert wait_for(lambda: (daemon.get().value("tables") or 0) >= len(made))
        samples = daemon.get().samples()
        assert {dict(labels)["table"] for metric, labels in samples if metric == "myisam_table_rows" and dict(labels)["schema"] == name} == made


@on_four_servers
def test_scrapes_open_no_table_and_use_one_connection(server: PrivateServer, daemon: Daemon) -> None:
    with schema(server, "unopened") as name, server.session() as connection:
        for table in range(20):
            server.execute(f"CREATE TABLE t{table} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", database=name)
        server.execute("FLUSH TABLES")
        assert wait_for(lambda: daemon.get().value("tables") == 20)
        cursor = connection.cursor()

        def counters() -> dict[str, int]:
            cursor.execute("SHOW GLOBAL STATUS WHERE Variable_name IN ('Opened_tables', 'Open_tables', 'Connections')")
            return {str(name): int(value) for name, value in cursor.fetchall()}

        def scrapes_change_nothing() -> bool:
            before = counters()
            for _ in range(20):
                assert daemon.get().value("tables") == 20
            return counters() == before

        # The server itself opens a table now and then. A scrape that does would do so each time.
        assert wait_for(scrapes_change_nothing)


def test_collect_and_name_restrict_the_page(daemon: Daemon) -> None:
    daemon.looked()
    names = {name for name, _ in daemon.get("/metrics?collect[]=key_caches").samples()}
    assert "myisam_key_cache_size_bytes" in names
    assert not {name for name in names if name.startswith(("myisam_mysqld", "myisam_table", "myisam_advice"))}
    assert {name for name, _ in daemon.get("/metrics?name[]=myisam_up&name[]=myisam_tables").samples()} == {"myisam_up", "myisam_tables"}
    refused = daemon.get("/metrics?collect[]=key_caches&collect[]=nonsense")
    assert refused.status == 400
    assert "key_caches" in refused.text
    assert daemon.get("/metrics?collect[]=").status == 400


def test_gzip_is_one_stream_of_the_same_page(daemon: Daemon) -> None:
    daemon.looked()
    path = "/metrics?name[]=myisam_key_cache_size_bytes&name[]=myisam_settings_info"
    packed = daemon.get(path, {"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == daemon.get(path).body
    assert "content-encoding" not in daemon.get(path, {"Accept-Encoding": "gzip;q=0"}).headers


def test_health_reload_and_unknown_paths(daemon: Daemon) -> None:
    assert daemon.get("/-/healthy").status == 200
    assert daemon.get("/-/ready").status == 200
    assert daemon.get("/-/reload").status == 405
    assert daemon.get("/-/reload", method="POST").status == 403
    assert daemon.get("/anything").status == 404
    assert daemon.get("/metrics", method="DELETE").status == 405
    head = daemon.get("/metrics", method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert "/metrics" in daemon.get("/").text
    assert "A table is crashed" in daemon.get("/rules/table-crashed").text


def test_answers_over_a_kept_connection_do_not_wait_for_acknowledgements(daemon: Daemon) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=20)
    seconds = []
    for _ in range(30):
        started = time.monotonic()
        connection.request("GET", "/-/healthy")
        assert connection.getresponse().read() == b"OK\n"
        seconds.append(time.monotonic() - started)
    connection.close()
    assert min(seconds[5:]) < 0.03  # a delayed acknowledgement takes 0.04


def test_every_runbook_link_leads_to_a_page(daemon: Daemon) -> None:
    text = (ROOT / "rules" / "prometheus" / "alerts.yaml").read_text("utf-8")
    pages = set(re.findall(r"/rules/([a-z-]+)\{\{ .Labels.query", text))
    assert len(pages) >= 6
    assert text.count("/rules/") == 2 * text.count("myisam_exporter_web_info{job=%q, instance=%q}")  # there, and where an older daemon has none
    assert {page for page in pages if daemon.get(f"/rules/{page}").status != 200} == set()


def test_fifty_scrapes_at_once_are_one_reading(mariadb: PrivateServer) -> None:
    with serving("--socket", mariadb.socket, "--user", "root", "--collect.interval", "60s") as daemon:
        daemon.get()
        before = status_number(mariadb, "Connections")
        barrier = threading.Barrier(50)

        def scrape(_: int) -> int:
            barrier.wait()
            return daemon.get().status

        with ThreadPoolExecutor(50) as pool:
            statuses = list(pool.map(scrape, range(50)))
        assert set(statuses) <= {200, 503}
        assert statuses.count(200) >= 40
        assert status_number(mariadb, "Connections") - before == 1  # this question
        assert daemon.get().value("up") == 1


def test_no_spelling_of_an_address_makes_the_daemon_connect(mariadb: PrivateServer, tmp_path: Path) -> None:
    targets = tmp_path / "targets.yaml"
    targets.write_text(f"targets:\n  forum: {{socket: {mariadb.socket}}}\n")
    with socket.create_server(("127.0.0.1", 0)) as listener, serving("--no-own-server", "--config.targets", targets, "--user", "root") as daemon:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        addresses = [f"{host}:{port}" for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "root@127.0.0.1", "//127.0.0.1", "mysql://127.0.0.1", "forum@127.0.0.1")]
        addresses += [f"127.0.0.1:{port}#forum", f"forum\n127.0.0.1:{port}", f"forum,127.0.0.1:{port}", f"forum\0127.0.0.1:{port}", "FORUM", "forum ", " forum", f"unix:{mariadb.socket}/../{mariadb.socket.name}", f"unix:/proc/self/root{mariadb.socket}"]
        for address in addresses:
            assert daemon.get(f"/probe?target={quote(address, safe='')}").status == 400, address
        # What it does not know is not listened to.
        assert daemon.get(f"/probe?target=forum&host=127.0.0.1&port={port}&socket=/x").value("up") == 1
        for query in (f"target=forum&target=127.0.0.1:{port}", f"target=forum;127.0.0.1:{port}", f"target=forum%00&socket=x:{port}"):
            assert daemon.get(f"/probe?{query}").status == 400, query
        for headers in ({"Host": f"127.0.0.1:{port}"}, {"X-Forwarded-Host": f"127.0.0.1:{port}"}):
            assert daemon.get("/probe?target=forum", headers=headers).value("up") == 1
        # Whoever takes us for a proxy is answered by us, and by names of ours alone.
        assert daemon.get(f"http://127.0.0.1:{port}/probe?target=forum").value("up") == 1
        assert daemon.get(f"http://elsewhere:{port}/probe?target=forum").status == 421
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_probe_reaches_listed_servers_and_no_other(flavour: PrivateServer, mariadb: PrivateServer, tmp_path: Path) -> None:
    flavour.execute("CREATE USER 'probe'@'localhost' IDENTIFIED BY 'se?c&r%e#t$;@'", "GRANT PROCESS ON *.* TO 'probe'@'localhost'")
    try:
        options = tmp_path / "my.cnf"
        options.write_text('[client]\nuser=root\n[client.shop]\nuser=probe\npassword="se?c&r%e#t$;@"\n[mysqld]\nuser=root\n')
        targets = tmp_path / "targets.yaml"
        targets.write_text(f"targets:\n  shop: {{socket: {flavour.socket}, auth_module: client.shop}}\n  forum: {{socket: {mariadb.socket}}}\n")
        with serving("--no-own-server", "--config.targets", targets, "--defaults-file", options, "--web.enable-lifecycle") as daemon:
            page = daemon.get("/probe?target=shop")
            assert page.value("up") == 1
            assert not [name for name, _ in page.samples() if name.startswith("process_")]
            assert daemon.get("/probe?target=forum").value("up") == 1
            assert daemon.get(f"/probe?target=unix:{mariadb.socket}&auth_module=client").value("up") == 1
            assert daemon.get("/probe?target=shop&auth_module=client.shop&collect[]=key_caches").value("up") == 1
            for query in ("", "target=127.0.0.1:3306", "target=nobody", "target=shop&auth_module=mysqld", "target=shop&auth_module=client.x", "target=shop&target=forum"):
                assert daemon.get(f"/probe?{query}").status == 400, query
            assert daemon.get("/metrics?target=shop").status == 400
            assert daemon.get("/metrics").value("exporter_targets") == 2
            assert wait_for(lambda: daemon.get("/probe?target=shop").value("advice_interval_seconds") is not None)
            # A reload takes away what is no longer listed; a broken list changes nothing.
            targets.write_text("targets: [broken")
            assert daemon.get("/-/reload", method="POST").status == 500
            assert daemon.get("/metrics").value("exporter_config_last_reload_successful") == 0
            assert daemon.get("/probe?target=shop").status == 200
            targets.write_text(f"targets:\n  forum: {{socket: {mariadb.socket}}}\n")
            time.sleep(RELOADS_APART_SECONDS)
            assert daemon.get("/-/reload", method="POST").status == 200
            assert daemon.get("/probe?target=shop").status == 400
            assert daemon.get("/probe?target=forum").value("up") == 1
            daemon.stop()
            assert b"se?c" not in daemon.log
    finally:
        flavour.execute("DROP USER 'probe'@'localhost'")


def test_open_metrics_are_negotiated_and_hold_the_same(daemon: Daemon) -> None:
    daemon.looked()
    text, answer = daemon.get(), daemon.get(headers={"Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"})
    assert text.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert answer.headers["vary"] == "Accept, Accept-Encoding"
    assert answer.text.endswith("# EOF\n")
    families = list(open_metrics_families(answer.text))  # type: ignore[no-untyped-call]
    assert {sample.name for family in families for sample in family.samples} >= {name for name, _ in text.samples()}


@pytest.mark.parametrize("form", ["json", "logfmt"])
def test_every_line_of_the_log_is_in_the_form_that_was_asked_for(mariadb: PrivateServer, form: str) -> None:
    with serving("--socket", mariadb.socket, "--user", "root", "--log.format", form, "--log.level", "debug") as running:
        running.looked()
        running.stop()
    lines = running.log.decode().splitlines()
    assert lines
    for line in lines:
        if form == "json":
            assert list(json.loads(line)) == ["time", "level", "source", "msg"]
        else:
            assert re.fullmatch(r'time=\S+ level=[A-Z]+ source=\S+ msg="(?:[^"\\]|\\.)*"', line), line
