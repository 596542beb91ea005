"""What an administrator's connection tells: where the server's files are and whose, and what the service's account lacks."""

from __future__ import annotations

import grp
from pathlib import Path

from myisam_advisor.rights.drop_in import Wanted
from myisam_exporter.collectors.base import Context, with_prerequisites
from myisam_exporter.collectors.server import SERVER, location_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import StatementRefusedError, UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.server import account
from myisam_exporter.server.account import Step
from myisam_exporter.server.location import Location
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import quote_account
from myisam_exporter.server.target import Target

# From here on the server makes its files without write permission for its group.
CLOSED_FILES = (8, 0)
NOTHING_SPECIAL = Wanted()
OPEN = (
    "{account} is in the server already, without a password: every user of this machine can be it, and would see what it may see. "
    "It is given nothing. If nobody else uses it, remove it ({unlogged} DROP USER {account};) and run this again"
)


@dataclass(frozen=True, slots=True)
class ServerSide:
    """What the service needs of the server, and the statements that its account lacks; `problem` says why these are not known.

    `has_account`: there is one of its name, which the statements give their rights to.
    """

    wanted: Wanted = NOTHING_SPECIAL
    steps: tuple[Step, ...] = ()
    problem: str = ""
    has_account: bool = False


def ask_server(target: Target, timeout_seconds: int, user: str) -> ServerSide:
    """Ask as whoever the target names. Nothing is raised where that fails: the rest can be done without."""
    try:
        with Session(target, timeout_seconds) as session:
            wanted = _wanted(session, target)
            try:
                steps, is_there = account.missing_steps(session, user), account.has_account(session, user)
                if is_there and account.is_open(session, user):
                    name = quote_account(user, "localhost")
                    problem = OPEN.format(account=name, unlogged=account.UNLOGGED)
                    return ServerSide(wanted, problem=problem, has_account=True)
                return ServerSide(wanted, tuple(steps), has_account=is_there)
            except StatementRefusedError as error:
                return ServerSide(wanted, problem=str(error))
    except UserError as error:
        return ServerSide(problem=str(error))


def make_account(target: Target, timeout_seconds: int, steps: tuple[Step, ...]) -> str:
    """Run the statements; why that failed, or nothing."""
    try:
        with Session(target, timeout_seconds) as session:
            account.make(session, steps)
    except UserError as error:
        return str(error)
    return ""


def _wanted(session: Session, target: Target) -> Wanted:
    samples = take_snapshot(Context(target, session), only=with_prerequisites((SERVER.name,))).samples
    closed_files = session.version.at_least(mysql=CLOSED_FILES)
    place = _place(location_of(SERVER.of(samples)))
    if place is None:
        return Wanted(closed_files=closed_files)
    return Wanted(place[1], place[0], closed_files)


def _place(location: Location) -> tuple[Path, str] | None:
    """The data directory and its group, where it belongs to the user that the server runs as: whoever lies names no other's directory."""
    directory = location.data_directory
    if isinstance(directory, Unknown):
        return None
    try:
        resolved = directory.resolve()
        status = resolved.stat()
        if status.st_uid != location.owner or status.st_gid == 0:
            return None
    except OSError:
        return None
    try:
        return resolved, grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        return resolved, str(status.st_gid)
