"""What `myisam-snapshot` says of wrong words and of places where it does not write: one message, status 2, no traceback, and no server asked."""

import gzip
import json
import os
import re
import stat
from pathlib import Path

import pytest

from myisam_exporter.collectors.disk_space import NOT_FROM_ONE_LOOK
from myisam_exporter.errors import UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.interval import NO_INTERVAL
from tools.snapshotter.parts import program
from tools.snapshotter.parts.client_program import Client


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No option file of this machine, and a client that says no."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("myisam_exporter.server.option_files.STANDARD_FILES", ())
    for name in ("MYSQL_PWD", "MYSQL_HOST", "MYSQL_TCP_PORT", "MYSQL_UNIX_PORT", "MYSQL_GROUP_SUFFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Client, "path", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--interval", "soon"], "no length of time"),
        (["--interval", "2d"], "no length of time"),
        (["--timeout", "0"], "from 1 to 600"),
        (["--page-cache-seconds", "-1"], "expected one argument|from 0 to 600"),
        (["--port", "70000"], "no port number"),
        (["--facts", "x"], "unrecognized arguments: --facts x"),
        (["--inter", "1"], "unrecognized arguments"),
        (["extra"], "unrecognized arguments: extra"),
        (["--client", "/nonexistent"], "/nonexistent is no program"),
        (["--client", "/bin/true", "-h", "db.example.com"], "db.example.com:3306 is another host"),
        (["--client", "/bin/true", "--defaults-file", "/nonexistent"], "cannot read the option file /nonexistent"),
        (["--client", "/bin/true", "--defaults-file", "/a", "--defaults-extra-file", "/b"], "give one of them"),
        (["--output", "/nonexistent/x.json"], "cannot write /nonexistent/x.json: No such file"),
        (["--output", "/"], "there already"),
    ],
)
def test_wrong_words_end_with_2_and_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("myisam-snapshot: ")
    assert told.err.count("\n") == 1
    assert re.search(message, told.err), told.err


@pytest.mark.parametrize(
    "words", [["-pSECRET"], ["--password=SECRET"], ["-p", "SECRET"], ["-u", "x", "--password", "SECRET"]]
)
def test_a_password_among_the_words_is_refused_and_not_said(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(words) == 2
    told = capsys.readouterr()
    assert "it was not used" in told.err
    assert "SECRET" not in told.err + told.out


def test_a_name_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--client", "/\x1b[2J\u202e\udcff"]) == 2
    told = capsys.readouterr().err
    assert "\\x1b[2J\\u202e\\udcff is no program" in told
    assert told.isascii()


@pytest.mark.parametrize("variable", [{}, {"MYISAM_ADVISOR_DEBUG": "1"}])
def test_an_error_of_ours_is_one_line_unless_it_is_asked_for(
    variable: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "_run", lambda words: 1 // 0)
    if not variable:
        assert program.main([]) == 2
        assert "internal error: ZeroDivisionError" in capsys.readouterr().err
        return
    monkeypatch.setenv("MYISAM_ADVISOR_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        program.main([])


def test_an_interrupt_has_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(words: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "_run", interrupted)
    assert program.main([]) == 130


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir(mode=0o700)
    return folder


def test_a_file_is_new_and_its_owners(own: Path) -> None:
    document = {"schema": 1, "tables": [{"table_name": "gr\u00fcn\udcff\U0001f600", "rows": number} for number in range(3000)]}
    for name in ("facts.json", "facts.json.gz", "again.json.gz"):
        program._write(own / name, program._texts(document))
        assert stat.S_IMODE((own / name).stat().st_mode) == 0o600
    written = (own / "facts.json").read_bytes()
    assert written.decode() == json.dumps(document, indent=1) + "\n"
    assert gzip.decompress((own / "facts.json.gz").read_bytes()) == written
    assert (own / "facts.json.gz").read_bytes() == (own / "again.json.gz").read_bytes()


@pytest.mark.parametrize("kind", ["file", "link", "link to nothing", "directory", "fifo"])
def test_what_is_there_is_not_written_over(own: Path, kind: str) -> None:
    path, other = own / "facts.json", own / "other"
    if kind == "file":
        path.write_text("old")
    elif kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(other)
        if kind == "link":
            other.write_text("old")
    with pytest.raises(UserError, match="is there already"):
        program._refuse_output(path)
    with pytest.raises(UserError, match="is there already"):
        program._write(path, ["new"])
    assert not other.exists() or other.read_text() == "old"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root owns what others may write")
@pytest.mark.parametrize(("mode", "owner"), [(0o1777, 0), (0o757, 0), (0o755, 54321)])
def test_root_writes_where_nobody_else_does(own: Path, mode: int, owner: int) -> None:
    folder = own / "theirs"
    folder.mkdir()
    os.chown(folder, owner, 0)
    folder.chmod(mode)
    with pytest.raises(UserError, match=r"root writes no file|every user may write"):
        program._write(folder / "facts.json", ["{}"])
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's link")
def test_nobody_elses_link_leads_there(own: Path) -> None:
    shared = own / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "way").symlink_to(own)
    os.chown(shared / "way", 54321, 54321, follow_symlinks=False)
    with pytest.raises(UserError, match="another user"):
        program._write(shared / "way" / "facts.json", ["{}"])


def test_a_full_disk_leaves_nothing(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "open", _full, raising=False)
    with pytest.raises(UserError, match="No space left"):
        program._write(own / "facts.json", ["{}"])
    assert list(own.iterdir()) == []


def _full(descriptor: int, mode: str) -> object:
    os.close(descriptor)
    raise OSError(28, "No space left on device")


def test_of_what_is_absent_each_reason_is_told_but_for_what_no_look_shows(capsys: pytest.CaptureFixture[str]) -> None:
    hidden, unread = Unknown("the group is hidden", "mount /sys"), Unknown("the table is closed")
    unknown = {"mysqld.a": hidden, "mysqld.b": hidden, "tables": unread, "host.c": NO_INTERVAL, "host.d": NOT_FROM_ONE_LOOK, "host.e": Unknown("no such thing here", off=True)}
    program._tell_what_is_unseen(FactSet({}, unknown))
    assert capsys.readouterr().err.splitlines() == ["myisam-snapshot: not seen: the group is hidden; mount /sys", "myisam-snapshot: not seen: the table is closed"]
