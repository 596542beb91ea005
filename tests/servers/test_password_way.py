"""How a password travels: hashed, over a verified way, or not at all. Option files against servers with every kind of certificate."""

import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.errors import UserError
from myisam_exporter.server import default_sockets, driver
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target, target_from_options
from tests.support.daemon import free_port, serving
from tests.support.lying_server import CAN_TLS, CAPABILITIES, OK, Client, HostileServer, greeting
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of

from .conftest import as_other_user

SECRET = "S3cret-of-prod"
IN = "in"
NO_TLS = "offers no TLS"
UNTRUSTED = "TLS with .* failed"
OPEN_WAY = "another host without TLS.*ssl-ca.*--allow-cleartext"
DEMANDED = "If the password is right, the account or the server may demand TLS (REQUIRE SSL or X509, require_secure_transport): name ssl-ca"
CERTIFICATES = ("none", "self-signed", "another name", "right")


@pytest.fixture(scope="module")
def certificates() -> Iterator[Path]:
    """An authority, and keys with certificates: by it for 127.0.0.1, by it for another name, and by nobody."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)

        def openssl(*words: str) -> None:
            subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
        for file, names in (("right", "IP:127.0.0.1,DNS:localhost"), ("another name", "DNS:db.example")):
            (folder / "names").write_text(f"subjectAltName={names}\n")
            openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={file}", "-keyout", f"{file}.key", "-out", "request")
            openssl("x509", "-req", "-in", "request", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", f"{file}.pem")
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "self-signed.key", "-out", "self-signed.pem")
        openssl("rsa", "-in", "right.key", "-pubout", "-out", "public.pem")
        for path in folder.iterdir():
            path.chmod(0o644)
        yield folder


@pytest.fixture(scope="module")
def servers(certificates: Path) -> Iterator[dict[str, PrivateServer]]:
    """MariaDB without TLS and with each certificate."""
    with ExitStack() as stack:
        started = {}
        for kind in CERTIFICATES:
            options = [] if kind == "none" else [f"--ssl-cert={certificates / kind}.pem", f"--ssl-key={certificates / kind}.key"]
            server = started[kind] = stack.enter_context(CopiedServer(binaries_of("mariadb-10.11"), options, port=free_port()))
            server.execute(f"CREATE USER 'mon'@'127.0.0.1' IDENTIFIED BY '{SECRET}'")
        yield started


# What the option file says, and what comes of it with each of the servers.
TABLE: dict[str, tuple[str, str, str, str]] = {
    "": (IN, IN, IN, IN),
    "ssl-ca=CA": (NO_TLS, UNTRUSTED, UNTRUSTED, IN),
    "ssl_ca=CA\nssl-verify-server-cert": (NO_TLS, UNTRUSTED, UNTRUSTED, IN),
    "ssl\nssl-verify-server-cert=1": (NO_TLS, UNTRUSTED, UNTRUSTED, UNTRUSTED),
    "ssl=1\nssl-ca=CA\ntls-version=TLSv1.2,TLSv1.3": (NO_TLS, UNTRUSTED, UNTRUSTED, IN),
    "ssl-mode=REQUIRED": (NO_TLS, UNTRUSTED, UNTRUSTED, UNTRUSTED),
    "ssl-mode=REQUIRED\nssl-ca=CA": (NO_TLS, UNTRUSTED, UNTRUSTED, IN),
    "ssl-mode=VERIFY_CA\nssl-ca=CA": (NO_TLS, UNTRUSTED, IN, IN),
    "ssl-mode=VERIFY_IDENTITY\nssl-ca=CA": (NO_TLS, UNTRUSTED, UNTRUSTED, IN),
    "ssl-mode=PREFERRED\nssl-ca=CA": (NO_TLS, UNTRUSTED, UNTRUSTED, IN),
    "ssl-mode=DISABLED\nssl-ca=CA": (IN, IN, IN, IN),
    "loose-skip-ssl\nssl-ca=CA": (IN, IN, IN, IN),
}


def option_file(folder: Path, certificates: Path, text: str) -> Path:
    path = folder / "client.cnf"
    path.write_text(f"[client]\nuser=mon\npassword={SECRET}\n{text.replace('CA', str(certificates / 'ca.pem')) if '=CA' in text else text}\n".replace(f"VERIFY_{certificates / 'ca.pem'}", "VERIFY_CA"))
    return path


def outcome(target: Target) -> str:
    try:
        with Session(target, 5) as session:
            ((_, cipher),) = session.rows("SHOW STATUS LIKE 'Ssl_cipher'")
            return IN if bool(cipher) == target.tls.wanted else f"in, TLS {cipher!r}"
    except UserError as error:
        assert SECRET not in str(error)
        return str(error)


@pytest.mark.parametrize("text", TABLE)
def test_option_files_mean_what_they_say(servers: dict[str, PrivateServer], certificates: Path, tmp_path: Path, text: str) -> None:
    for (kind, server), expected in zip(servers.items(), TABLE[text], strict=True):
        found = outcome(target_from_options([option_file(tmp_path, certificates, text)], host="127.0.0.1", port=server.port))
        assert found == IN if expected == IN else re.search(expected, found, re.DOTALL), f"{kind}: {found}"


@pytest.mark.parametrize(("text", "expected"), [("", OPEN_WAY), ("ssl-mode=DISABLED", OPEN_WAY), ("skip-ssl", OPEN_WAY), ("ssl-ca=CA", IN)])
def test_no_password_goes_to_another_host_without_tls(
    servers: dict[str, PrivateServer], certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    monkeypatch.setattr(driver, "is_this_machine", lambda address: False)
    target = target_from_options([option_file(tmp_path, certificates, text)], host="127.0.0.1", port=servers["right"].port)
    found = outcome(target)
    if expected == IN:
        assert found == IN
        return
    assert re.search(expected, found)
    assert outcome(replace(target, allow_cleartext=True)) == IN
    # Without a password there is none to protect: the server itself refuses.
    assert "Access denied" in outcome(replace(target, password=""))


def test_addresses_of_this_machine_are_told_from_others() -> None:
    assert [driver.is_this_machine(address) for address in ("127.0.0.1", "127.1.2.3", "::1")] == [True] * 3
    assert [driver.is_this_machine(address) for address in ("10.0.0.1", "192.168.1.1", "fe80::1%eth0", "2001:db8::1", "0.0.0.0")] == [False] * 5


def asking(plugin: bytes, certificates: Path, kind: str, in_greeting: bool) -> Callable[[Client], None]:
    """A server that wants the password itself, by whatever plugin, with or without TLS."""

    def serve(client: Client) -> None:
        can = CAPABILITIES | (CAN_TLS if kind != "none" else 0)
        client.send(0, greeting(plugin if in_greeting else b"mysql_native_password", can))
        number = 2
        said = client.hear()
        if len(said) == 32:  # a request for TLS is a login that ends before the user
            client.encrypt(f"{certificates / kind}.pem", f"{certificates / kind}.key")
            client.hear()
            number += 1
        if not in_greeting:
            client.send(number, b"\xfe" + plugin + (b"" if plugin == b"" else b"\0") + b"abcdefghij0123456789\0")
            client.hear()
            number += 2
        for more in (b"\x01\x04", b"\x01" + (certificates / "public.pem").read_bytes()):
            client.send(number, more)
            client.hear()
            number += 2
        client.send(number, OK)

    return serve


ASKING = (b"mysql_clear_password", b"dialog", b"mysql_old_password", b"", b"sha256_password", b"caching_sha2_password", b"auth_gssapi_client", b"authentication_ldap_simple_client")


@pytest.mark.parametrize("in_greeting", [False, True])
@pytest.mark.parametrize("plugin", ASKING)
@pytest.mark.parametrize("kind", CERTIFICATES)
def test_a_password_is_shown_to_nobody_who_is_not_verified(certificates: Path, tmp_path: Path, kind: str, plugin: bytes, in_greeting: bool) -> None:
    """Not in clear, not by the old hash, not encrypted with a key of the server's; by a plugin made for it where TLS is verified."""
    for text in ("", "ssl-ca=CA", "ssl-mode=REQUIRED"):
        with HostileServer(asking(plugin, certificates, kind, in_greeting)) as server:
            target = target_from_options([option_file(tmp_path, certificates, text)], host="127.0.0.1", port=server.port)
            found = outcome(replace(target, allow_cleartext=True))
            assert found != IN
            verified = kind == "right" and text == "ssl-ca=CA"
            may = verified and plugin in (b"sha256_password", b"caching_sha2_password")
            assert (SECRET.encode() in server.heard) is may, (text, found, server.heard)
            # RSA makes 256 bytes of it, the old hash eight letters.
            assert all(len(part) < 250 for client in server.clients for part in client.heard), text
            old = [part for client in server.clients for part in client.heard[1:] if len(part) == 9]
            assert old == [], text


def test_the_message_says_what_was_asked_for_and_what_to_do(certificates: Path, tmp_path: Path) -> None:
    with HostileServer(asking(b"mysql_clear_password", certificates, "none", False)) as server:
        done = run("check", "--defaults-file", option_file(tmp_path, certificates, ""), "--host", "127.0.0.1", "--port", server.port)
    assert done.returncode == 2
    assert "asks for the password by mysql_clear_password, which would show it: it was not sent" in done.stderr
    assert "ssl-ca" in done.stderr
    assert SECRET not in done.stderr


@pytest.mark.parametrize("in_greeting", [False, True])
@pytest.mark.parametrize("plugin", [b"auth_gssapi_client", b"authentication_ldap_sasl_client", b"parsec", b"", b"\x1b[31m" + b"x" * 300])
def test_a_plugin_that_is_not_spoken_is_named_with_what_to_do(certificates: Path, tmp_path: Path, plugin: bytes, in_greeting: bool) -> None:
    with HostileServer(asking(plugin, certificates, "none", in_greeting)) as server:
        done = run("check", "--defaults-file", option_file(tmp_path, certificates, ""), "--host", "127.0.0.1", "--port", server.port)
    assert done.returncode == 2
    assert f"to log in by the plugin {plugin.decode()[:64]!r}"[:-1] in done.stderr
    assert "which this program does not speak" in done.stderr
    assert "myisam-advisor grants" in done.stderr
    assert "did not answer" not in done.stderr
    assert "\x1b" not in done.stderr
    assert len(done.stderr) < 700


def test_ed25519_without_its_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real server and account; only the library is hidden."""
    from pymysql import _auth

    monkeypatch.setattr(_auth, "_nacl_bindings", False)
    monkeypatch.setitem(sys.modules, "nacl", None)
    with CopiedServer(binaries_of("mariadb-10.11"), ["--plugin-load-add=auth_ed25519"]) as server:
        server.execute(f"CREATE USER 'mon'@'localhost' IDENTIFIED VIA ed25519 USING PASSWORD('{SECRET}')")
        said = outcome(Target("mon", SECRET, socket=server.socket))
        assert "'client_ed25519', which needs the Python library PyNaCl" in said
        monkeypatch.undo()
        assert outcome(Target("mon", SECRET, socket=server.socket)) == IN


def test_an_account_by_another_plugin_of_a_real_server_is_told_of_it() -> None:
    """PAM asks questions: what it would have sent shows the password."""
    with CopiedServer(binaries_of("mariadb-10.11"), ["--plugin-load-add=auth_pam_v1"]) as server:
        server.execute("CREATE USER 'mon'@'localhost' IDENTIFIED VIA pam USING 'mariadb'")
        assert "asks for the password by dialog" in outcome(Target("mon", SECRET, socket=server.socket))


@pytest.mark.parametrize("name", ["mariadb-10.11", "mariadb-11.8", "mysql-9.7", "mysql-5.6"])
def test_accounts_of_every_kind_get_in(name: str, certificates: Path, tmp_path: Path) -> None:
    """By socket and, where the plugin hashes or TLS is verified, over TCP."""
    tls = [] if name == "mysql-5.6" else [f"--ssl-cert={certificates}/right.pem", f"--ssl-key={certificates}/right.key"]
    kinds = {
        "mariadb-10.11": ["IDENTIFIED BY '{}'", "IDENTIFIED VIA ed25519 USING PASSWORD('{}')"],
        "mysql-9.7": ["IDENTIFIED WITH caching_sha2_password BY '{}'", "IDENTIFIED WITH sha256_password BY '{}'"],
    }.get(name, ["IDENTIFIED BY '{}'"])
    with CopiedServer(binaries_of(name), [*tls, *(["--plugin-load-add=auth_ed25519"] if name == "mariadb-10.11" else [])], port=free_port()) as server:
        for index, kind in enumerate(kinds):
            for host in ("localhost", "127.0.0.1"):
                server.execute(f"CREATE USER 'mon{index}'@'{host}' {kind.format(SECRET)}")
            by_socket = Target(f"mon{index}", SECRET, socket=server.socket)
            over_tcp = Target(f"mon{index}", SECRET, host="127.0.0.1", port=server.port or 0)
            if "sha256" not in kind and "sha2" not in kind:
                assert outcome(over_tcp) == IN
            else:
                # The server knows no hash of it yet, and would have the password itself.
                assert "was not sent" in outcome(over_tcp)
            if tls:
                path = option_file(tmp_path, certificates, "ssl-ca=CA")
                assert outcome(target_from_options([path], user=f"mon{index}", host="127.0.0.1", port=server.port)) == IN
            if "sha256" in kind:
                # Who comes over the socket is not sent there.
                assert "asks for the password by sha256_password, which would show it: it was not sent. Use TLS with" in outcome(by_socket)
                assert outcome(target_from_options([path], user=f"mon{index}", socket=server.socket)) == IN
            else:
                assert outcome(by_socket) == IN
            if "caching" in kind:
                assert outcome(over_tcp) == IN  # by the hash that it keeps


@pytest.mark.parametrize("name", ["mariadb-10.5", "mariadb-11.4", "mysql-8.0", "mysql-9.7"])
def test_a_locked_account_and_an_expired_password_are_said_with_what_to_do(name: str) -> None:
    with CopiedServer(binaries_of(name)) as server:
        server.execute(f"CREATE USER 'closed'@'localhost' IDENTIFIED BY '{SECRET}' ACCOUNT LOCK", f"CREATE USER 'old'@'localhost' IDENTIFIED BY '{SECRET}' PASSWORD EXPIRE")
        assert f"the account 'closed' is locked at {server.socket}. ALTER USER ... ACCOUNT UNLOCK; opens it" in outcome(Target("closed", SECRET, socket=server.socket))
        assert f"the password of 'old' has expired at {server.socket}. Give the account a new one" in outcome(Target("old", SECRET, socket=server.socket))


@pytest.mark.parametrize("name", ["mariadb-10.11", "mariadb-11.8", "mysql-5.6", "mysql-9.7"])
def test_a_refusal_says_what_may_be_wrong_beside_the_password(name: str, certificates: Path, tmp_path: Path) -> None:
    """The server's words are the same for a wrong password and for an account that has to come by TLS."""
    tls = [] if name == "mysql-5.6" else [f"--ssl-ca={certificates}/ca.pem", f"--ssl-cert={certificates}/right.pem", f"--ssl-key={certificates}/right.key"]
    with CopiedServer(binaries_of(name), tls, port=free_port()) as server:
        for user, demand in (("encrypted", "SSL"), ("proven", "X509")):
            made = f"CREATE USER '{user}'@'localhost' IDENTIFIED BY '{SECRET}'"
            server.execute(*([made, f"GRANT USAGE ON *.* TO '{user}'@'localhost' REQUIRE {demand}"] if name == "mysql-5.6" else [f"{made} REQUIRE {demand}"]))
            refused = outcome(Target(user, SECRET, socket=server.socket))
            assert "Access denied for user" in refused
            assert DEMANDED in refused
            assert "TLS" not in outcome(Target(user, socket=server.socket)), "who gave no password is told that, and nothing else"
        if tls:
            path = option_file(tmp_path, certificates, "ssl-ca=CA")
            assert outcome(target_from_options([path], user="encrypted", socket=server.socket)) == IN
            assert "may have to show a certificate (REQUIRE X509): name ssl-cert and ssl-key" in outcome(target_from_options([path], user="proven", socket=server.socket))
            server.execute(f"CREATE USER 'plain'@'localhost' IDENTIFIED BY '{SECRET}'")
            assert outcome(Target("plain", SECRET, socket=server.socket)) == IN
            server.execute("SET GLOBAL require_secure_transport = 1")
            refused = outcome(Target("plain", SECRET, host="127.0.0.1", port=server.port or 0))
            assert (DEMANDED if name == "mariadb-10.11" else "lets nobody in without TLS (require_secure_transport). Name its authority's certificate (ssl-ca)") in refused


@pytest.mark.parametrize("name", ["mariadb-10.11", "mariadb-11.8"])
def test_who_could_come_as_the_systems_user_is_told_so(name: str) -> None:
    """As Debian's root is: whoever was not root was told to give a password, and there is none."""
    with CopiedServer(binaries_of(name), port=free_port()) as server:
        server.execute(
            "CREATE USER 'alone'@'localhost' IDENTIFIED VIA unix_socket",
            f"CREATE USER 'either'@'localhost' IDENTIFIED VIA mysql_native_password USING PASSWORD('{SECRET}') OR unix_socket",
        )
        way = "Over its socket it lets in the system's user of that name (unix_socket, auth_socket): run this as that user (sudo)."
        for user, password in (("alone", ""), ("alone", SECRET), ("either", ""), ("either", "wrong")):
            refused = outcome(Target(user, password, socket=server.socket))
            assert way in refused
            assert "TLS" not in refused
        assert outcome(Target("either", SECRET, socket=server.socket)) == IN
        # What is refused for the password alone says nothing of it.
        server.execute(f"CREATE USER 'other'@'localhost' IDENTIFIED BY '{SECRET}'")
        assert "unix_socket" not in outcome(Target("other", "wrong", socket=server.socket))


@pytest.mark.parametrize("name", ["mariadb-11.8", "mysql-5.6", "mysql-9.7"])
def test_who_is_not_let_in_now_is_told_what_ends_that(name: str) -> None:
    # MariaDB changes max_user_connections only where it was started with one.
    with CopiedServer(binaries_of(name), ["--max-user-connections=50"]) as server:
        limit = "GRANT USAGE ON *.* TO {}@localhost WITH {}" if name == "mysql-5.6" else "ALTER USER {}@localhost WITH {}"
        for user, kind in (("one", "MAX_USER_CONNECTIONS 1"), ("few", "MAX_QUERIES_PER_HOUR 2"), ("any", "MAX_USER_CONNECTIONS 0")):
            server.execute(f"CREATE USER {user}@localhost IDENTIFIED BY '{SECRET}'", limit.format(user, kind))
        with closing(server.connect(user="one", password=SECRET)):
            assert re.search(r"allows 'one' no more: .*max_user_connections.*raise the limit", outcome(Target("one", SECRET, socket=server.socket)))
        assert re.search(r"allows 'few' no more: .*resource.*raise the limit", outcome(Target("few", SECRET, socket=server.socket)))
        server.execute("SET GLOBAL max_user_connections = 1")
        with closing(server.connect(user="any", password=SECRET)):
            assert "allows 'any' no more: " in outcome(Target("any", SECRET, socket=server.socket))
        server.execute("SET GLOBAL max_user_connections = 0", "SET GLOBAL init_connect = 'SELECT * FROM nowhere.nothing'")
        assert "ends each connection, as its init_connect fails" in outcome(Target("any", SECRET, socket=server.socket))
        server.execute("SET GLOBAL init_connect = ''")
        if name == "mysql-9.7":
            server.execute("SET GLOBAL offline_mode = ON")
            assert "is in offline mode. SET GLOBAL offline_mode=OFF; ends it" in outcome(Target("any", SECRET, socket=server.socket))


def test_a_socket_that_nobody_named_is_asked_only_where_a_servers_user_made_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_directory = Path(tempfile.mkdtemp())
    path = open_directory / "mysql.sock"
    option = tmp_path / "c.cnf"
    option.write_text(f"[client]\nuser=root\npassword={SECRET}\n")
    monkeypatch.setattr(default_sockets, "DEFAULT_SOCKETS", (tmp_path / "none.sock", path))
    try:
        open_directory.chmod(0o1777)
        with as_other_user():
            squatting = HostileServer(lambda client: client.log_in(), str(path))
        with squatting:
            with pytest.raises(UserError, match=r"mysql\.sock belongs to .*not used automatically.*--socket"):
                target_from_options([option])
            assert squatting.clients == []
            # Whoever names it takes it as it is.
            assert target_from_options([option], socket=path).socket == path
        path.unlink()
        with HostileServer(lambda client: client.log_in(), str(path)):
            assert target_from_options([option]).socket == path
            open_directory.chmod(0o777)  # anybody could put another in its place
            with pytest.raises(UserError, match="not used automatically"):
                target_from_options([option])
    finally:
        path.unlink(missing_ok=True)
        open_directory.rmdir()
    assert target_from_options([option]).socket == tmp_path / "none.sock"


def test_who_listens_at_a_found_socket_is_looked_at_again(tmp_path: Path) -> None:
    """The kernel tells, whatever the name said before."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    path = folder / "s"
    try:
        with as_other_user():
            server = HostileServer(lambda client: client.log_in(), str(path))
        with server:
            target = Target("root", SECRET, socket=path, is_found=True)
            assert "is not used automatically" in outcome(target)
            assert server.heard == b""
            assert outcome(replace(target, is_found=False)) != IN
            assert server.heard != b""  # whoever names it takes it as it is
    finally:
        path.unlink()
        folder.rmdir()


def test_the_kernel_is_asked_about_no_tcp_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert not default_sockets.is_a_servers(Path(f"/proc/{os.getpid()}/fd/{listener.fileno()}"))


def test_a_probe_gives_no_target_credentials_that_the_list_does_not_grant_it(tmp_path: Path) -> None:
    """Nor does its answer tell which sections there are."""
    options, targets = tmp_path / "c.cnf", tmp_path / "targets.yaml"
    options.write_text("[client]\nuser=plain\n[client.prod]\nuser=prod-user\npassword=PRODsecret\n[client.dev]\nuser=dev-user\n")
    with HostileServer(lambda client: client.log_in()) as dev:
        targets.write_text(f"targets:\n  dev: {{host: 127.0.0.1, port: {dev.port}}}\n  both: {{host: 127.0.0.1, port: {dev.port}, auth_modules: [client.dev]}}\n")
        with serving("--no-own-server", "--config.targets", targets, "--defaults-file", options, "--timeout", "1") as daemon:
            forbidden = [daemon.get(f"/probe?target=dev&auth_module={module}") for module in ("client.prod", "client.dev", "client.none", "mysqld", "")]
            assert {(answer.status, answer.text) for answer in forbidden} == {(400, forbidden[0].text)}
            assert dev.clients == []
            daemon.get("/probe?target=dev")
            daemon.get("/probe?target=both&auth_module=client.dev")
            assert daemon.get("/probe?target=both&auth_module=client.prod").status == 400
    assert b"plain" in dev.heard
    assert b"dev-user" in dev.heard
    assert b"prod-user" not in dev.heard
