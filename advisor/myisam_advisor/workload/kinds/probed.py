"""Kinds by a probe of the kernel's: each statement is noted when it begins and ends, and nothing of it is kept but its kind."""

from __future__ import annotations

import contextlib
import io
import os
import threading
import time
from collections.abc import Collection

from myisam_advisor.texts.templates import number_of
from myisam_advisor.workload.kinds.seen import Gathered, SeenStatements, Sums
from myisam_advisor.workload.probing.decoding import Decoder
from myisam_advisor.workload.probing.executions import CUT_OFF, Executions
from myisam_advisor.workload.probing.kernel import counted
from myisam_advisor.workload.probing.known_statements import known_statements
from myisam_advisor.workload.probing.parameters import NotDecodedError
from myisam_advisor.workload.probing.ring import Records
from myisam_advisor.workload.probing.watched_server import WatchedServer
from myisam_advisor.workload.sources.base import Reading
from myisam_advisor.workload.table_references import Table
from myisam_exporter.errors import UserError
from myisam_exporter.server.target import Target

SOURCE = "a probe of the kernel's"
# Of what was noted and not yet read: what does not fit is counted as lost.
MAXIMUM_BYTES = 48 << 20
_PAUSE_SECONDS = 0.01


class PreparedTexts(Executions):
    """Of an execution the text that was prepared, whose values nobody asks for."""

    def executed(self, connection: int, packet: bytes | None) -> bytes:
        """That text. Raises NotDecodedError."""
        if packet is None or len(packet) < 4:
            raise NotDecodedError(CUT_OFF)
        found = self._found(connection, packet)
        if found.text is None:
            raise NotDecodedError(CUT_OFF)
        return found.text


class ProbeWatch:
    """Raises UserError where there can be no probe."""

    def __init__(self, target: Target, timeout_seconds: int) -> None:
        with contextlib.ExitStack() as opened:
            # In memory: statements with their values are on no disk.
            self._file = opened.enter_context(os.fdopen(os.memfd_create("statements"), "w+b"))
            self._server = opened.enter_context(WatchedServer(target, timeout_seconds, self._file))
            self._file.seek(0)
            self._file.truncate()
            self._ours = self._server.our_connections
            self._ring, self._maps = opened.enter_context(self._server.probes(self._file))
            known = known_statements(self._server.session)
            texts = self._server.executions(is_lossy=False, known=known, made=PreparedTexts)
            self._decoder = Decoder((time.time_ns() - time.monotonic_ns()) // 1000, texts)
            self._using, self._ended, self._lost = threading.Lock(), threading.Event(), 0
            self._began = time.monotonic()
            self._emptying = threading.Thread(target=self._empty, name="statements", daemon=True)
            self._emptying.start()
            self._closing = opened.pop_all()

    def take(self, tables: Collection[Table]) -> SeenStatements:
        """What ended since the last time, and what goes on, as long as it has gone on since."""
        if not self._server.is_there:
            raise UserError("the server that was watched has ended. Run this again.")
        now, moment = time.monotonic(), time.time_ns() // 1000
        records, seconds = self._taken(), max(now - self._began, 1e-3)
        self._began = now
        gathered, reading = Gathered(), Reading(resolution_microseconds=1)
        for event in self._decoder.ended(Records(io.BytesIO(records)), reading):
            lasted = (event.duration_microseconds or 0) / 1e6
            if event.connection not in self._ours:
                gathered.add(event.statement, event.database, Sums(1, min(lasted, seconds)))
        for event in self._decoder.going_on():
            if event.connection not in self._ours:
                lasted = max(moment - event.start_microseconds, 0) / 1e6
                gathered.add(event.statement, event.database, Sums(0, min(lasted, seconds)))
        return gathered.seen(SOURCE, seconds, tables, self._notes(reading))

    def close(self) -> None:
        """The probes go with their descriptors."""
        self._ended.set()
        self._emptying.join()
        self._closing.close()

    def _taken(self) -> bytes:
        with self._using:
            self._ring.empty()
            self._file.seek(0)
            records = self._file.read()
            self._file.seek(0)
            self._file.truncate()
        return records

    def _empty(self) -> None:
        while not self._ended.wait(_PAUSE_SECONDS):
            with self._using:
                if self._file.tell() < MAXIMUM_BYTES:
                    self._ring.empty()

    def _notes(self, reading: Reading) -> list[str]:
        notes = ["How long a statement waited for its tables the probe does not tell: it counts as having held them."]
        lost, _ = counted(self._maps)
        if lost > self._lost:
            notes.append(
                f"{number_of(lost - self._lost, 'statement')} came faster than they were read: no kind has them."
            )
        self._lost = lost
        notes += [
            f"Of no kind: {number_of(number, 'statement')} ({reason})." for reason, number in reading.left_out.items()
        ]
        return notes
