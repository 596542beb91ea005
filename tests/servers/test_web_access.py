"""Who may ask for what: names that a browser was led here by, reloads, and what is told to somebody unknown."""

import http.client
import json
import os
import socket
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import bcrypt
import pytest

from demo.demo import make_crashed_table
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.web.access import RELOADS_APART_SECONDS
from tests.support.daemon import Daemon, free_port, serving, wait_for
from tests.support.program import run_process
from tests.support.servers import meanwhile, status_number

from .conftest import as_other_user, schema
from .test_unix_socket import UnixConnection, answers, ask
from .test_web_security import login, make_certificate, secure_status, socket_daemon

FOREIGN = ("evil.example", "evil.example:9942", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.1", "[2001:db8::1]:80", "localhost:80:90", "", "[", "x" * 5000)
PLACES = ("/", "/advice.json", "/metrics", "/munin.json", "/rules/", "/rules/table-crashed", "/tables", "/table?schema=pathless&table=broken")
PATHS = ("/", "/metrics", "/advice.json", "/munin.json", "/-/healthy", "/rules", "/rules/", "/rules/table-crashed", "/tables", "/table?schema=a&table=b", "/nowhere")


@pytest.fixture(scope="module")
def daemon(mariadb: PrivateServer):  # type: ignore[no-untyped-def]
    with serving("--socket", mariadb.socket, "--user", "root", "--web.allowed-host", "DB1.example.", "--web.allowed-host", "192.0.2.7") as running:
        yield running


def raw(daemon: Daemon, request: bytes) -> int:
    """The status that these very bytes are answered with."""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=10) as connection:
        connection.sendall(request)
        return int(connection.makefile("rb").readline().split()[1])


def reload(daemon: Daemon, headers: Mapping[str, str] | None = None) -> int:
    return daemon.get("/-/reload", headers, method="POST").status


def reload_after_a_pause(daemon: Daemon, headers: Mapping[str, str] | None = None) -> int:
    time.sleep(RELOADS_APART_SECONDS)
    return reload(daemon, headers)


@pytest.mark.parametrize("path", PATHS)
def test_a_name_that_a_browser_was_led_here_by_is_told_nothing(daemon: Daemon, path: str) -> None:
    for host in FOREIGN:
        answer = daemon.get(path, {"Host": host})
        assert answer.status == 421, host
        assert "--web.allowed-host" in answer.text
        assert len(answer.text) < 600
        assert "myisam_up" not in answer.text


def test_the_machines_own_names_and_those_allowed_are_answered_for(daemon: Daemon) -> None:
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.2:9942", "[::1]:9942", "db1.example:80", "Db1.Example.", "192.0.2.7:9942", os.uname().nodename):
        assert daemon.get("/metrics", {"Host": host}).status == 200, host
    # A browser always says which name it was led by: who says none is none.
    assert raw(daemon, b"GET /metrics HTTP/1.0\r\n\r\n") == 200
    assert raw(daemon, b"GET /metrics HTTP/1.1\r\n\r\n") == 400
    assert raw(daemon, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n") == 400


def test_the_whole_address_is_a_path_too_and_its_name_counts(daemon: Daemon) -> None:
    for target in ("http://localhost/-/healthy", f"HTTP://127.0.0.1:{daemon.port}/-/healthy", "https://db1.example/-/healthy?x", "http://localhost", "http://localhost?target="):
        for host in ("localhost", "evil.example"):
            status = raw(daemon, f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert status == (400 if target.endswith("target=") else 200), target
    # Nobody is answered for another name by giving ours beside it.
    for name in FOREIGN[:6]:
        assert raw(daemon, f"GET http://{name}/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()) == 421, name
        assert raw(daemon, f"GET http://{name}/metrics HTTP/1.0\r\n\r\n".encode()) == 421, name
    for target in ("http:///metrics", "http://me@localhost/metrics", "http://localhost:80:90/metrics"):
        assert raw(daemon, f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()) == 421, target
    assert raw(daemon, b"GET http://localhost//metrics HTTP/1.1\r\nHost: localhost\r\n\r\n") == 404
    assert raw(daemon, b"GET ftp://localhost/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n") == 404


def test_over_tls_the_certificate_has_the_name(mariadb: PrivateServer, tmp_path: Path) -> None:
    make_certificate(tmp_path, "db1")
    config = tmp_path / "web.yaml"
    config.write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n")
    with socket_daemon(mariadb, config) as running:
        assert secure_status(running, tmp_path / "cert.pem", {"Host": "db1.example"}) == 200


@pytest.mark.parametrize("name", ["http://x", "a b", "x:9942", "", "*", "-", "ü"])
def test_a_name_that_no_host_has_is_a_clear_error(name: str) -> None:
    done = run_process("serve", "--no-own-server", "--no-history", "--web.listen-address", f"127.0.0.1:{free_port()}", "--web.allowed-host", name)
    assert done.returncode == 2
    assert "--web.allowed-host" in done.stderr
    assert "Traceback" not in done.stderr


def test_nobody_reloads_without_a_login_unless_that_is_asked_for(mariadb: PrivateServer) -> None:
    words = ("--socket", mariadb.socket, "--user", "root")
    with serving(*words) as running:
        before = running.get().value("exporter_config_last_reload_success_timestamp_seconds")
        answer = running.get("/-/reload", method="POST")
        assert answer.status == 403
        assert "--web.enable-lifecycle" in answer.text
        assert running.get().value("exporter_config_last_reload_success_timestamp_seconds") == before
    with serving(*words, "--web.enable-lifecycle") as running:
        assert reload(running) == 200


def test_a_login_reloads(mariadb: PrivateServer, tmp_path: Path) -> None:
    config = tmp_path / "web.yaml"
    config.write_text(f"basic_auth_users: {{me: '{bcrypt.hashpw(b'secret', bcrypt.gensalt(4)).decode()}'}}\n")
    with socket_daemon(mariadb, config) as running:
        assert reload(running) == 401
        assert reload(running, login("me", "wrong")) == 401
        assert reload(running, login("me", "secret")) == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:1"}, {"Origin": "junk"}, {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "OWN", "Sec-Fetch-Site": "cross-site"},
    ],
)  # fmt: skip
def test_another_origins_page_reloads_nothing_and_its_links_work(mariadb: PrivateServer, headers: dict[str, str]) -> None:
    with serving("--socket", mariadb.socket, "--user", "root", "--web.enable-lifecycle") as running:
        headers = {name: f"http://127.0.0.1:{running.port}" if value == "OWN" else value for name, value in headers.items()}
        answer = running.get("/-/reload", headers, method="POST")
        assert answer.status == 403
        assert "another origin" in answer.text
        assert running.get("/", headers).status == 200
        own = {"Origin": f"http://127.0.0.1:{running.port}", "Sec-Fetch-Site": "same-origin"}
        assert reload(running, own) == 200


PARTS = (("no-cors", "script"), ("no-cors", "image"), ("no-cors", "style"), ("no-cors", "empty"), ("cors", "empty"), ("navigate", "iframe"), ("navigate", "object"), ("navigate", "embed"))


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_a_part_of_another_origins_page(daemon: Daemon, path: str) -> None:
    for site in ("cross-site", "same-site"):
        for mode, kind in PARTS:
            answer = daemon.get(path, {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": kind})
            assert answer.status == 403, (site, mode, kind)
            assert "may link here" in answer.text
        # Links are followed, and a browser of before it said what for is no other.
        followed = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
        assert daemon.get(path, {**followed, "Sec-Fetch-Dest": "document"}).status == daemon.get(path, followed).status == daemon.get(path).status
    # What is fetched before anybody wants to see it says that nobody else's page asks for it.
    for purpose in ("prefetch", "prefetch;prerender", "prefetch;anonymous-client-ip"):
        for site in ("none", "same-origin", "cross-site"):
            foreseen = {"Sec-Purpose": purpose, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
            assert daemon.get(path, foreseen).status == 403, (purpose, site)
    for mode, kind in PARTS:
        own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": kind}
        assert daemon.get(path, own).status == daemon.get(path).status


def test_every_answer_is_what_its_type_says_and_nobody_elses(mariadb: PrivateServer, tmp_path: Path) -> None:
    config = tmp_path / "web.yaml"
    config.write_text("http_server_config: {headers: {X-Content-Type-Options: nosniff, X-Frame-Options: SAMEORIGIN}}\n")
    with socket_daemon(mariadb, config) as running:
        for path in (*PATHS, "/probe"):
            for method in ("GET", "POST", "DELETE"):
                answer = running.get(path, method=method)
                assert answer.headers["x-content-type-options"] == "nosniff", path
                assert answer.headers["cross-origin-resource-policy"] == "same-origin", path
                assert answer.headers["cross-origin-opener-policy"] == "same-origin", path
                # What the site configures stands in our own's place, and not beside it.
                assert answer.headers["x-frame-options"] == "SAMEORIGIN", path
                assert running.get(path, {"Host": "evil.example"}, method).headers["cross-origin-resource-policy"] == "same-origin"


def test_root_reloads_over_the_unix_socket_and_its_group_does_not(mariadb: PrivateServer) -> None:
    # Not below pytest's folder: another user has no way into that.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder, "advisor.sock")
        with serving("--socket", mariadb.socket, "--user", "root", "--web.socket", path, "--web.enable-lifecycle"):
            assert wait_for(lambda: answers(path))
            path.chmod(0o777)
            with as_other_user():
                assert ask(path)[0] == 200
                assert ask(path, "/-/reload", "POST")[0] == 403
            assert ask(path, "/-/reload", "POST")[0] == 200


def test_reloads_are_rare_and_those_beyond_are_told_when(mariadb: PrivateServer) -> None:
    with serving("--socket", mariadb.socket, "--user", "root", "--web.enable-lifecycle") as running:
        assert reload(running) == 200
        answer = running.get("/-/reload", method="POST")
        assert answer.status == 429
        assert 1 <= int(answer.headers["retry-after"]) <= RELOADS_APART_SECONDS
        assert reload_after_a_pause(running) == 200


def test_reloads_disturb_no_scrape_and_make_no_connection(mariadb: PrivateServer, tmp_path: Path) -> None:
    options, targets = tmp_path / "my.cnf", tmp_path / "targets.yaml"
    options.write_text("[client]\nuser=root\n")
    targets.write_text(f"targets:\n  forum: {{socket: {mariadb.socket}}}\n  other: {{socket: {mariadb.socket}}}\n")
    with serving("--socket", mariadb.socket, "--defaults-file", options, "--config.targets", targets, "--collect.interval", "2s") as running:
        for path in ("/metrics", "/probe?target=forum", "/probe?target=other"):
            assert wait_for(lambda path=path: running.get(path).value("advice_interval_seconds") is not None)  # type: ignore[misc]

        def reloading(over: threading.Event) -> None:
            while not over.wait(0.05):
                running.process.send_signal(1)  # SIGHUP, which is not limited

        before = status_number(mariadb, "Connections")
        with meanwhile(reloading):
            ups = [running.get(path).value("up") for _ in range(30) for path in ("/metrics", "/probe?target=forum")]
        assert ups == [1.0] * 60
        assert status_number(mariadb, "Connections") - before == 1  # this question
        # What the background found is still there: the watch is the same.
        assert running.get("/probe?target=forum").value("advice_interval_seconds") is not None
        # One that changed begins anew; one that is gone is not probed.
        (tmp_path / "alias").symlink_to(mariadb.socket)
        targets.write_text(f"targets:\n  forum: {{socket: {tmp_path / 'alias'}}}\n")
        running.process.send_signal(1)
        assert wait_for(lambda: running.get("/probe?target=other").status == 400)
        assert running.get("/probe?target=forum").value("up") == 1
        assert status_number(mariadb, "Connections") - before == 3
        running.stop()
        assert b"Traceback" not in running.log


def test_a_rotated_password_is_used_after_a_reload(mariadb: PrivateServer, tmp_path: Path) -> None:
    mariadb.execute("CREATE USER 'rotated'@'localhost' IDENTIFIED BY 'first'", "CREATE USER 'second'@'localhost' IDENTIFIED BY 'second'")
    options = tmp_path / "my.cnf"
    options.write_text("[client]\nuser=rotated\npassword=first\n")
    try:
        with serving("--socket", mariadb.socket, "--defaults-file", options) as running:
            assert wait_for(lambda: running.get().value("up") == 1)
            options.write_text("[client]\nuser=second\npassword=second\n")
            running.process.send_signal(1)
            assert wait_for(lambda: mariadb.execute("SELECT DISTINCT USER FROM information_schema.PROCESSLIST WHERE USER IN ('rotated', 'second')") == [("second",)])
    finally:
        mariadb.execute("DROP USER 'rotated'@'localhost', 'second'@'localhost'")


def test_without_a_login_nobody_reads_a_path(mariadb: PrivateServer, tmp_path: Path) -> None:
    hashed = bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()
    config, unix = tmp_path / "web.yaml", tmp_path / "advisor.sock"
    config.write_text("{}\n")
    directory = str(mariadb.data_directory)
    with schema(mariadb, "pathless") as name:
        make_crashed_table(mariadb, name, "broken")
        with serving("--socket", mariadb.socket, "--user", "root", "--web.config.file", config, "--web.socket", unix) as running:
            assert wait_for(lambda: "broken" in running.get("/advice.json").text)
            assert wait_for(lambda: "broken" in running.get("/").text)
            pages = {path: running.get(path).text for path in PLACES}
            assert "broken" in pages["/table?schema=pathless&table=broken"]
            for path, text in pages.items():
                for part in (directory, directory.replace("/", "&#x2F;"), str(mariadb.socket), str(tmp_path)):
                    assert part not in text, path
            # Names of tables are told: docs/decisions/020.
            assert "broken" in pages["/metrics"]
            assert json.loads(pages["/advice.json"])["server"]["data_directory"] == "(a path)"
            # Whoever is known reads all.
            assert json.loads(ask(unix, "/advice.json")[1])["server"]["data_directory"].rstrip("/") == directory.rstrip("/")
            config.write_text(f"basic_auth_users: {{me: '{hashed}'}}\n")
            assert running.get("/advice.json").status == 401
            assert directory in running.get("/advice.json", login("me", "secret")).text


def test_why_a_reload_failed_is_told_to_whoever_is_known(mariadb: PrivateServer, tmp_path: Path) -> None:
    config, unix = tmp_path / "config.yaml", tmp_path / "advisor.sock"
    config.write_text("")
    with serving("--socket", mariadb.socket, "--user", "root", "--config", config, "--web.socket", unix, "--web.enable-lifecycle") as running:
        config.write_text("thresholds: {nonsense: {}}")
        answer = running.get("/-/reload", method="POST")
        assert answer.status == 500
        assert str(tmp_path) not in answer.text
        assert "the log says why" in answer.text
        time.sleep(RELOADS_APART_SECONDS)
        connection = UnixConnection(unix)
        connection.request("POST", "/-/reload")
        told = connection.getresponse()
        assert told.status == 500
        assert b"config.yaml" in told.read()
        connection.close()


def test_a_client_that_closes_is_no_error(daemon: Daemon) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", daemon.port)) as one:
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=10)
    connection.request("GET", "/-/healthy")
    assert connection.getresponse().status == 200
    connection.close()


@pytest.mark.parametrize(
    "request_", [b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + 17_000 * b"x", b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n", b"GET /nowhere HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"],
    ids=["no request", "a long head", "a body to be asked for", "another name"],
)  # fmt: skip
def test_what_is_no_request_is_answered_with_the_headers_of_every_answer(daemon: Daemon, request_: bytes) -> None:
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=10) as connection:
        connection.sendall(request_)
        head = connection.makefile("rb").read(1 << 16).partition(b"\r\n\r\n")[0].lower().split(b"\r\n")
    assert head[0].split()[1].startswith(b"4")
    for line in (b"x-content-type-options: nosniff", b"cross-origin-resource-policy: same-origin", b"cross-origin-opener-policy: same-origin"):
        assert head.count(line) == 1, line
