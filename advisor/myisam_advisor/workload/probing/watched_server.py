"""A running server whose statements the kernel notes, for as long as a program holds the probes: where it has what is learned by two sessions of ours."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from myisam_advisor.workload.log_settings import flavour_of, present_settings
from myisam_advisor.workload.probing.decoding import begun_sessions
from myisam_advisor.workload.probing.executions import Executions
from myisam_advisor.workload.probing.kernel import attached, loaded, made_maps
from myisam_advisor.workload.probing.learning import ProcessMemory, learn
from myisam_advisor.workload.probing.parameters import Style
from myisam_advisor.workload.probing.place import INSTEAD, Offsets, place_of
from myisam_advisor.workload.probing.program import Maps, begin_program, end_program
from myisam_advisor.workload.probing.ring import Records, Ring
from myisam_exporter.errors import UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.location import locate
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import quote_text, statement
from myisam_exporter.server.target import Target

# A second of 20,000 statements each; it is mapped twice, and the whole recorder is to stay below 64 MiB.
RING_BYTES = 8 << 20


class WatchedServer:
    """Use it as a context manager. Raises UserError where there can be no probe.

    Args:
        target: the server, which is to run on this machine.
        timeout_seconds: of a question to it.
        file: what the kernel writes while it is learned where the server has what.
    """

    def __init__(self, target: Target, timeout_seconds: int, file: BinaryIO) -> None:
        with contextlib.ExitStack() as opened:
            self._sessions = [opened.enter_context(Session(target, timeout_seconds)) for _ in range(2)]
            for session in self._sessions:
                session.stay()
            self.present = present_settings(self._sessions[0])
            self.pid = self._process()
            self._place = place_of(self.pid)
            self._offsets: Offsets | None = None
            with self.probes(file) as (ring, _), ProcessMemory(self.pid) as memory:
                is_parsed = bool(self._place.layout.union)
                first, second = self._sessions
                found = self._session_of(ring, file)
                self._offsets = learn(memory, (first, second), found, self.build_id, is_parsed)
            self._closing = opened.pop_all()

    def __enter__(self) -> WatchedServer:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._closing.close()

    @property
    def session(self) -> Session:
        """To ask the server something."""
        return self._sessions[0]

    @property
    def build_id(self) -> str:
        """Of the binary that it runs; empty where that has none."""
        return self._place.build_id

    @property
    def our_connections(self) -> frozenset[int]:
        """As the server counts them."""
        return frozenset(session.connection_number() for session in self._sessions)

    @property
    def is_there(self) -> bool:
        """Whether its process has not ended."""
        return os.path.exists(f"/proc/{self.pid}/exe")  # noqa: PTH110

    @property
    def questions(self) -> float:
        """How many it has been asked."""
        return self.session.status_number("Questions") or 0.0

    @contextlib.contextmanager
    def probes(self, file: BinaryIO) -> Iterator[tuple[Ring, Maps]]:
        """The server watched: it ends with the descriptors, and so with this process. Raises UserError."""
        with contextlib.ExitStack() as opened:
            maps = made_maps(RING_BYTES, opened)
            ring = opened.enter_context(Ring(maps.ring, RING_BYTES, file))
            # The end first: no begin is seen whose end is not.
            programs = (
                (end_program(maps, self._place.layout), True),
                (begin_program(maps, self._place.layout, self._offsets), False),
            )
            for code, at_return in programs:
                program = loaded(code)
                opened.callback(os.close, program)
                opened.callback(os.close, attached(program, self._place, self.pid, at_return))
            yield ring, maps

    def executions(
        self,
        *,
        is_lossy: bool,
        known: Mapping[tuple[int, int], bytes],
        made: Callable[[Style, Mapping[tuple[int, int], bytes], bool], Executions] = Executions,
    ) -> Executions | None:
        """What prepared statements are told by, with those that were prepared before; None where their numbers are not known."""
        offsets = self._offsets
        if offsets is None or offsets.prepared is None or (self._place.layout.union and offsets.packet is None):
            return None
        has_typed_times = flavour_of(self.present) == "mariadb"
        escapes = "NO_BACKSLASH_ESCAPES" not in self.present.get("sql_mode", "")
        return made(Style(has_typed_times, escapes), known, is_lossy)

    def _session_of(self, ring: Ring, file: BinaryIO) -> Callable[[object], int]:
        def found(session: object) -> int:
            assert isinstance(session, Session)
            mark = f"myisam-advisor {secrets.token_hex(8)}"
            session.rows(statement("DO {}", quote_text(mark)))
            ring.empty()
            for address, text in begun_sessions(Records(file)):
                if mark.encode() in text:
                    return address
            raise UserError(
                f"the probe does not see the server's statements (build id {self.build_id or 'unknown'}). {INSTEAD}"
            )

        return found

    def _process(self) -> int:
        session = self._sessions[0]
        uptime = session.status_number("Uptime")
        location = locate(self.present, uptime, session.peer_process(), session.target.may_be_local, Path("/proc"))
        if isinstance(location.pid, Unknown):
            raise UserError(
                f"the server's process is not known: {location.pid.reason}. Run this on its host. {INSTEAD}"
            )
        return location.pid
