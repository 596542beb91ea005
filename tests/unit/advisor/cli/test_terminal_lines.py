"""On a terminal a sentence is broken between words, and nothing that somebody copies is."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from myisam_advisor.cli.terminal_lines import fitted

SENTENCE = "cannot read the workload /srv/recordings/of/the/shop/monday.gz: No such file or directory. Make one with: myisam-advisor record --output FILE"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [50, 80, 120])
def test_lines_end_between_words(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = fitted(SENTENCE, Terminal()).split("\n")
    assert " ".join(lines) == SENTENCE
    assert max(map(len, lines)) <= columns
    assert any("myisam-advisor record --output FILE" in line for line in lines)
    assert fitted("short\n  as it is", Terminal()) == "short\n  as it is"


@pytest.mark.parametrize("told", ["", "0", "12", "x", "²"])
def test_where_nobody_knows_the_width_the_line_stays(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", told)
    assert fitted(SENTENCE, Terminal()) == SENTENCE
    assert fitted(SENTENCE, io.StringIO()) == SENTENCE
    assert fitted(SENTENCE, None) == SENTENCE


def test_an_error_on_a_terminal_has_whole_words(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    program = Path(sys.executable).with_name("myisam-advisor")
    missing = tmp_path / ("a" * 30) / "w.gz"
    done = subprocess.run([program, "record", "--show", missing], stderr=theirs, stdout=subprocess.DEVNULL, env={**os.environ, "COLUMNS": "80"}, check=False)
    os.close(theirs)
    words = os.read(ours, 4096).decode().split()
    os.close(ours)
    assert done.returncode == 2
    assert {"directory.", "--output", str(missing).rpartition("/")[2] + ":"} <= {word.rpartition("/")[2] for word in words}
