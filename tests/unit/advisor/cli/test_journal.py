"""Lines of the log for systemd's journal, and for everybody else."""

import logging
import os
import re
from pathlib import Path

import pytest

from myisam_advisor.cli.journal import lines_for


def record(message: str, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("x", level, "", 0, message, (), None)


def test_the_journal_gets_priorities_and_no_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "stderr").open("w") as stream:
        state = os.fstat(stream.fileno())
        lines = lines_for(stream, {"JOURNAL_STREAM": f"{state.st_dev}:{state.st_ino}"})
        # A message is one entry, whatever others put into it; a trace has several lines, each with its priority.
        assert lines.format(record("two\n<0>lines")) == r"<4>WARNING two\n<0>lines"
        monkeypatch.setenv("MYISAM_ADVISOR_DEBUG", "1")
        raised = record("words", logging.ERROR)
        raised.exc_info = (KeyError, KeyError("a"), None)
        first, *trace = lines.format(raised).split("\n")
        assert first == "<3>ERROR words: KeyError: 'a'"
        assert trace
        assert all(line.startswith("<3>") for line in trace)
        assert lines.format(record("words", logging.INFO)) == "<6>INFO words"
        assert lines.format(record("words", logging.ERROR)) == "<3>ERROR words"


def test_a_stream_that_goes_elsewhere_has_the_time(tmp_path: Path) -> None:
    """A shell of a service that sends our standard error into a file hands its own JOURNAL_STREAM on."""
    with (tmp_path / "stderr").open("w") as stream:
        for environment in ({}, {"JOURNAL_STREAM": "8:1"}, {"JOURNAL_STREAM": ""}, {"JOURNAL_STREAM": "nonsense"}):
            assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} WARNING words", lines_for(stream, environment).format(record("words")))
    assert lines_for(stream, {"JOURNAL_STREAM": "8:1"}).format(record("words")).endswith("WARNING words"), "a closed stream is no journal"
