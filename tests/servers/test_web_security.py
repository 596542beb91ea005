"""TLS and basic authentication, in exporter-toolkit's file format; the rate limit."""

import base64
import http.client
import signal
import socket
import ssl
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import bcrypt
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import Daemon, wait_for
from tests.support.program import run_process

PASSWORD = "open: sesame ü"


def make_certificate(folder: Path, name: str) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip


def login(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def test_basic_authentication(mariadb: PrivateServer, tmp_path: Path) -> None:
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    config = tmp_path / "web.yaml"
    config.write_text(f"basic_auth_users: {{reader: '{hashed}'}}\nhttp_server_config: {{headers: {{X-Frame-Options: deny}}}}\n")
    with socket_daemon(mariadb, config) as daemon:
        for headers in ({}, login("reader", "wrong"), login("nobody", PASSWORD), {"Authorization": "Basic ???"}, {"Authorization": "Bearer x"}):
            refused = daemon.get("/metrics", headers)
            assert refused.status == 401
            assert refused.headers["www-authenticate"] == "Basic"
            assert refused.headers["x-frame-options"] == "deny"
            assert b"myisam" not in refused.body
        assert daemon.get("/-/healthy").status == 401
        for _ in range(2):
            assert daemon.get("/metrics", login("reader", PASSWORD)).value("up") == 1
        # The file is read again when it changes; a broken one changes nothing.
        config.write_text("junk: 1\n")
        assert daemon.get("/metrics").status == 401
        config.write_text("{}\n")
        assert daemon.get("/metrics").status == 200
        daemon.stop()
        assert PASSWORD.encode() not in daemon.log
        assert b"stays as it was" in daemon.log


def socket_daemon(server: PrivateServer, config: Path):  # type: ignore[no-untyped-def]
    return serving_until("--socket", server.socket, "--user", "root", "--web.config.file", config)


class serving_until:  # noqa: N801 - a context manager
    """`serving`, for a daemon that does not answer plain requests with 200: it is up when it accepts connections."""

    def __init__(self, *words: object) -> None:
        self.daemon = Daemon([*map(str, words), "--no-history", "--collect.interval", "1s"])

    def __enter__(self) -> Daemon:
        def accepts() -> bool:
            try:
                socket.create_connection(("127.0.0.1", self.daemon.port), 1).close()
            except OSError:
                return False
            return True

        assert wait_for(accepts), self.daemon.stop() or self.daemon.log
        return self.daemon

    def __exit__(self, *_: object) -> None:
        if self.daemon.process.poll() is None:
            self.daemon.process.kill()
        self.daemon.process.communicate()


def secure_get(daemon: Daemon, trusted: Path) -> tuple[int, bytes]:
    context = ssl.create_default_context(cafile=str(trusted))
    connection = http.client.HTTPSConnection("127.0.0.1", daemon.port, timeout=10, context=context)
    try:
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_tls_with_a_silent_client_and_a_renewed_certificate(mariadb: PrivateServer, tmp_path: Path) -> None:
    make_certificate(tmp_path, "first")
    config = tmp_path / "web.yaml"
    config.write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n")
    with socket_daemon(mariadb, config) as daemon:
        # Who connects and says nothing holds up nobody's handshake.
        silent = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(20)]
        started = time.monotonic()
        status, page = secure_get(daemon, tmp_path / "cert.pem")
        assert time.monotonic() - started < 5
        assert status == 200
        assert b"\nmyisam_up 1" in page
        for connection in silent:
            connection.close()
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            daemon.get("/metrics")
        make_certificate(tmp_path, "second")
        with pytest.raises(ssl.SSLError):
            secure_get(daemon, tmp_path / "cert.pem")  # still the old one
        config.write_text("# renewed\ntls_server_config: {cert_file: cert.pem, key_file: key.pem}\n")
        assert wait_for(lambda: can_be_trusted(daemon, tmp_path / "cert.pem"), 10)
        daemon.stop()
        assert b"Traceback" not in daemon.log


def can_be_trusted(daemon: Daemon, certificate: Path) -> bool:
    try:
        return secure_get(daemon, certificate)[0] == 200
    except ssl.SSLError:
        return False


def test_clients_need_a_certificate_where_that_is_asked(mariadb: PrivateServer, tmp_path: Path) -> None:
    make_certificate(tmp_path, "both")
    config = tmp_path / "web.yaml"
    config.write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem, client_ca_file: cert.pem, client_auth_type: RequireAndVerifyClientCert}\n")
    with socket_daemon(mariadb, config) as daemon:
        context = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        with pytest.raises((ssl.SSLError, ConnectionError)):
            ask(daemon, context)
        context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
        assert ask(daemon, context) == 200


def ask(daemon: Daemon, context: ssl.SSLContext) -> int:
    connection = http.client.HTTPSConnection("127.0.0.1", daemon.port, timeout=10, context=context)
    try:
        connection.request("GET", "/-/healthy")
        return connection.getresponse().status
    finally:
        connection.close()


def secure_status(daemon: Daemon, trusted: Path, headers: Mapping[str, str]) -> int:
    """The status over TLS."""
    connection = http.client.HTTPSConnection("127.0.0.1", daemon.port, timeout=10, context=ssl.create_default_context(cafile=str(trusted)))
    try:
        connection.request("GET", "/metrics", headers=dict(headers))
        return connection.getresponse().status
    finally:
        connection.close()


def test_what_a_reload_asks_of_tls_is_in_force_for_every_connection(mariadb: PrivateServer, tmp_path: Path) -> None:
    make_certificate(tmp_path, "both")
    config = tmp_path / "web.yaml"
    config.write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n")
    with socket_daemon(mariadb, config) as daemon:
        older, plain = client(tmp_path, ssl.TLSVersion.TLSv1_2), client(tmp_path)
        known_older, known = client(tmp_path, ssl.TLSVersion.TLSv1_2, with_certificate=True), client(tmp_path, with_certificate=True)
        assert [ask(daemon, one) for one in (older, plain)] == [200, 200]
        kept = http.client.HTTPSConnection("127.0.0.1", daemon.port, timeout=10, context=plain)
        kept.request("GET", "/-/healthy")
        assert kept.getresponse().read() == b"OK\n"
        opened = kept.sock
        config.write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem, client_ca_file: cert.pem, client_auth_type: RequireAndVerifyClientCert, min_version: TLS13}\n")
        daemon.process.send_signal(signal.SIGHUP)
        assert wait_for(lambda: refuses(daemon, plain))
        for one in (older, plain, known_older):
            assert refuses(daemon, one)
        assert ask(daemon, known) == 200
        # Nor does a connection of before tell anything more.
        with pytest.raises((OSError, http.client.HTTPException)):
            opened.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert opened.recv(100) == b"", "an answer to nobody"
            raise ConnectionError
        kept.close()
        config.write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem, max_version: TLS12}\n")
        assert wait_for(lambda: not refuses(daemon, older))
        assert refuses(daemon, client(tmp_path, ssl.TLSVersion.TLSv1_3))


def client(folder: Path, version: ssl.TLSVersion | None = None, with_certificate: bool = False) -> ssl.SSLContext:
    """A client that speaks this version alone, or any."""
    context = ssl.create_default_context(cafile=str(folder / "cert.pem"))
    if version is not None:
        context.minimum_version = context.maximum_version = version
    if with_certificate:
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def refuses(daemon: Daemon, context: ssl.SSLContext) -> bool:
    try:
        return ask(daemon, context) != 200
    except (OSError, http.client.HTTPException):
        return True


def test_a_reload_that_changes_nothing_of_tls_keeps_connections(mariadb: PrivateServer, tmp_path: Path) -> None:
    make_certificate(tmp_path, "both")
    config = tmp_path / "web.yaml"
    config.write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n")
    with socket_daemon(mariadb, config) as daemon:
        kept = http.client.HTTPSConnection("127.0.0.1", daemon.port, timeout=10, context=client(tmp_path))
        kept.connect()
        opened = kept.sock
        config.write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\nrate_limit: {interval: 1ms, burst: 50}\n")
        daemon.process.send_signal(signal.SIGHUP)
        time.sleep(1)
        for _ in range(2):
            kept.request("GET", "/-/healthy")
            assert kept.getresponse().read() == b"OK\n"
        assert kept.sock is opened
        kept.close()


def test_an_empty_file_does_not_open_the_door(mariadb: PrivateServer, tmp_path: Path) -> None:
    config = tmp_path / "web.yaml"
    config.write_text(f"basic_auth_users: {{me: '{bcrypt.hashpw(b'x', bcrypt.gensalt(4)).decode()}'}}\n")
    with socket_daemon(mariadb, config) as daemon:
        assert daemon.get("/metrics").status == 401
        config.write_text("")  # as a program leaves it that is about to write it
        assert daemon.get("/metrics").status == 401
        daemon.stop()
        assert b"is empty" in daemon.log


@contextmanager
def guessing(daemon: Daemon, count: int) -> Iterator[None]:
    """So many who try one password after another."""
    over = threading.Event()

    def guess(number: int) -> None:
        tried = 0
        while not over.wait(0.1):
            tried += 1
            with suppress(OSError, http.client.HTTPException):
                daemon.get("/metrics", login("reader", f"guess {number} {tried}"), timeout=60)

    threads = [threading.Thread(target=guess, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(1)
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_guessed_passwords_hold_up_nobody_whose_login_was_right_before(mariadb: PrivateServer, tmp_path: Path) -> None:
    # A quarter of a second each: whoever waited behind the guesses would wait for 40 of them.
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(12)).decode()
    config = tmp_path / "web.yaml"
    config.write_text(f"basic_auth_users: {{reader: '{hashed}'}}\n")
    with socket_daemon(mariadb, config) as daemon:
        assert daemon.get("/metrics", login("reader", PASSWORD)).status == 200
        with guessing(daemon, 40):
            seconds = []
            for _ in range(9):
                started = time.monotonic()
                assert daemon.get("/metrics", login("reader", PASSWORD)).status == 200
                seconds.append(time.monotonic() - started)
            assert statistics.median(seconds) < 2.0, seconds
            # Beyond those that may wait, a guess is not even looked at.
            answers = [daemon.get("/metrics", login("reader", f"wrong {number}")) for number in range(5)]
            assert {answer.status for answer in answers} <= {401, 503}
            refused = [answer for answer in answers if answer.status == 503]
            assert refused
            assert refused[0].headers["retry-after"] == "1"


def test_the_same_login_of_many_at_once_is_verified_once(mariadb: PrivateServer, tmp_path: Path) -> None:
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(11)).decode()
    config = tmp_path / "web.yaml"
    config.write_text(f"basic_auth_users: {{reader: '{hashed}'}}\n")
    with socket_daemon(mariadb, config) as daemon, ThreadPoolExecutor(30) as pool:
        statuses = list(pool.map(lambda _: daemon.get("/-/healthy", login("reader", PASSWORD)).status, range(30)))
    assert statuses == [200] * 30


def test_the_rate_limit(mariadb: PrivateServer, tmp_path: Path) -> None:
    config = tmp_path / "web.yaml"
    config.write_text("rate_limit: {interval: 1h, burst: 3}\n")
    with socket_daemon(mariadb, config) as daemon:
        assert [daemon.get("/-/healthy").status for _ in range(5)] == [200, 200, 200, 429, 429]


def test_a_password_hash_is_never_shown(mariadb: PrivateServer, tmp_path: Path) -> None:
    config = tmp_path / "web.yaml"
    config.write_text("basic_auth_users: {me: plain-secret}\n")
    done = run_process("serve", "--socket", mariadb.socket, "--no-history", "--web.config.file", config)
    assert done.returncode == 2
    assert "plain-secret" not in done.stderr + done.stdout
    assert "htpasswd" in done.stderr


