"""Settings that every user could have written are not used; of what one other user or a group may write root is told."""

import grp
import logging
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from myisam_advisor.catalogue.configuration import load_site
from myisam_exporter.errors import UserError
from myisam_exporter.outside import own_settings
from myisam_exporter.outside.own_settings import expect_own, tell_of_readers
from myisam_exporter.server.option_files import read_option_files
from myisam_exporter.watching.probe_targets import read_probe_targets
from myisam_exporter.web.security import read_web_config
from tests.support.repository import ROOT

OTHER = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to others")
READERS: Mapping[str, Callable[[Path], object]] = {
    "configuration": lambda path: load_site(path, ()),
    "rules directory": lambda path: load_site(Path(os.devnull), (path.parent,)),
    "list of targets": lambda path: read_probe_targets(path, (Path(os.devnull),), allow_cleartext=False),
    "web configuration": read_web_config,
    "option file": lambda path: read_option_files((path,)),
}


@pytest.fixture(autouse=True)
def nobody_called_sudo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nor was anything told before."""
    for variable in ("SUDO_UID", "SUDO_GID"):
        monkeypatch.delenv(variable, raising=False)
    own_settings._warn_of.cache_clear()
    yield
    own_settings._warn_of.cache_clear()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of ours in a folder of ours."""
    folder = tmp_path / "settings"
    folder.mkdir(mode=0o755)
    path = folder / "own.yaml"
    path.write_text("{}\n")
    path.chmod(0o644)
    return path


@pytest.mark.parametrize("kind", READERS)
def test_no_reader_believes_what_everybody_may_write(kind: str, file: Path) -> None:
    file.chmod(0o646)
    with pytest.raises(UserError, match=rf"the {kind} .* everybody may write to {file} \(chmod o-w {file}\)"):
        READERS[kind](file)


@pytest.mark.parametrize("kind", READERS)
def test_no_reader_believes_what_everybody_may_exchange(kind: str, file: Path) -> None:
    file.parent.chmod(0o777)
    with pytest.raises(UserError, match=rf"the {kind} .* everybody may put other files into {file.parent} \(chmod"):
        READERS[kind](file)


def test_every_document_that_decides_comes_through_here() -> None:
    """Facts files decide nothing: they are what is judged."""
    reading = re.compile(r"\b(read_yaml|read_yaml_document)\(")
    callers = {
        path.stem: path.read_text("utf-8")
        for package in ("exporter", "advisor")
        for path in (ROOT / package).rglob("*.py")
        if reading.search(path.read_text("utf-8")) and "def read_yaml" not in path.read_text("utf-8")
    }
    asking = {name for name, source in callers.items() if "expect_own(" in source}
    # The shipped rules are the program; `rules` asks before it has one of a site's read.
    assert callers.keys() - asking == {"parsed_rules"}
    assert asking == {"configuration", "rules", "probe_targets", "security"}


@pytest.mark.parametrize("name", ["cert_file", "key_file", "client_ca_file"])
def test_a_certificate_that_everybody_may_write_is_not_used(name: str, file: Path) -> None:
    for other in ("cert_file", "key_file", "client_ca_file"):
        (file.parent / other).write_text("")
        (file.parent / other).chmod(0o600)
    (file.parent / name).chmod(0o602)
    file.write_text(
        "tls_server_config: {cert_file: cert_file, key_file: key_file, client_ca_file: client_ca_file, "
        "client_auth_type: RequireAndVerifyClientCert}\n"
    )
    with pytest.raises(UserError, match=f"the {name} .* everybody may write"):
        read_web_config(file)


def test_a_key_that_everybody_may_read_is_told(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    for folder in file.parents:
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o001)
    tell_of_readers("key_file", file)
    tell_of_readers("key_file", file)
    assert caplog.messages == [f"every user may read the key_file {file}: chmod o-r {file}"]


def test_nobody_reads_what_lies_in_a_closed_directory(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.parent.chmod(0o700)
    tell_of_readers("key_file", file)
    file.parent.chmod(0o755)
    file.chmod(0o640)
    tell_of_readers("key_file", file)
    assert not caplog.messages


def test_a_link_counts_where_it_lies(file: Path, tmp_path: Path) -> None:
    """Also the second of two: whoever may exchange it decides what is read."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open" / "second").symlink_to(file.parent)
    (tmp_path / "first").symlink_to("open/../open/second")
    with pytest.raises(UserError, match=f"other files into {tmp_path / 'open'} "):
        expect_own("configuration", tmp_path / "first" / file.name)
    (tmp_path / "open").chmod(0o755)
    expect_own("configuration", tmp_path / "first" / file.name)


def test_what_is_not_there_or_has_no_end_is_left_to_whoever_opens_it(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    for name in ("nothing", "circle", "circle/further", "with\0zero"):
        expect_own("configuration", tmp_path / name)
    reading, writing = os.pipe()
    expect_own("configuration", Path(f"/dev/fd/{reading}"), Path(os.devnull))
    os.close(reading)
    os.close(writing)


def test_a_relative_name_is_looked_at_from_here(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    expect_own("configuration", Path(file.name))
    file.parent.chmod(0o777)
    for name in (file.name, f"./{file.name}", f"../{file.parent.name}/{file.name}"):
        with pytest.raises(UserError, match="everybody may put"):
            expect_own("configuration", Path(name))


def test_a_mount_of_its_own_that_is_only_shown_here_may_have_any_mode(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubernetes: a ConfigMap has mode 0777. A service's /etc is read-only too, and no mount of its own."""
    file.parent.chmod(0o777)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    with pytest.raises(UserError, match="everybody may put"):
        expect_own("configuration", file)
    monkeypatch.setattr(os.path, "ismount", lambda path: path == file.parent)
    expect_own("configuration", file)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=0))
    with pytest.raises(UserError, match="everybody may put"):
        expect_own("configuration", file)


@as_root
def test_in_a_sticky_directory_others_files_are_not_used(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.parent.chmod(0o1777)
    expect_own("configuration", file)
    os.chown(file, OTHER, -1)
    with pytest.raises(UserError, match=f"{file} belongs to the user .*, in a directory that everybody may write to"):
        expect_own("configuration", file)
    monkeypatch.setenv("SUDO_UID", str(OTHER))
    expect_own("configuration", file)


@as_root
def test_root_is_told_once_of_the_user_who_may_change_it(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    os.chown(file.parent, OTHER, -1)
    expect_own("rules directory", file.parent, file)
    expect_own("rules directory", file.parent, file)
    assert len(caplog.messages) == 1
    assert f"may change {file.parent} (chown root {file.parent})" in caplog.text


@as_root
@pytest.mark.parametrize("variable", ["SUDO_UID", None])
def test_who_called_sudo_may_change_what_root_uses(
    variable: str | None, file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    os.chown(file, OTHER, -1)
    if variable:
        monkeypatch.setenv(variable, str(OTHER))
    expect_own("configuration", file)
    assert bool(caplog.messages) is (variable is None)


@as_root
def test_root_is_told_of_a_group(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    group = grp.getgrall()[-1]
    os.chown(file, -1, group.gr_gid)
    file.chmod(0o664)
    monkeypatch.setenv("SUDO_GID", str(group.gr_gid))
    expect_own("configuration", file)
    assert not caplog.messages
    monkeypatch.setenv("SUDO_GID", "-1")
    expect_own("configuration", file)
    assert caplog.messages == [
        f"root uses the configuration {file}: the group {group.gr_name} may change {file} (chmod g-w {file})"
    ]


@as_root
def test_others_are_told_nothing_of_what_their_administrator_did(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor is root of option files, which every client believes."""
    caplog.set_level(logging.DEBUG)
    os.chown(file, OTHER, -1)
    expect_own("option file", file, root_is_told=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    expect_own("configuration", file)
    assert not caplog.messages


def test_a_name_that_others_chose_runs_nothing_in_the_shell_it_is_pasted_into(file: Path) -> None:
    chosen = file.parent / "$(reboot) x"
    chosen.mkdir()
    (chosen / "own.yaml").write_text("{}")
    (chosen / "own.yaml").chmod(0o646)
    file.unlink()
    file.symlink_to(chosen / "own.yaml")
    with pytest.raises(UserError) as refused:
        expect_own("configuration", file)
    command = str(refused.value).rsplit("(chmod ", 1)[1][:-1]
    assert shlex.split(command) == ["o-w", str(chosen / "own.yaml")]
    assert command.endswith("/$(reboot) x/own.yaml'"), "within quotes"


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file away")
def test_a_name_writes_no_line_of_its_own_into_the_log(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    named = file.rename(file.parent / "a\x1b[31m\nroot: all is well.yaml")
    os.chown(named, OTHER, -1)
    expect_own("configuration", named)
    (message,) = caplog.messages
    assert message.isprintable()
    assert r"a\x1b[31m\nroot: all is well.yaml" in message
