"""Kinds by a probe of the kernel's: each statement is noted when it begins and ends, and nothing of it is kept but its kind.

A thread moves what is noted out of the kernel's ring, and sums it up before it becomes much: nobody has to ask for it.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
import time
from collections.abc import Iterator

from myisam_advisor.workload.kinds.noted import Noted, PreparedTexts
from myisam_advisor.workload.kinds.seen import MyisamTables, SeenStatements
from myisam_advisor.workload.probing.kernel import counted
from myisam_advisor.workload.probing.known_statements import known_statements
from myisam_advisor.workload.probing.ring import Record, Records
from myisam_advisor.workload.probing.watched_server import WatchedServer
from myisam_exporter.errors import UserError
from myisam_exporter.server.target import Target

SOURCE = "a probe of the kernel's"
# So much is summed up at once: some 25,000 short statements, which takes less time than the ring takes to fill.
SUMMED_BYTES = 4 << 20
# What comes meanwhile; what is more stays in the ring, and is lost when that is full.
MAXIMUM_BYTES = 16 << 20
_PAUSE_SECONDS = 0.01


class ProbeWatch:
    """Raises UserError where there can be no probe."""

    def __init__(self, target: Target, timeout_seconds: int) -> None:
        with contextlib.ExitStack() as opened:
            # In memory: statements with their values are on no disk.
            self._file = opened.enter_context(os.fdopen(_memory_file(), "w+b"))
            self._server = opened.enter_context(WatchedServer(target, timeout_seconds, self._file))
            self._file.seek(0)
            self._file.truncate()
            ours = self._server.our_connections
            self._ring, self._maps = opened.enter_context(self._server.probes(self._file))
            known = known_statements(self._server.session)
            texts = self._server.executions(is_lossy=False, known=known, made=PreparedTexts)
            assert texts is None or isinstance(texts, PreparedTexts)
            self._noted = Noted(texts, ours, time.monotonic_ns())
            self._using, self._ended = threading.Lock(), threading.Event()
            self._fault: BaseException | None = None
            self._emptying = threading.Thread(target=self._empty, name="statements", daemon=True)
            self._emptying.start()
            self._closing = opened.pop_all()

    def take(self, tables: MyisamTables) -> SeenStatements:
        """What ended since the last time, and what goes on, as long as it has gone on since."""
        if self._fault is not None:
            raise self._fault
        if not self._server.is_there:
            raise UserError("the server that was watched has ended. Run this again.")
        with self._using:
            # First: what ends behind it is in the ring's next part.
            moment = time.monotonic_ns()
            self._ring.empty()
            self._sum_up()
            gathered, seconds, notes = self._noted.span(moment)
        return gathered.seen(SOURCE, seconds, tables, notes)

    def close(self) -> None:
        """The probes go with their descriptors."""
        self._ended.set()
        self._emptying.join()
        self._closing.close()

    def _empty(self) -> None:
        try:
            while not self._ended.wait(_PAUSE_SECONDS):
                with self._using:
                    self._ring.empty()
                    if self._file.tell() >= SUMMED_BYTES:
                        self._sum_up()
        except BaseException as error:
            self._fault = error

    def _sum_up(self) -> None:
        """All that lies in the file. What comes meanwhile lies there then."""
        lost, endless = counted(self._maps)
        self._file.seek(0)
        records = io.BytesIO(self._file.read())
        self._file.seek(0)
        self._file.truncate()
        self._noted.add(self._keeping_up(records), lost, endless)

    def _keeping_up(self, records: io.BytesIO) -> Iterator[Record]:
        emptied = time.monotonic()
        for record in Records(records):
            if time.monotonic() - emptied > _PAUSE_SECONDS and self._file.tell() < MAXIMUM_BYTES:
                self._ring.empty()
                emptied = time.monotonic()
            yield record


def _memory_file() -> int:
    try:
        return os.memfd_create("statements")
    except OSError as error:
        raise UserError(
            f"no file can be made in memory ({error.strerror}): the probe needs Linux 5.8, and a filter that allows memfd_create"
        ) from None
