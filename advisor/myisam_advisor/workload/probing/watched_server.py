"""A running server whose statements the kernel notes, for as long as a program holds the probes: where it has what is learned by two sessions of ours."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from myisam_advisor.workload.log_settings import flavour_of, present_settings
from myisam_advisor.workload.probing.decoding import begun_sessions
from myisam_advisor.workload.probing.executions import Executions
from myisam_advisor.workload.probing.kernel import attached, loaded, made_maps
from myisam_advisor.workload.probing.learning import ProcessMemory, learn
from myisam_advisor.workload.probing.parameters import Style
from myisam_advisor.workload.probing.place import INSTEAD, Offsets, Place, places_of
from myisam_advisor.workload.probing.program import Maps, begin_program, end_program
from myisam_advisor.workload.probing.ring import Records, Ring
from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.location import locate
from myisam_exporter.server.server_process import server_processes
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import quote_text, statement
from myisam_exporter.server.target import Target

# A second of 20,000 statements each; it is mapped twice, and the whole recorder is to stay below 64 MiB.
RING_BYTES = 8 << 20
_PROC = Path("/proc")
# Of servers that started when this one did; each costs a quarter of a second.
_MAXIMUM_PROCESSES, _PAUSES_SECONDS = 8, (0.0, 0.05, 0.2)
_NAME_ITS_SOCKET = (
    "Where it runs in a container of this machine, run this on the machine itself, and name its socket as that sees it: --socket /proc/PID/root/run/mysqld/mysqld.sock, "
    "with the number that its process (mysqld, mariadbd) has there."
)


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
            self._offsets: Offsets | None = None
            self._place: Place
            self._find(file)
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
        return Path(f"/proc/{self.pid}/exe").exists()

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
            address = _address_of(session, ring, file)
            if address is None:
                raise self._unseen()
            return address

        return found

    def _find(self, file: BinaryIO) -> None:
        """Its process, and where a probe goes in that: the one in which the kernel sees what we send. Raises UserError."""
        session = self._sessions[0]
        uptime = session.status_number("Uptime")
        location = locate(self.present, uptime, session.peer_process(), session.target.may_be_local, _PROC)
        named = [] if isinstance(location.pid, Unknown) else [location.pid]
        # Behind a proxy, or in a container, others are asked whether they are it.
        others = server_processes(uptime, _PROC) if session.target.may_be_local else []
        refused, unseen = list[UserError](), 0
        for pid in [*named, *(pid for pid in others if pid not in named)][:_MAXIMUM_PROCESSES]:
            try:
                if self._is_seen_in(pid, file):
                    return
                unseen += 1
                if pid in named:
                    raise self._unseen()
            except ServerLostError:
                raise
            except UserError as error:
                refused.append(error)
        # What is wrong with another server is not what is wrong with this one.
        raise refused[0] if refused and (named or not unseen) else self._unknown(location.pid)

    def _is_seen_in(self, pid: int, file: BinaryIO) -> bool:
        """Whether what we send is seen in this process. Raises UserError where it cannot be probed."""
        places = places_of(pid)
        for place in places:
            self.pid, self._place = pid, place
            with self.probes(file) as (ring, _):
                if _address_of(self.session, ring, file) is not None:
                    return True
        self._place = places[0]
        return False

    def _unseen(self) -> UserError:
        if self._place.is_replaced:
            return UserError(
                f"the server's program was replaced on disk inside its container since it started, and the old one is in no layer of its files: restart the server. {INSTEAD}"
            )
        return UserError(
            f"the probe does not see the server's statements (build id {self.build_id or 'unknown'}). {INSTEAD}"
        )

    def _unknown(self, why: int | Unknown) -> UserError:
        reason = why.reason if isinstance(why, Unknown) else "it is another one"
        remedy = _NAME_ITS_SOCKET if self.session.target.may_be_local else "Run this on its host."
        return UserError(f"the server's process is not known: {reason}. {remedy} {INSTEAD}")


def _address_of(session: Session, ring: Ring, file: BinaryIO) -> int | None:
    """Of a session's THD, where the kernel notes what that session sends. A record may be lost, or held up by another one that is being written."""
    mark = f"myisam-advisor {secrets.token_hex(8)}"
    for pause in _PAUSES_SECONDS:
        time.sleep(pause)
        session.rows(statement("DO {}", quote_text(mark)))
        ring.empty()
        for address, text in begun_sessions(Records(file)):
            if mark.encode() in text:
                return address
    return None
