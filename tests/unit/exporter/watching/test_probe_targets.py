"""Which credentials a probe may choose: those that the list grants to its target."""

from pathlib import Path

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.watching.probe_targets import ProbeTargets, read_probe_targets

OPTIONS = "[client]\nuser=plain\n[client.prod]\nuser=prod\npassword=PRODsecret\n[client.dev]\nuser=dev\n"


def read(tmp_path: Path, targets: str) -> ProbeTargets:
    (tmp_path / "c.cnf").write_text(OPTIONS)
    (tmp_path / "t.yaml").write_text(f"targets:\n{targets}")
    return read_probe_targets(tmp_path / "t.yaml", [tmp_path / "c.cnf"], allow_cleartext=False)


def test_a_target_has_its_own_module_and_those_that_the_list_grants(tmp_path: Path) -> None:
    targets = read(tmp_path, "  a: {host: x}\n  b: {host: x, auth_module: client.dev}\n  c: {host: x, auth_module: client.dev, auth_modules: [client.prod]}\n")
    granted = {name: set(listed.modules) for name, listed in targets.listed.items()}
    assert granted == {"a": {"client"}, "b": {"client.dev"}, "c": {"client.dev", "client.prod"}}
    assert targets.resolve(targets.listed["c"], "client.prod").user == "prod"
    assert targets.resolve(targets.listed["a"], "client").user == "plain"


@pytest.mark.parametrize("module", ["client.prod", "client.none", "client", "mysqld"])
def test_no_other_is_ever_read_whoever_asks(tmp_path: Path, module: str) -> None:
    targets = read(tmp_path, "  b: {host: x, auth_module: client.dev}\n")
    with pytest.raises(UserError, match="does not let b have the auth_module"):
        targets.resolve(targets.listed["b"], module)


@pytest.mark.parametrize("entry", ["auth_modules: client.prod", "auth_modules: [mysqld]", "auth_modules: [client.none]", "auth_modules: [5]", "auth_module: [client]", "auth_module: mysqld"])
def test_a_grant_that_is_none_is_named(tmp_path: Path, entry: str) -> None:
    with pytest.raises(UserError, match=r"t\.yaml: target b: "):
        read(tmp_path, f"  b: {{host: x, {entry}}}\n")


@pytest.mark.parametrize("entry", ['host: ""', "host: ", "host: [x]", "host: 5", 'host: "a\\nb"', 'socket: ""', "socket: {a: b}", "socket: true", 'socket: "/run/a\\0b"', "host: x, port: true", "host: x, port: 0"])
def test_a_place_that_is_none_is_an_error_and_not_this_machine(tmp_path: Path, entry: str) -> None:
    with pytest.raises(UserError, match=r"t\.yaml: target b: .* is not a (host or socket\.|port number: give one from 1 to 65535\.)"):
        read(tmp_path, f"  b: {{{entry}}}\n")


def test_a_host_and_a_socket_are_read_as_they_stand(tmp_path: Path) -> None:
    listed = read(tmp_path, "  a: {host: db1.example, port: 3307}\n  b: {socket: /run/mysqld/forum.sock}\n").listed
    assert (listed["a"].host, listed["a"].port, listed["a"].socket) == ("db1.example", 3307, None)
    assert (listed["b"].host, listed["b"].address) == (None, "unix:/run/mysqld/forum.sock")
