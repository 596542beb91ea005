"""TLS and basic authentication, in exporter-toolkit's file format; the rate limit."""

import base64
import http.client
import socket
import ssl
import subprocess
import time
from pathlib import Path

import bcrypt
import pytest

from myisam_advisor.trial.private_server import PrivateServer

from .conftest import run
from .daemon import Daemon, wait_for

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


def test_the_rate_limit(mariadb: PrivateServer, tmp_path: Path) -> None:
    config = tmp_path / "web.yaml"
    config.write_text("rate_limit: {interval: 1h, burst: 3}\n")
    with socket_daemon(mariadb, config) as daemon:
        assert [daemon.get("/-/healthy").status for _ in range(5)] == [200, 200, 200, 429, 429]


def test_a_password_hash_is_never_shown(mariadb: PrivateServer, tmp_path: Path) -> None:
    config = tmp_path / "web.yaml"
    config.write_text("basic_auth_users: {me: plain-secret}\n")
    done = run("serve", "--socket", mariadb.socket, "--no-history", "--web.config.file", config)
    assert done.returncode == 2
    assert "plain-secret" not in done.stderr + done.stdout
    assert "htpasswd" in done.stderr


