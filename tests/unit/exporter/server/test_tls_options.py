"""What option files say of TLS and of passwords is honoured or refused by name, and never dropped."""

from pathlib import Path

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.server.target import Target, target_from_options


def target(tmp_path: Path, *lines: str) -> Target:
    path = tmp_path / "c.cnf"
    path.write_text("[client]\nuser=u\nhost=db1\n" + "\n".join(lines) + "\n")
    return target_from_options([path])


@pytest.mark.parametrize(
    ("lines", "wanted", "verify_name"),
    [
        ((), False, True), (("ssl",), True, True), (("ssl=1",), True, True), (("enable-ssl",), True, True), (("ssl=OFF",), False, True), (("skip-ssl",), False, True), (("disable_ssl",), False, True),
        (("loose-ssl",), True, True), (("loose_skip_ssl", "ssl-ca=x"), False, True), (("ssl_verify_server_cert",), True, True), (("ssl-ca=x",), True, True), (("ssl-capath=x",), True, True),
        (("ssl-cert=x", "ssl-key=y"), True, True), (("ssl-mode=required",), True, True), (("ssl-mode=VERIFY_CA", "ssl-ca=x"), True, False), (("ssl-mode=VERIFY_IDENTITY",), True, True),
        (("ssl-mode=DISABLED", "ssl-ca=x"), False, True), (("ssl-mode=PREFERRED",), False, True), (("loose-ssl-of-tomorrow=x",), False, True), (("default-character-set=latin1", "compress"), False, True),
        (("secure-auth",), False, True), (("skip-enable-cleartext-plugin",), False, True), (("enable-cleartext-plugin=0",), False, True), (("get-server-public-key=0",), False, True),
    ],
)  # fmt: skip
def test_what_is_understood_is_honoured(tmp_path: Path, lines: tuple[str, ...], wanted: bool, verify_name: bool) -> None:
    tls = target(tmp_path, *lines).tls
    assert (tls.wanted, tls.verify_name) == (wanted, verify_name)


@pytest.mark.parametrize(
    "lines",
    [
        ("ssl-mode=SOMETIMES",), ("ssl=perhaps",), ("ssl-verify-server-cert=0",), ("skip-ssl-verify-server-cert",), ("disable-ssl-verify-server-cert",), ("skip-ssl", "ssl-mode=REQUIRED"), ("ssl-mode=DISABLED", "ssl"),
        ("skip-ssl", "ssl-verify-server-cert"), ("tls-version=TLSv1.1",), ("tls-version=TLSv9",), ("tls-ciphersuites=x",), ("ssl-fp=00:11",), ("tls_fplist=x",), ("ssl-passphrase=x",), ("ssl-fips-mode=ON",), ("ssl-of-tomorrow",),
        ("enable-cleartext-plugin",), ("enable_cleartext_plugin=1",), ("get-server-public-key",), ("server-public-key-path=x",), ("skip-secure-auth",), ("secure-auth=0",), ("default-auth=mysql_clear_password",), ("password2=x",), ("protocol=memory",),
    ],
)  # fmt: skip
def test_everything_else_of_the_kind_is_refused_by_its_name_and_line(tmp_path: Path, lines: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match=r"c\.cnf, line [45]") as caught:
        target(tmp_path, *lines)
    assert any(line.partition("=")[0].replace("_", "-") in str(caught.value) for line in lines)


def test_versions_and_plugins_are_taken_over(tmp_path: Path) -> None:
    found = target(tmp_path, "ssl-ca=x", "tls-version=TLSv1.1,TLSv1.2", "ssl-cipher=ECDHE+AESGCM", "restricted-auth=mysql_native_password,dialog")
    assert (found.tls.minimum_version, found.tls.maximum_version, found.tls.ciphers) == ("TLSv1_2", "TLSv1_2", "ECDHE+AESGCM")
    assert found.plugins == {"mysql_native_password"}


@pytest.mark.parametrize("lines", [("ssl-ca=/nowhere.pem",), ("ssl-cert=/nowhere.pem",), ("ssl", "ssl-cipher=nothing-like-it"), ("ssl", "ssl-crl=/nowhere.pem")])
def test_files_that_cannot_be_used_are_named(tmp_path: Path, lines: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match=lines[-1].replace("=", "=")):
        target(tmp_path, *lines).tls.context()


def test_protocol_tcp_means_no_socket(tmp_path: Path) -> None:
    path = tmp_path / "c.cnf"
    path.write_text("[client]\nuser=u\nsocket=/run/s\nprotocol=tcp\n")
    found = target_from_options([path])
    assert (found.socket, found.host) == (None, "localhost")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('tls-versi "hunter2 \\t"', "tls-versi"),
        ("ssl-password hunter2", "ssl-password"),
        ("ssl-key-file\thunter2 # c", "ssl-key-file"),
        ("ssl-mo\0hunter2 \\t", "ssl-mo"),
        ("ssl-pass:hunter2", "ssl-pass"),
    ],
)
def test_of_a_line_without_equals_only_the_first_word_is_told(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(UserError) as refused:
        target(tmp_path, line)
    assert "hunter2" not in str(refused.value)
    assert str(refused.value).startswith(f"{told} ... (from ")
    assert "line 4" in str(refused.value)
