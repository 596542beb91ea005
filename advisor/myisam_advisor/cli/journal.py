"""Lines of a log that systemd's journal keeps: it has the time itself, and takes the priority from the head of a line.

Source: systemd.exec(5), JOURNAL_STREAM; sd-daemon(3), SD_WARNING and its kin; systemd.exec(5), SyslogLevelPrefix=
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Mapping
from typing import TextIO

from myisam_advisor.cli.one_line_errors import OneLineErrors

_PRIORITIES = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}


class JournalLines(OneLineErrors):
    """Without a time, and each line with its priority: a trace has several."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The lines."""
        priority = _PRIORITIES.get(record.levelno, 6)
        return "\n".join(f"<{priority}>{line}" for line in super().format(record).splitlines())


def lines_for(stream: TextIO, environment: Mapping[str, str] = os.environ) -> OneLineErrors:
    """How lines for this stream are written."""
    return (
        JournalLines() if _is_journal(stream, environment) else OneLineErrors("%(asctime)s %(levelname)s %(message)s")
    )


def _is_journal(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether it is the very stream that systemd connected: whoever starts us from a service may have sent it elsewhere."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        state = os.fstat(stream.fileno())
        return environment.get("JOURNAL_STREAM", "") == f"{state.st_dev}:{state.st_ino}"
    return False
