"""The watched server as trials need it: what it says of itself, where its process and its files are, and which program it runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_advisor.trial.private.binaries import ServerChoice
    from myisam_exporter.server.location import Location
    from myisam_exporter.server.session import Session


@dataclass(frozen=True, slots=True)
class WatchedServer:
    """What it told over this session: its variables, and where it is as far as that is known."""

    session: Session
    variables: Mapping[str, str]
    location: Location

    @property
    def key(self) -> str:
        """What tells it from another server: proofs/proof.py."""
        from myisam_advisor.proofs.proof import server_key

        told = self.variables
        return server_key(told.get("hostname"), told.get("port"), told.get("datadir"))

    def directory(self, why: str, otherwise: str = "") -> Path:
        """Its data directory. Raises TrialError where that is not seen: with what it is for (`why`), and what goes without."""
        from myisam_advisor.errors import TrialError
        from myisam_exporter.facts.unknown import Unknown

        found = self.location.data_directory
        if isinstance(found, Unknown):
            raise TrialError(f"{why}, and {found.reason}: {found.remedy}.{otherwise}")
        return found

    def program(self, named: str) -> ServerChoice:
        """The program that was named; without one its own, wherever that may be. Raises TrialError where that is somebody else's."""
        from myisam_advisor.trial.private.binaries import ServerChoice, programs_of_watched
        from myisam_exporter.facts.unknown import Unknown

        if named:
            return ServerChoice.named(named)
        pid = None if isinstance(self.location.pid, Unknown) else self.location.pid
        return ServerChoice(candidates=tuple(map(str, programs_of_watched(pid, self.variables))))


def watched_server(session: Session) -> WatchedServer:
    """The server of this session, asked now. Raises UserError."""
    from myisam_exporter.server.location import locate

    variables, uptime = session.global_variables(), session.status_number("Uptime")
    location = locate(variables, uptime, session.peer_process(), session.target.may_be_local, Path("/proc"))
    return WatchedServer(session, variables, location)
