"""YAML and JSON of anybody's: bounded before anything is made of them, with a short message that names the fault."""

import gzip
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from myisam_advisor.catalogue.configuration import load_site
from myisam_advisor.catalogue.rules import load_rule
from myisam_exporter.errors import MAXIMUM_MESSAGE_CHARACTERS, UserError, brief, shortened
from myisam_exporter.outside import bounded_reading
from myisam_exporter.outside.documents import (
    DocumentError,
    Limits,
    parse_json,
    parse_yaml,
    read_text,
    read_yaml_document,
)
from myisam_exporter.watching.probe_targets import read_probe_targets
from myisam_exporter.web.security import read_web_config
from tests.support.repository import ROOT

LEVELS = 10


def bomb(link: str) -> str:
    """A billion values in some hundred bytes."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"a{level}: &a{level} {link.replace('*', ', '.join([f'*a{level - 1}'] * 9))}" for level in range(1, LEVELS)]
    return "\n".join(lines) + "\n"


ALIASES, MERGES = bomb("[*]"), "a0: &a0 {k: 1}\n" + "\n".join(bomb("{<<: [*]}").splitlines()[1:])
DEEP = "a: " + "[" * 100_000
LONG_TEXT = "a: &a " + "x" * 500_000 + "\nb: [" + ", ".join(["*a"] * 100) + "]\n"
HOSTILE = {"aliases": ALIASES, "merge keys": MERGES, "depth": DEEP, "a long text": LONG_TEXT, "itself": "a: &a [*a]\n", "many": "[" + "a," * 200_000 + "]", "a key twice": "basic_auth_users: {me: x}\nbasic_auth_users: {}\n", "digits": "a: " + "9" * 5000, "base 60": "a: 1" + ":59" * 100_000}
READERS: dict[str, Callable[[Path], object]] = {
    "configuration": lambda path: load_site(path, ()),
    "rule": load_rule,
    "web configuration": read_web_config,
    "list of targets": lambda path: read_probe_targets(path, (), allow_cleartext=False),
}


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("what", HOSTILE)
def test_every_reader_of_yaml_refuses_it_briefly_and_names_the_line(tmp_path: Path, kind: str, what: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(HOSTILE[what])
    with pytest.raises(UserError, match=r"file\.yaml, line \d+: not valid YAML: .*(nested|values|number of|is there twice)") as caught:
        READERS[kind](path)
    assert len(str(caught.value)) <= 400


def test_settings_are_not_waited_for_and_a_device_is_no_file(tmp_path: Path) -> None:
    """A daemon reads its own again at each reload; `--config <(...)` is a pipe without a name, and `--config /dev/null` means none."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name, why in (("pipe", "it is a named pipe"), ("link", "it is a device")):
        with pytest.raises(UserError, match=f"cannot read the thing .*/{name}: {why}"):
            read_text(tmp_path / name, "thing", 1000)
    with pytest.raises(UserError, match="it is a device"):
        read_text("/dev/zero", "thing", 1000, may_be_fifo=True)
    assert read_text("/dev/null", "thing", 1000) == ""


@pytest.mark.slow
@pytest.mark.parametrize("what", HOSTILE)
def test_refusing_takes_little_memory_and_time(tmp_path: Path, what: str) -> None:
    """In a process of its own, which may have 300 MiB and ten seconds of CPU for all readers."""
    path = tmp_path / "file.yaml"
    path.write_text(HOSTILE[what])
    code = (
        "import resource, sys, tests.unit.exporter.outside.test_documents as here\n"
        "from myisam_exporter.errors import UserError\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30,) * 2); resource.setrlimit(resource.RLIMIT_CPU, (10, 10))\n"
        f"from pathlib import Path\nfor read in here.READERS.values():\n    try:\n        read(Path({str(path)!r}))\n    except UserError: pass\n"
        "peak = next(line for line in Path('/proc/self/status').read_text().splitlines() if line.startswith('VmHWM'))\n"
        "assert int(peak.split()[1]) < 300 << 10, peak\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_aliases_and_merge_keys_that_are_few_are_written_out() -> None:
    assert parse_yaml("a: &a {k: 1}\nb: {<<: *a, l: 2}\nc: [*a, *a]\nd: 2001-13-45\ne: 0x1F\nf: 1_000.5") == {
        "a": {"k": 1}, "b": {"k": 1, "l": 2}, "c": [{"k": 1}, {"k": 1}], "d": "2001-13-45", "e": 31, "f": 1000.5,
    }  # fmt: skip
    assert parse_yaml("") is None


@pytest.mark.parametrize("text", ["a: 1\n'a': 2", "1: a\n1: b", "b: {a: 1, a: 1}", "[x, {<<: {a: 1}, <<: {b: 2}}]", "? a\n: 1\n? a\n"])
def test_a_key_that_is_there_twice_is_an_error(text: str) -> None:
    with pytest.raises(DocumentError, match="is there twice"):
        parse_yaml(text)


def test_keys_that_only_look_alike_are_two() -> None:
    assert parse_yaml("1: a\n'1': b\nc: {<<: {a: 1}, a: 2}\nd: {a: 1}") == {1: "a", "1": "b", "c": {"a": 2}, "d": {"a": 1}}


@pytest.mark.parametrize("text", ["!!timestamp 2001-13-45", "!!int x", "!!float x", "{[a]: 1}: 2", "!!set [a]", "[", "\x00", "!!python/object/apply:os.system [echo]"])
def test_what_is_no_yaml_is_one_error(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_yaml(text)
    assert 0 < len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": NaN}', "NaN is not a number"), ('{"a": -Infinity}', "-Infinity is not a number"), ('{"a": ' + "9" * 5000 + "}", "a number of 5000 characters"), ("[" * 100_000, "nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"), ('{"a": "\\ud800"}', "half of a character"), ('{"\\ud800": 1}', "half of a character"), ("[" + "{}," * 500_000 + "{}]", "more than 100 MiB"), ("{", "Expecting"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_one_error(text: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message) as caught:
        parse_json(text, 100 << 20)
    assert len(str(caught.value)) < 300


def test_json_of_whole_characters_beyond_the_basic_plane_is_read() -> None:
    assert parse_json('["\\ud83d\\ude00", 1, 2.5, null, true, "\\\\ud800"]', 1 << 20) == ["\U0001f600", 1, 2.5, None, True, "\\ud800"]


def test_no_more_is_read_than_is_allowed_and_pipes_are_read_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("a" * 1001)
    with pytest.raises(UserError, match=r"the thing .*long is larger than 1000 bytes"):
        read_text(tmp_path / "long", "thing", 1000)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("a: 1\n" * 20_000))
    writer.start()
    assert len(read_text(pipe, "thing", 1 << 20, may_be_fifo=True)) == 100_000
    writer.join()
    for path, message in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory"), (Path("a\0b"), "null")):
        with pytest.raises(UserError, match=message):
            read_text(path, "thing", 1000)
    (tmp_path / "latin").write_bytes(b"\xff")
    with pytest.raises(UserError, match="not UTF-8"):
        read_yaml_document(tmp_path / "latin", "thing")


def test_a_pipe_that_nobody_writes_into_ends_in_an_error_and_a_slow_one_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `--facts <(ssh host myisam-snapshot)` and a FIFO come: the first was read for as long as it took, the second for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(bounded_reading, "PIPE_SECONDS", 0.2)
    with pytest.raises(UserError, match=r"cannot read the thing .*/pipe: nobody wrote into this pipe for 0\.2 s"):
        read_text(pipe, "thing", 1000, may_be_fifo=True)
    reading, writing = os.pipe()
    try:
        with pytest.raises(UserError, match="nobody wrote into this pipe"):
            read_text(Path(f"/dev/fd/{reading}"), "thing", 1000)
        monkeypatch.setattr(bounded_reading, "PIPE_SECONDS", 30)

        def write() -> None:
            for part in (b"a: ", b"1\n"):
                time.sleep(0.3)
                os.write(writing, part)
            os.close(writing)

        writer = threading.Thread(target=write)
        writer.start()
        assert read_text(Path(f"/dev/fd/{reading}"), "thing", 1000) == "a: 1\n"
        writer.join()
    finally:
        os.close(reading)


@pytest.mark.slow
def test_limits_are_those_of_the_kind_of_file() -> None:
    assert len(parse_yaml("[" + "a," * 150_000 + "]", Limits(values=200_000))) == 150_000


def test_messages_have_a_bounded_length_and_keep_their_end() -> None:
    assert len(str(UserError("x" * 10_000_000 + " is wrong"))) <= MAXIMUM_MESSAGE_CHARACTERS
    assert str(UserError("x" * 10_000_000 + " is wrong")).endswith(" is wrong")
    assert shortened("short") == "short"
    nested: list[object] = []
    nested.append(nested)
    for value in (10**5000, "x" * 10**6, [["x"] * 1000] * 1000, nested, {"k" * 1000: "v" * 1000}):
        assert len(brief(value)) < 1200


LARGE_JSON: dict[str, Callable[[], str]] = {
    "names": lambda: "{" + ",".join(f'"v{number:06d}":1.5' for number in range(100_000)) + "}",
    "names and texts": lambda: "{" + ",".join(f'"v{number:06d}" : "ab"' for number in range(100_000)) + "}",
    "names of quotes": lambda: "{" + ",".join(f'"{number:06x}\\"":0' for number in range(100_000)) + "}",
    "dictionaries": lambda: "[" + ",".join(f'{{"{number:06x}":0}}' for number in range(100_000)) + "]",
    "lists": lambda: "[" + "[[[[0]]]]," * 30_000 + "0]",
    "wide text": lambda: '["' + "\U0001f600" * 1_000_000 + '"]',
    "text that one character makes wide": lambda: '["' + "x" * 1_000_000 + '\U0001f600"]',
}


@pytest.mark.parametrize("what", LARGE_JSON)
def test_json_takes_no_more_memory_than_was_estimated(what: str) -> None:
    text = LARGE_JSON[what]()
    tracemalloc.start()
    parse_json(text, 1 << 30)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    with pytest.raises(DocumentError, match="MiB of memory"):
        parse_json(text, peak * 4 // 5)
    assert parse_json(text, peak * 4)


@pytest.mark.parametrize("text", ['{"a": 1, "b', '{"a', '{"' + '\\"' * 10_000, '"' * 10_001, '{"\\'])
def test_names_of_json_that_is_cut_off_are_counted_as_far_as_it_goes(text: str) -> None:
    with pytest.raises(DocumentError):
        parse_json(text + ":" * 10_000, 1 << 20)


@pytest.mark.parametrize("content", [b"", b"x" * 100])
def test_many_parts_that_gzip_packed_are_read_and_too_many_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "facts.gz"
    path.write_bytes(gzip.compress(content) * 9_999 + gzip.compress(b"{}"))
    assert read_text(path, "thing", 2 << 20) == content.decode() * 9_999 + "{}"
    path.write_bytes(gzip.compress(content) * 10_001)
    with pytest.raises(UserError, match=r"cannot unpack the thing .*: it has more than 10000 parts"):
        read_text(path, "thing", 2 << 20)


def test_what_is_unpacked_is_bounded_whole_or_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "facts.gz"
    path.write_bytes(gzip.compress(b"a" * 500_000) + gzip.compress(os.urandom(300).hex().encode() * 1000))
    assert len(read_text(path, "thing", 1_100_000)) == 1_100_000
    with pytest.raises(UserError, match="is larger than 1099999 bytes"):
        read_text(path, "thing", 1_099_999)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(UserError, match="it is cut off"):
        read_text(path, "thing", 1_100_000)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_what_is_no_utf_8_is_told_with_what_it_is(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "facts.json"
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    file.write_bytes(mark + 'schema: 1 # \u00fc'.encode(encoding))
    with pytest.raises(UserError) as refused:
        read_text(file, "facts file", 1000)
    why = "it is not UTF-8 text (byte 12)" if encoding == "latin-1" else "it is UTF-16, as PowerShell's > writes it: save it as UTF-8"
    assert str(refused.value) == f"cannot read the facts file {file}: {why}."
