"""The daemon's log on standard error: lines for people, or as Prometheus's exporters write them, in logfmt or JSON.

Source: prometheus/common, promslog: the keys time, level, source and msg, levels in capitals.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from typing import Any

from myisam_advisor.cli.journal import lines_for
from myisam_advisor.cli.one_line_errors import OneLineErrors

# promslog's names beside Python's.
LEVELS = {"debug": "DEBUG", "info": "INFO", "warn": "WARNING", "warning": "WARNING", "error": "ERROR"}
_NAMES = {"WARNING": "WARN", "CRITICAL": "ERROR"}


class _Within(OneLineErrors):
    """A message to be put between quotes, where JSON's escapes keep it in its line, and give it back as it was."""

    def shown(self, text: str, keep_newlines: bool = False) -> str:
        """All of it."""
        return text


class StructuredLines(logging.Formatter):
    """A line with keys; a message of several lines, or with anything else in it, stays within its quotes."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._is_json = form == "json"
        self._message = _Within("%(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        keys = {
            "time": f"{seconds}.{int(record.msecs):03}Z",
            "level": _NAMES.get(record.levelname, record.levelname),
            "source": record.name,
            "msg": self._message.format(record),
        }
        if self._is_json:
            return json.dumps(keys)
        return " ".join(f"{key}={json.dumps(value) if key == 'msg' else value}" for key, value in keys.items())


def begin_log(level: str, form: str) -> None:
    """Log from this level on, in this form."""
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(lines_for(sys.stderr) if form == "text" else StructuredLines(form))
    logging.basicConfig(level=LEVELS[level], handlers=[lines])


def log_what_threads_raise() -> None:
    """A thread's or a destructor's exception is one line of the log, and the process goes on."""
    log = logging.getLogger(__name__)

    def of_thread(arguments: Any) -> None:
        if arguments.exc_value is not None:
            name = getattr(arguments.thread, "name", "unknown")
            log.error("the thread %s ended by an internal error", name, exc_info=arguments.exc_value)

    def unraisable(arguments: Any) -> None:
        if arguments.exc_value is not None:
            log.error("%s", arguments.err_msg or "an internal error while cleaning up", exc_info=arguments.exc_value)

    threading.excepthook = of_thread
    sys.unraisablehook = unraisable
