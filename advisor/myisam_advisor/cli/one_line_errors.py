"""A log in which an entry is one line, whatever is in it, and an error one too, unless somebody asked for traces."""

from __future__ import annotations

import logging
import traceback

from myisam_advisor.cli.ending import reason_of, wants_traces, without_secrets


class OneLineErrors(logging.Formatter):
    """Log lines that stay one line, also where an exception is logged; its trace follows where traces were asked for.

    Names and messages of others stand in them: none begins another entry, or steers the terminal on which the log is read.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, with what was raised in short."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return self.shown(super().format(record))
        short = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None})
        line = self.shown(f"{super().format(short)}: {reason_of(error)}")
        if not wants_traces():
            return line
        trace = without_secrets("".join(traceback.format_exception(error)), error)
        return f"{line}\n{self.shown(trace, keep_newlines=True)}"

    def shown(self, text: str, keep_newlines: bool = False) -> str:
        """What may be written of a text."""
        from myisam_advisor.texts.templates import printable

        return printable(text, keep_newlines)
