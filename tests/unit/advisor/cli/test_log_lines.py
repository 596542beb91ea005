"""One line is one entry that a reader of logfmt or JSON takes apart again, whatever was logged."""

import json
import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_advisor.cli.log_lines import LEVELS, StructuredLines
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
