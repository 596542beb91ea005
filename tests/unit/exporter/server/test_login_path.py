"""The login file, as mysql_config_editor of MySQL 9 wrote one, and what no login file is."""

import os
import sys
from pathlib import Path

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.server.login_path import LoginFileError, read_login_file
from myisam_exporter.server.option_files import Further, read_option_files
from myisam_exporter.server.target import target_from_options
from tests.support.login_files import encrypted

WRITTEN = bytes.fromhex(
    "0000000012150b0b0309121a0b1e1b0308080b071a1602101000000031c9bb0f7b53c1ea70c5cc7986afd29810000000a2ce1912101650c034778a4e014e8ba5100000000761"
    "cac19b22b82015d17e38a8c0578a100000003165c67b9efa9c6c87dcc7df5988393510000000ada465a088e6fd41f461d3c90e1c174910000000b2d120a93e8ebaee064a1b61"
    "7c82b247200000006baabd18d9618464f751f4acbe9decee007b7d75542853946b1597c9e3ff85ce10000000b45b90646a652b597d967da81fe7f31610000000b1a215830245"
    "5fec3f2d2728d684b13f100000004b20bb4a0a455dd47f9f051418f68902200000006d98affa2f1eb209495e7339d5950604dfa6ed83aee5a22717f2ac79c3b4761910000000"
    "0bd080dce63661c731db33d63b6f2b22200000009b1815d778b89b8accc558b057efee615b93100832b4abcd1fd5f1e724b4e8f110000000fd0b35b5017252921dfc05b3c9fa"
    "70a3"
)
TEXT = """[foo_s]
host = "h3"
[mysql]
host = "hm"
[client]
user = "u1"
password = "clientpw"
host = "h1"
[foo]
user = "u2"
password = "lo\\"g#in \\pw"
host = "h2"
socket = "/x/y"
port = 3399
"""
def login_file(folder: Path, content: bytes = WRITTEN, mode: int = 0o600) -> Path:
    path = folder / "mylogin.cnf"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_what_mysql_config_editor_wrote_is_read(tmp_path: Path) -> None:
    assert read_login_file(login_file(tmp_path)) == TEXT
    assert read_login_file(login_file(tmp_path, encrypted(TEXT))) == TEXT


@pytest.mark.parametrize(
    ("login_path", "suffix", "found"),
    [
        (None, "", ("u1", "clientpw", "h1")),
        ("foo", "", ("u2", 'lo"g#in \\pw', "h2")),
        ("foo", "_s", ("u2", 'lo"g#in \\pw', "h2")),
    ],
)
def test_groups_count_in_the_order_of_the_file(tmp_path: Path, login_path: str | None, suffix: str, found: tuple[str, str, str]) -> None:
    further = Further(None, suffix, login_path, login_file(tmp_path))
    (tmp_path / "my.cnf").write_text("[client]\nuser=filec\nhost=hfile\n[foo]\nuser=never\n")
    read = read_option_files([tmp_path / "my.cnf"], further=further)
    assert (read.value("user"), read.value("password"), read.value("host")) == found
    assert "clientpw" not in repr(read) + read.origin("password")


def test_a_path_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no login path 'gone': it has client, foo, foo_s, mysql"):
        read_option_files([write_empty(tmp_path)], further=Further(login_path="gone", login_file=login_file(tmp_path)))
    with pytest.raises(UserError, match=r"there is no login file .*nowhere for --login-path x"):
        read_option_files([write_empty(tmp_path)], further=Further(login_path="x", login_file=tmp_path / "nowhere"))


def write_empty(folder: Path) -> Path:
    path = folder / "empty.cnf"
    path.write_text("")
    return path


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o610, 0o700])
def test_a_file_that_others_may_read_is_left_out_or_refused(tmp_path: Path, mode: int, caplog: pytest.LogCaptureFixture) -> None:
    path = login_file(tmp_path, mode=mode)
    with pytest.raises(LoginFileError, match=f"chmod 600 {path}"):
        read_option_files([write_empty(tmp_path)], further=Further(login_path="foo", login_file=path))
    assert read_option_files([write_empty(tmp_path)], further=Further(login_file=path)).settings == {}
    assert f"chmod 600 {path}" in caplog.text


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 23, WRITTEN[:-1], WRITTEN[:30], WRITTEN[:26], WRITTEN[:24] + b"\xff\xff\xff\x7f" + WRITTEN[28:], WRITTEN[:24] + b"\0\0\0\0" + WRITTEN[24:], b"x" + bytes(200), WRITTEN[:10] + b"\x55" + WRITTEN[11:], b"a" * ((1 << 20) + 1)],
)  # fmt: skip
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = login_file(tmp_path, content)
    with pytest.raises(LoginFileError, match=rf"{path} is not a login file, or a damaged one: make it anew"):
        read_login_file(path)


@pytest.mark.parametrize("kind", ["directory", "fifo"])
def test_what_is_no_file_is_named_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "login"
    path.mkdir() if kind == "directory" else os.mkfifo(path, 0o600)
    with pytest.raises(LoginFileError, match=r"is not a file|Is a directory"):
        read_login_file(path)


def test_without_the_library_the_remedy_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Python takes a module that is None for one that is not installed."""
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    path = login_file(tmp_path)
    with pytest.raises(LoginFileError, match="python3-cryptography on Debian"):
        target_from_options([write_empty(tmp_path)], further=Further(login_path="foo", login_file=path))
    assert target_from_options([write_empty(tmp_path)], user="u", host="h", further=Further(login_file=path)).password == ""
    assert "python3-cryptography" in caplog.text
