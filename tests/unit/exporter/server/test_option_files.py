import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.outside import bounded_reading
from myisam_exporter.server import option_files
from myisam_exporter.server.option_files import Further, login_file, read_option_files
from myisam_exporter.server.target import target_from_options


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


NOBODY = 65534


@contextmanager
def as_another(directory: Path) -> Iterator[None]:
    """Whoever may not search the directory: nobody instead of root, and anybody where it is closed to its owner too."""
    directory.chmod(0)
    if os.geteuid() == 0:
        os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        if os.getresuid()[2] == 0:
            os.setresuid(0, 0, 0)
        directory.chmod(0o700)


def test_what_stands_in_a_directory_that_may_not_be_searched_is_not_there_and_what_is_named_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    own = write(tmp_path / ".my.cnf", "[client]\nuser=mine\n")
    write(tmp_path / ".mylogin.cnf", "no login file\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(option_files, "STANDARD_FILES", ())
    assert read_option_files([]).value("user") == "mine"
    with as_another(tmp_path):
        assert read_option_files([], further=Further(login_file=login_file(os.environ))).value("user") is None
        with pytest.raises(UserError, match=r"cannot read the option file .*Permission denied\. Check the path and its permissions"):
            read_option_files([own])
    assert caplog.text == ""


def test_an_include_that_cannot_be_reached_is_left_out(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    write(closed / "a.cnf", "[client]\nuser=included\n")
    lines = ["[client]", "user=me", f"!include {closed}/a.cnf", f"!includedir {closed}/conf.d"]
    assert user_of(lines) == "included"
    with as_another(closed):
        assert user_of(lines) == "me"


def user_of(lines: list[str]) -> str | None:
    found = dict(option_files._of_lines(Path("my.cnf"), lines, option_files._Reading(frozenset({"client"}), set()), 0))
    return found["user"].value


@pytest.mark.parametrize(
    ("line", "password"),
    [
        ("password=plain", "plain"),
        ("password = spaced  ", "spaced"),
        ("password=\"with # and ; and = in it\"", "with # and ; and = in it"),
        ("password='single'", "single"),
        ("password=cut # here", "cut"),
        (r"password=back\\slash\s", "back\\slash "),
        ("password=?&%$", "?&%$"),
        ("password=", ""),
    ],
)
def test_reads_passwords_as_the_client_library_does(tmp_path: Path, line: str, password: str) -> None:
    assert read_option_files([write(tmp_path / "my.cnf", f"[client]\n{line}\n")]).value("password") == password


def test_only_client_groups_count_and_includes_are_followed(tmp_path: Path) -> None:
    (tmp_path / "conf.d").mkdir()
    write(tmp_path / "conf.d" / "a.cnf", "[client]\nuser=included\n")
    path = write(tmp_path / "my.cnf", f"# comment\n[mysqld]\nuser=mysql\nbad line\n[client]\nsocket=/run/s\n!includedir {tmp_path}/conf.d\n")
    options = read_option_files([path])
    assert (options.value("user"), options.value("socket")) == ("included", "/run/s")


@pytest.mark.parametrize(("text", "message"), [("user=x\n", "line 1: an option stands before any"), ("[client\n", "line 1: .*closing bracket"), ("[client]\n!inklude x\n", "line 2: unknown directive")])
def test_faults_name_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "my.cnf", text)
    with pytest.raises(UserError, match=message) as caught:
        read_option_files([path])
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.cnf: No such file"):
        read_option_files([tmp_path / "gone.cnf"])


def test_a_circle_of_includes_ends(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    write(path, f"[client]\n!include {path}\n")
    with pytest.raises(UserError, match="include each other"):
        read_option_files([path])


def test_two_files_with_different_passwords_are_refused_without_showing_them(tmp_path: Path) -> None:
    one = write(tmp_path / "one.cnf", "[client]\npassword=first-secret\n")
    two = write(tmp_path / "two.cnf", "[client]\npassword=second-secret\n")
    with pytest.raises(UserError, match="different passwords") as caught:
        target_from_options([one, two])
    text = str(caught.value)
    assert str(one) in text
    assert str(two) in text
    assert "secret" not in text


def test_what_a_setting_overrides_is_named_with_its_line(tmp_path: Path) -> None:
    """The file alone was named, also where it was the same one: from F, line 4, which overrides a different one in F."""
    one = write(tmp_path / "one.cnf", "[client]\npassword=first\n[client.forum]\npassword=second\n")
    assert read_option_files([one], groups=("client", "client.forum")).origin("password") == f"from {one}, line 4, which overrides a different one in {one}, line 2"


def test_the_password_is_no_part_of_any_representation(tmp_path: Path) -> None:
    path = write(tmp_path / "my.cnf", "[client]\nuser=u\npassword=hidden-word\nhost=db1\nport=3307\n")
    target = target_from_options([path])
    assert (target.password, target.host, target.port, target.socket) == ("hidden-word", "db1", 3307, None)
    assert "hidden-word" not in repr(target) + repr(read_option_files([path]))
    assert "line 3" in target.password_origin


def test_localhost_means_its_socket_unless_a_port_is_given(tmp_path: Path) -> None:
    path = write(tmp_path / "my.cnf", "[client]\nuser=u\nsocket=/run/own.sock\nport=3307\n")
    assert target_from_options([path]).socket == Path("/run/own.sock")
    assert target_from_options([path], host="localhost").socket == Path("/run/own.sock")
    assert target_from_options([path], host="localhost", port=3308).socket is None
    assert target_from_options([path], host="127.0.0.1").socket is None
    assert target_from_options([path], host="db1").label == "db1:3307"


def test_a_bad_port_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="port 'x3'"):
        target_from_options([write(tmp_path / "my.cnf", "[client]\nhost=h\nport=x3\n")])


@pytest.mark.parametrize("kind", ["fifo", "device", "directory"])
def test_what_is_included_and_is_no_file_is_named_at_once(tmp_path: Path, kind: str) -> None:
    included = tmp_path / "conf.d" / "x.cnf"
    included.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(included)
    elif kind == "device":
        included.symlink_to("/dev/zero")
    else:
        included.mkdir()
    main = tmp_path / "my.cnf"
    main.write_text(f"!includedir {included.parent}\n[client]\nuser=u\n")
    with pytest.raises(UserError, match=rf"{included}.*(is not a file|Is a directory)"):
        read_option_files([main])


def test_an_option_file_may_be_a_pipe_and_one_without_a_writer_ends_in_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("[client]\nuser=u\n"))
    writer.start()
    assert read_option_files([pipe]).value("user") == "u"
    writer.join()
    monkeypatch.setattr(bounded_reading, "PIPE_SECONDS", 0.1)
    with pytest.raises(UserError, match=r"cannot read the option file .*/pipe: nobody wrote into this pipe"):
        read_option_files([pipe])


def test_a_file_that_everybody_may_write_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("[client]\nuser=u\n")
    path.chmod(0o666)
    with pytest.raises(UserError, match="everybody may write"):
        read_option_files([path])


def test_no_more_is_read_than_an_option_file_can_have(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_bytes(b"#" * (1 << 21))
    with pytest.raises(UserError, match="larger than"):
        read_option_files([path])


def test_the_extra_file_stands_between_the_global_files_and_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / ".my.cnf", "[client]\nuser=home\n")
    extra = write(tmp_path / "extra.cnf", "[client]\nuser=extra\nhost=fromextra\n[client_two]\nuser=two\n")
    found = read_option_files((), further=Further(extra))
    assert (found.value("user"), found.value("host")) == ("home", "fromextra")
    assert read_option_files([extra], further=Further(group_suffix="_two")).value("user") == "two"
    with pytest.raises(UserError, match="give one of them"):
        read_option_files([extra], further=Further(extra))
    with pytest.raises(UserError, match=r"gone\.cnf: No such file"):
        read_option_files((), further=Further(tmp_path / "gone.cnf"))


def test_the_environment_says_what_no_file_says(tmp_path: Path) -> None:
    said = {"MYSQL_HOST": "envhost", "MYSQL_TCP_PORT": "3311", "MYSQL_UNIX_PORT": "/run/env.sock", "MYSQL_PWD": "envsecret"}
    empty, full = write(tmp_path / "empty.cnf", ""), write(tmp_path / "full.cnf", "[client]\nhost=filehost\nport=3312\npassword=filesecret\n")
    by_environment = target_from_options([empty], further=Further(environment=said))
    assert (by_environment.label, by_environment.password) == ("envhost:3311", "envsecret")
    assert by_environment.password_origin == "from the environment variable MYSQL_PWD"
    assert "envsecret" not in repr(by_environment) + repr(Further(environment=said))
    by_file = target_from_options([full], further=Further(environment=said))
    assert (by_file.label, by_file.password) == ("filehost:3312", "filesecret")
    assert target_from_options([full], password="typed", further=Further(environment=said)).password == "typed"
    del said["MYSQL_HOST"]
    assert target_from_options([empty], further=Further(environment=said)).socket == Path("/run/env.sock")
    assert not target_from_options([empty], further=Further(environment=said)).is_found
    with pytest.raises(UserError, match="port 'many' from the environment variable MYSQL_TCP_PORT is not a port number"):
        target_from_options([empty], host="h", further=Further(environment={"MYSQL_TCP_PORT": "many"}))
    for odd in ("\u00b2", "\u0663", "9" * 5000, "-1", "0", "65536", "1e3"):
        with pytest.raises(UserError, match="is not a port number: give one from 1 to 65535"):
            target_from_options([empty], host="h", further=Further(environment={"MYSQL_TCP_PORT": odd}))


def test_what_is_probed_hears_nothing_of_the_own_way_in(tmp_path: Path) -> None:
    further = Further(tmp_path, "_x", "foo", tmp_path / "login", {"MYSQL_PWD": "secret"}).for_others
    assert (further.login_path, further.login_file, further.environment) == (None, None, {})
    assert (further.extra_file, further.group_suffix) == (tmp_path, "_x")


def test_files_that_include_the_next_one_several_times_are_bounded_in_number(tmp_path: Path) -> None:
    for number in range(10):
        write(tmp_path / f"{number}.cnf", f"!include {tmp_path}/{number + 1}.cnf\n" * 3)
    write(tmp_path / "10.cnf", "[client]\nuser=me\n")
    with pytest.raises(UserError, match=r"\.cnf: option files include more than 500 files: remove some !include"):
        read_option_files([tmp_path / "0.cnf"])
    assert read_option_files([tmp_path / "6.cnf"]).value("user") == "me"


@pytest.mark.parametrize("directive", ["!include", "!includedir"])
def test_a_zero_byte_in_what_is_included_is_named(tmp_path: Path, directive: str) -> None:
    path = write(tmp_path / "my.cnf", f"[client]\n{directive} /a\0b\n")
    with pytest.raises(UserError, match=rf"my\.cnf, line 2: a zero byte stands in what {directive} names"):
        read_option_files([path])


def test_a_directory_of_includes_that_the_disk_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Iterator[Path]:
        raise OSError(5, "Input/output error")

    (tmp_path / "conf.d").mkdir()
    path = write(tmp_path / "my.cnf", f"[client]\n!includedir {tmp_path}/conf.d\n")
    monkeypatch.setattr(Path, "glob", refused)
    with pytest.raises(UserError, match=r"my\.cnf, line 2: the option files in .*/conf\.d cannot be read: Input/output error"):
        read_option_files([path])
