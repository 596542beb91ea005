"""`snapshot` into a file, packed or not, and reading it again; `munin` on a terminal."""

import gzip
import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.outside.documents import read_text
from tests.support.program import PROGRAM, run
from tests.support.repository import ROOT

FACTS = "schema: 1\nserver: {flavour: mysql, version: 5.7.1, version_number: 50701}\ntables: [{schema_name: a, table_name: b, crashed: 1}]\n"
PLUGIN = ROOT / "plugins" / "munin" / "myisam_advisor"


@pytest.mark.parametrize("name", ["facts.json", "facts.json.gz"])
def test_what_was_written_says_the_same_as_what_was_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    done = run("snapshot", "--facts", "-", "--output", path, stdin=FACTS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert path.read_bytes().startswith(b"\x1f\x8b") is name.endswith(".gz")
    whole = json.loads(run("facts", "--facts", "-", "--format", "json", stdin=FACTS).stdout)
    # The clock may have gone on to the next second.
    assert json.loads(run("facts", "--facts", path, "--format", "json").stdout) | {"time": ""} == whole | {"time": ""}
    first = document_of(path)
    run("snapshot", "--facts", "-", "--output", path, stdin=FACTS)
    assert document_of(path) | {"time": ""} == first | {"time": ""}


def document_of(path: Path) -> dict[str, Any]:
    written = path.read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(written) if path.suffix == ".gz" else written)
    return found


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "no" / "facts.gz", "No such file"), (tmp_path, "is a directory")):
        done = run("snapshot", "--facts", "-", "--output", path, stdin=FACTS)
        assert done.returncode == 2
        assert why in done.stderr


def test_a_packed_file_is_read_in_all_its_parts_and_no_further_than_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(b"one " * 50) + gzip.compress(b"two" * 100))
    assert len(path.read_bytes()) < 200
    assert read_text(path, "facts file", 500) == "one " * 50 + "two" * 100
    for least in (499, 200, 10):
        with pytest.raises(UserError, match=f"larger than {least} bytes"):
            read_text(path, "facts file", least)


@pytest.mark.parametrize("damage", [lambda packed: packed[:-12], lambda packed: packed[:20] + b"\xff" * 8 + packed[28:], lambda packed: packed[:3]])
def test_a_damaged_packed_file_is_refused_by_name(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(damage(gzip.compress(FACTS.encode())))
    with pytest.raises(UserError, match=r"cannot unpack the facts file .*x\.gz"):
        read_text(path, "facts file", 1 << 20)


def on_a_terminal(*words: str) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run([str(PROGRAM), *words], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, timeout=60, check=False)
        return done.returncode, os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)


def test_munin_tells_a_person_what_it_is_for() -> None:
    status, said = on_a_terminal("munin", "--socket", "/nowhere/s")
    assert status == 0
    assert "munin install" in said
    assert len(said) < 1000
    assert run("munin", "--socket", "/nowhere/s").returncode != 0 or "{" in run("munin", "--socket", "/nowhere/s").stdout


def test_a_snapshot_is_no_reading_for_a_terminal() -> None:
    status, said = on_a_terminal("snapshot", "--socket", "/nowhere/s")
    assert status == 2
    assert "write --output facts.json, or > facts.json" in " ".join(said.split())
    assert "/nowhere/s" not in said, "said before a server is asked"


def test_the_plugin_ends_quietly_when_nobody_reads_on(tmp_path: Path) -> None:
    program = tmp_path / "advisor"
    program.write_text(f"#!/bin/sh\ncat {ROOT}/tests/recorded/golden/mariadb-10.11/munin.json\n")
    program.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "socket": "/nowhere/s", "advisor_program": str(program), "PYTHONUNBUFFERED": "1"}
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([str(PLUGIN), "config"], stdout=writer, stderr=subprocess.PIPE, env=environment, timeout=60, check=False, text=True)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
