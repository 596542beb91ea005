"""What `myisam-advisor munin` remembers of mysqld from one call to the next, where no daemon does.

Switches and page-cache hits are growth between two readings of the same threads, which no single reading shows. The file lies among
other plugins' files: it is read as numbers, never as objects, and replaced whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from myisam_exporter.collectors.status import Status
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.process import ProcessIo, ProcessSample
from myisam_exporter.metrics.base import Running
from myisam_exporter.outside.documents import DocumentError, parse_json
from myisam_exporter.outside.foreign_files import read_small

FORMAT = 1
# What page_cache_hits.py wants of the status besides the process.
STATUS = ("Uptime", "Innodb_data_read", "Ssl_accepts", "Ssl_finished_accepts")
NUMBERS = ("pid", "started_ticks", "threads", "user_ticks", "system_ticks", "minor_faults", "major_faults")
MAXIMUM_AGE_SECONDS = 3600.0
# Ten thousand threads take half of it.
MAXIMUM_BYTES = 1 << 20
MAXIMUM_MEMORY_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class ProcessState:
    """An earlier reading (monotonic seconds of this boot), and the counters kept so far."""

    moment: float
    process: ProcessSample
    status: Status
    running: Running

    def seconds_until(self, moment: float) -> float | None:
        """The interval that begins with it; None where it is none."""
        seconds = moment - self.moment
        return seconds if 0 < seconds <= MAXIMUM_AGE_SECONDS else None


def read_state(path: Path) -> ProcessState | None:
    """The state in this file; None where there is none that can be used."""
    try:
        content = read_small(path, MAXIMUM_BYTES).decode("utf-8")
        document = parse_json(content, MAXIMUM_MEMORY_BYTES)
        return _state(document) if document["format"] == FORMAT else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, DocumentError):
        return None


def write_state(path: Path, state: ProcessState) -> None:
    """Replace the file. Raises OSError where that is not possible."""
    process = state.process
    document = {
        "format": FORMAT,
        "moment": state.moment,
        "process": {name: getattr(process, name) for name in NUMBERS},
        "switches": {str(thread): list(counted) for thread, counted in process.switches.items()},
        "io": None if isinstance(process.io, Unknown) else [process.io.calls, process.io.bytes, process.io.storage_bytes],
        "status": {name: number for name in STATUS if (number := state.status.number(name)) is not None},
        "totals": [[list(key), total] for key, total in state.running.totals.items()],
    }  # fmt: skip
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _state(document: Mapping[str, Any]) -> ProcessState:
    io = document["io"]
    numbers: dict[str, Any] = {name: int(document["process"][name]) for name in NUMBERS}
    process = ProcessSample(
        **numbers,
        switches={int(thread): (int(one), int(other)) for thread, (one, other) in document["switches"].items()},
        io=Unknown("not known then") if io is None else ProcessIo(*map(int, io)),
        resident_bytes=None,
        anonymous_bytes=None,
        open_files=Unknown("not kept"),
        open_files_limit=None,
        mapped=Unknown("not kept"),
    )
    running = Running()
    for key, total in document["totals"]:
        running.totals[tuple(map(str, key))] = float(total)
    status = Status({str(name): float(value) for name, value in document["status"].items()})
    return ProcessState(float(document["moment"]), process, status, running)
