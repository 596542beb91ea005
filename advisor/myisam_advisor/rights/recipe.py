"""What would give the service the rights it lacks: a drop-in, statements for its account, a restart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from myisam_advisor.rights.drop_in import (
    NAME,
    drop_in_text,
    is_outdated,
    present_text,
    remove_drop_in,
    state_of,
    write_drop_in,
)
from myisam_advisor.rights.looking import Identity
from myisam_advisor.rights.server_side import ServerSide
from myisam_advisor.rights.service import Service, restart, stop_process_reader
from myisam_advisor.rights.sights import HIDDEN, LOGIN, NOT_KNOWN, PROCESSLIST, WAITS, Sight
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.kernel.rights import FILES_DROP_IN
from myisam_exporter.server.account import UNLOGGED, Step
from myisam_exporter.server.sql import quote_account, statement

DAC_READ_SEARCH = frozenset({"cap_2", "cap_dac_read_search"})
OWN_LOGIN = (
    "the service has a login of its own (its command line, an option file), which is left alone: what that account "
    "needs is printed by myisam-advisor grants --account NAME"
)
OTHER_LOGIN = (
    "{account} is in the server already and does not let the service in: it has a password or another plugin, or is locked or expired. "
    "It is left alone: what it may see helps nobody who is refused. See SHOW CREATE USER {account}; (MySQL 5.7, MariaDB 10.2 and later). "
    "If nobody else uses it, remove it ({removal}) and run this again; if its password is known, give the service that in an option file (password.conf)"
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to do, each part empty where it is not needed.

    `present` is what lies under the drop-in's name now; `account_problem` tells why the account's statements are not known.
    """

    service: Service
    drop_in: str
    present: str | None
    steps: tuple[Step, ...]
    account_problem: str
    restarts: bool

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.drop_in or self.steps or self.restarts)

    @property
    def path(self) -> Path:
        """Where the drop-in goes."""
        return self.service.drop_in_folder / NAME

    @property
    def replaces(self) -> str:
        """Whose drop-in lies there: absent, ours or foreign."""
        return state_of(self.present)

    @property
    def restart_lines(self) -> tuple[str, ...]:
        """The way by hand."""
        return ("systemctl daemon-reload", f"systemctl restart {self.service.name}") if self.restarts else ()


def recipe_of(
    service: Service, identity: Identity, sights: Sequence[Sight], server: ServerSide, *, own_login: bool
) -> Recipe:
    """What the service lacks and can be given. Raises UserError for a name that has no place in a unit file."""
    wants_files = any(_by_drop_in(sight) for sight in sights)
    present = present_text(service.drop_in_folder)
    text = drop_in_text(server.wanted) if wants_files or is_outdated(present) else ""
    lacks_account = any(sight.name in (LOGIN, PROCESSLIST, WAITS) and sight.state == HIDDEN for sight in sights)
    refused = any(sight.name == LOGIN and sight.state == HIDDEN for sight in sights) and server.has_account
    steps = server.steps if lacks_account and not own_login and not refused and not service.is_master else ()
    problem = _account_problem(service, server, own_login=own_login, refused=refused) if lacks_account else ""
    is_new = bool(text) and text != present
    waits = bool(text) and not DAC_READ_SEARCH & set(identity.capabilities)
    return Recipe(service, text if is_new else "", present, steps, problem, is_new or waits or bool(steps))


def apply(recipe: Recipe, make_account: Callable[[tuple[Step, ...]], str]) -> list[str]:
    """Do it; what was done, line by line. What a restart does not survive is taken back. Raises UserError."""
    done = write_drop_in(recipe.service.drop_in_folder, recipe.drop_in) if recipe.drop_in else []
    if recipe.steps:
        problem = make_account(recipe.steps)
        done.append(
            f"the account was not made: {problem}" if problem else f"made the account: {len(recipe.steps)} statements"
        )
    if not recipe.restarts:
        return done
    try:
        restart(recipe.service)
    except UserError as error:
        if not recipe.drop_in:
            raise
        account = " The account stays." if recipe.steps else ""
        raise UserError(f"{error} {_taken_back(recipe.service)}.{account}") from None
    return [*done, f"restarted {recipe.service.name}"]


def _taken_back(service: Service) -> str:
    """Take the drop-in away that the service does not start with."""
    done = "; ".join(remove_drop_in(service.drop_in_folder))
    try:
        restart(service)
        stop_process_reader(service)
    except UserError:
        return f"Taken back ({done}), and it does not start without the drop-in either"
    return f"Taken back ({done}): the service runs as before"


def undo(service: Service) -> list[str]:
    """Take the drop-in away, and what runs by it; what was done. Raises UserError."""
    done = remove_drop_in(service.drop_in_folder)
    if not done:
        return done
    restart(service)
    stop_process_reader(service)
    return [*done, f"restarted {service.name}"]


def drop_account(service: Service) -> str:
    """What removes the account, of this server alone as it was made; nothing for one that was there before us."""
    removed = statement("DROP USER {};", quote_account(service.user_name, "localhost"))
    return "" if service.is_master else f"{UNLOGGED} {removed}"


def _account_problem(service: Service, server: ServerSide, *, own_login: bool, refused: bool) -> str:
    """Why nothing is done for the account, where that is so."""
    if own_login:
        return OWN_LOGIN
    if refused and not service.is_master:
        account = quote_account(service.user_name, "localhost")
        return OTHER_LOGIN.format(account=account, removal=drop_account(service))
    return server.problem


def _by_drop_in(sight: Sight) -> bool:
    """Whether the drop-in would show it; while nobody could log in, what is not known yet counts."""
    if sight.state == NOT_KNOWN:
        return True
    return sight.state == HIDDEN and Path(FILES_DROP_IN).name in sight.remedy
