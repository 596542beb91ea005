"""A log in which an error is one line, unless somebody asked for traces."""

from __future__ import annotations

import logging
import traceback

from myisam_advisor.cli.ending import reason_of, wants_traces, without_secrets


class OneLineErrors(logging.Formatter):
    """Log lines that stay one line where an exception is logged; its trace follows where traces were asked for."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, with what was raised in short."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return super().format(record)
        short = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None})
        line = f"{super().format(short)}: {reason_of(error)}"
        if not wants_traces():
            return line
        return f"{line}\n{without_secrets(''.join(traceback.format_exception(error)), error)}"
