"""Lines of the log for systemd's journal, and for everybody else."""

import logging
import os
import re
from pathlib import Path

from myisam_advisor.cli.journal import lines_for


def record(message: str, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("x", level, "", 0, message, (), None)


def test_the_journal_gets_priorities_and_no_second_time(tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("w") as stream:
        state = os.fstat(stream.fileno())
        lines = lines_for(stream, {"JOURNAL_STREAM": f"{state.st_dev}:{state.st_ino}"})
        assert lines.format(record("two\nlines")) == "<4>WARNING two\n<4>lines"
        assert lines.format(record("words", logging.INFO)) == "<6>INFO words"
        assert lines.format(record("words", logging.ERROR)) == "<3>ERROR words"


def test_a_stream_that_goes_elsewhere_has_the_time(tmp_path: Path) -> None:
    """A shell of a service that sends our standard error into a file hands its own JOURNAL_STREAM on."""
    with (tmp_path / "stderr").open("w") as stream:
        for environment in ({}, {"JOURNAL_STREAM": "8:1"}, {"JOURNAL_STREAM": ""}, {"JOURNAL_STREAM": "nonsense"}):
            assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} WARNING words", lines_for(stream, environment).format(record("words")))
    assert lines_for(stream, {"JOURNAL_STREAM": "8:1"}).format(record("words")).endswith("WARNING words"), "a closed stream is no journal"
