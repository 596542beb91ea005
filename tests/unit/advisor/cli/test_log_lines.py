"""One line is one entry that a reader of logfmt or JSON takes apart again, whatever was logged."""

import io
import json
import logging
import re
import sys
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from myisam_advisor.cli.journal import JournalLines
from myisam_advisor.cli.log_lines import LEVELS, StructuredLines, log_what_threads_raise
from myisam_advisor.cli.one_line_errors import OneLineErrors
from myisam_exporter.server.target import Target
from tests.support.program import run

KEYS = ["time", "level", "source", "msg"]
LOGFMT = re.compile(r'time=(\S+) level=(\S+) source=(\S+) msg=("(?:[^"\\]|\\.)*")')


def record(message: str, level: int = logging.WARNING, error: BaseException | None = None) -> logging.LogRecord:
    made = logging.LogRecord("myisam_advisor.daemon", level, __file__, 1, "%s", (message,), None)
    made.exc_info = (type(error), error, None) if error else None
    made.created, made.msecs = 0.25, 250.0
    return made


@given(st.text())
def test_each_message_comes_back(message: str) -> None:
    line = StructuredLines("json").format(record(message))
    entry = json.loads(line)
    assert "\n" not in line
    assert list(entry) == KEYS
    assert entry == {"time": "1970-01-01T00:00:00.250Z", "level": "WARN", "source": "myisam_advisor.daemon", "msg": message}
    found = LOGFMT.fullmatch(StructuredLines("logfmt").format(record(message)))
    assert found is not None
    assert found.groups()[:3] == ("1970-01-01T00:00:00.250Z", "WARN", "myisam_advisor.daemon")
    assert json.loads(found[4]) == message


@given(st.text())
@example("evil\x1b]0;owned\x07\n2026-01-01 00:00:00,000 ERROR forged")
@example("a\r\x85\u2028\u2029\x0b<0>b\u202e\u200b\x9b2J")
def test_each_message_is_one_line_that_steers_no_terminal(message: str) -> None:
    for lines, head in ((OneLineErrors("%(levelname)s %(message)s"), "WARNING "), (JournalLines(), "<4>WARNING ")):
        line = lines.format(record(message))
        assert line.startswith(head)
        assert all(letter == " " or letter.isprintable() for letter in line)
        # What is harmless stands as it was written.
        assert not message.isprintable() or line == f"{head}{message}"


def test_traces_are_shown_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYISAM_ADVISOR_DEBUG", "1")
    text = OneLineErrors("%(message)s").format(record("a\x1b[2Jb", logging.ERROR, KeyError("c\x1b[2Jd")))
    first, *trace = text.split("\n")
    assert first.startswith("a\\x1b[2Jb: KeyError")
    assert "KeyError" in trace[-2]
    assert "\x1b" not in text


def test_what_was_raised_is_in_the_message() -> None:
    entry = json.loads(StructuredLines("json").format(record("advice failed", logging.ERROR, KeyError("a\nb"))))
    assert (entry["level"], entry["msg"]) == ("ERROR", "advice failed: KeyError: 'a\\nb'")


def test_each_level_is_one_of_pythons() -> None:
    assert all(isinstance(logging.getLevelName(name), int) for name in LEVELS.values())


@pytest.mark.parametrize(("words", "remedy"), [(("--log.format", "xml"), "'text', 'logfmt', 'json'"), (("--log.level", "loud"), "'warn'")])
def test_a_wrong_value_is_named(words: tuple[str, str], remedy: str) -> None:
    done = run("serve", *words)
    assert done.returncode == 2
    assert words[1] in done.stderr
    assert remedy in done.stderr


SECRET = "hunter2 'x"


def raising(error: BaseException) -> None:
    target = Target("me", SECRET)
    assert target
    raise error


def test_threads_and_logs_say_one_line_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(OneLineErrors("%(levelname)s %(message)s"))
    log = logging.getLogger("myisam_advisor.cli.log_lines")
    log.addHandler(handler)
    monkeypatch.setattr(log, "propagate", False)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    try:
        log_what_threads_raise()
        thread = threading.Thread(target=lambda: raising(ValueError(f"line\nbreak {SECRET}")), name="looker")
        thread.start()
        thread.join()
        try:
            raising(KeyError("a"))
        except KeyError:
            log.exception("advice failed on db")
    finally:
        log.removeHandler(handler)
    assert stream.getvalue().splitlines() == ["ERROR the thread looker ended by an internal error: ValueError: line break (password)", "ERROR advice failed on db: KeyError: 'a'"]
