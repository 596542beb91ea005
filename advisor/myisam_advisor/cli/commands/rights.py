"""`myisam-advisor rights`: what the service may see, what would let it see more, and giving and taking that."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from myisam_advisor.cli.described import FAILED, SET_UP, ConnectionOption, Described
from myisam_advisor.cli.options import Command, ServerOptions, format_option, server_options, was_given, with_options
from myisam_advisor.cli.said_why import said_why
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError, shortened

if TYPE_CHECKING:
    from myisam_advisor.rights.looking import Identity
    from myisam_advisor.rights.recipe import Recipe
    from myisam_advisor.rights.service import Service
    from myisam_advisor.rights.sights import Sight

NOT_SEEN = 1
NO_SERVICE = (
    "there is no service here to give rights to: systemd does not run, or has no {name}. Install the Debian package "
    "(or the units of systemd/), or name the unit (--service)."
)
NOT_ROOT = "only root may change what the service may do: sudo myisam-advisor rights {option}."
NEEDS_SERVER = "Only a running server shows what the account may see and where its files are."
NOBODY_ASKED = "--apply asks before it changes anything, and there is no terminal to ask on: read what `rights` prints, then add --yes."
# What makes another login of a daemon's.
LOGIN_WORDS = frozenset({
    "--user", "-u", "--host", "-h", "--port", "-P", "--defaults-file", "--defaults-extra-file", "--defaults-group-suffix", "--login-path", "--password", "-p",
})  # fmt: skip
MAY_CHANGE = (
    ". That user may change the server, which a watcher should not: give it one of its own (User=myisam-advisor)"
)
# Of the options that say where the server is: the service is asked to find it there too.
PLACES = ("host", "port", "socket")


@dataclass(frozen=True, slots=True)
class View:
    """What was found: as whom it was looked, and what is to be done about it."""

    who: str
    service: Service | None
    identity: Identity | None
    sights: list[Sight]
    recipe: Recipe | None


def _own_options(command: Command) -> Command:
    return with_options(
        command,
        (
            click.option("--apply", "applies", is_flag=True, help="Grant the service what it lacks, after showing the changes and asking. Needs root."),
            click.option("--yes", "is_sure", is_flag=True, help="With --apply: do not ask."),
            click.option("--undo", "takes_back", is_flag=True, help="Remove the drop-in that --apply wrote, and restart the service. Needs root."),
            click.option("--service", "service_name", metavar="NAME", default="myisam-advisor.service", show_default=True, help="The service's systemd unit."),
            format_option(),
        ),
    )  # fmt: skip


@click.command(
    cls=Described,
    task=SET_UP,
    examples=(
        ("sudo myisam-advisor rights", "What the service can and cannot see, and which right is missing."),
        ("sudo myisam-advisor rights --apply", "Grant the missing rights: shows them, asks, applies, checks again."),
        ("sudo myisam-advisor rights --undo", "Remove the drop-in."),
    ),
    statuses=(
        ("0", "Everything that exists here and is switched on can be seen."),
        ("1", "Something cannot be seen."),
        FAILED,
    ),
)
@_own_options
@server_options
def rights(
    applies: bool, is_sure: bool, takes_back: bool, service_name: str, format_name: str, server: ServerOptions
) -> None:
    """Show which user the service runs as, what it can see and what it lacks; with --apply, grant what is missing.

    Without a service, it shows what you can see yourself. --apply writes one drop-in, creates the account if you may, and restarts the
    service; the connection options are used to create the account.
    """
    from myisam_advisor.rights.service import full_name, read_service

    if applies and takes_back:
        raise click.UsageError("--apply and --undo are opposites: give one of them.")
    if is_sure and not applies:
        raise click.UsageError("--yes is for --apply.")
    name = full_name(service_name)
    service = read_service(name)
    if takes_back:
        _undo(_changeable(service, name, "--undo"), format_name)
        return
    if applies:
        _changeable(service, name, "--apply")
        if not is_sure and not sys.stdin.isatty():
            raise UserError(NOBODY_ASKED)
    view = _looked(service, name, server)
    done: list[str] = []
    if applies and view.recipe is not None and view.recipe.is_needed:
        done = _applied(view.recipe, server, is_sure, format_name)
        view = _looked(read_service(name), name, server)
    _show(view, done, format_name)


def _changeable(service: Service | None, name: str, option: str) -> Service:
    if os.geteuid() != 0:
        raise UserError(NOT_ROOT.format(option=option))
    if service is None:
        raise UserError(NO_SERVICE.format(name=name))
    return service


def _looked(service: Service | None, name: str, server: ServerOptions) -> View:
    if service is None or os.geteuid() != 0:
        return _as_oneself(service, name, server)
    from myisam_advisor.rights.looking import daemon_words, identity_of, look_as
    from myisam_advisor.rights.recipe import recipe_of
    from myisam_advisor.rights.server_side import ask_server
    from myisam_advisor.rights.sights import sights_of

    identity = identity_of(service)
    own_words = _connection_words(daemon_words(service))
    document = look_as(identity, [*own_words, *_place_words(server)], service.state_directory)
    sights = sights_of(document)
    account = service.user_name
    recipe = recipe_of(
        service,
        identity,
        sights,
        ask_server(server.target(), server.timeout_seconds, account),
        own_login=_has_own_login(own_words),
    )
    return View(_who_runs(service, identity, document), service, identity, sights, recipe)


def _as_oneself(service: Service | None, name: str, server: ServerOptions) -> View:
    """Where there is no service, or where its user cannot be taken on."""
    from myisam_advisor.cli.examination import examination_as_document, examine, who_asks
    from myisam_advisor.history.paths import history_path
    from myisam_advisor.rights.sights import sights_of

    target = server.target()
    with said_why(NEEDS_SERVER):
        who = who_asks(target, server.timeout_seconds)
        examinations = examine(target, server.timeout_seconds, server.key_caches, ())
    sights = sights_of(examination_as_document(examinations, who, history_path()))
    if service is None:
        who = f"{who}. There is no {name} here, so this is what you can see yourself"
    else:
        who = f"{who}. {service.name} runs as {service.user_name}: run `rights` as root to see what the service sees"
    return View(who, service, None, sights, None)


def _who_runs(service: Service, identity: Identity, document: dict[str, Any]) -> str:
    from myisam_advisor.rights.sights import MAXIMUM_CHARACTERS

    state = "runs" if identity.process is not None else "does not run; it would run"
    groups = ", ".join(service.groups) or "none"
    who = document.get("who")
    asks = f". {shortened(who, MAXIMUM_CHARACTERS)}" if isinstance(who, str) else ""
    warning = MAY_CHANGE if service.is_master else ""
    return f"{service.name} {state} as {service.user_name} (further groups: {groups}; capabilities: {identity.told()}){asks}{warning}"


def _connection_words(words: Sequence[str]) -> list[str]:
    """Of the words of a daemon those that say which server it asks, and how."""
    from myisam_advisor.cli.commands.base import Commands

    command = Commands("all").get_command(click.get_current_context(), "serve")
    assert command is not None
    options = {name: one for one in command.params if isinstance(one, ConnectionOption) for name in one.opts}
    found: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        option = options.get(word.partition("=")[0])
        if option is None:
            continue
        found.append(word)
        if not option.is_flag and "=" not in word and waiting:
            found.append(waiting.pop(0))
    return found


def _has_own_login(words: Sequence[str]) -> bool:
    """Whether a daemon of these words logs in otherwise than by its own name on the server's socket."""
    return any(word.partition("=")[0] in LOGIN_WORDS for word in words)


def _place_words(server: ServerOptions) -> list[str]:
    """Where the server is, as it was given here."""
    return [f"--{name}={getattr(server, name)}" for name in PLACES if was_given(name)]


def _applied(recipe: Recipe, server: ServerOptions, is_sure: bool, format_name: str) -> list[str]:
    from myisam_advisor.rights.recipe import apply
    from myisam_advisor.rights.server_side import make_account
    from myisam_advisor.rights.text import recipe_as_text

    # A program that reads JSON reads only that.
    stream = sys.stderr if format_name == "json" else sys.stdout
    print("These changes will be made:", file=stream)
    print(recipe_as_text(recipe, stream), end="", file=stream, flush=True)
    if not is_sure:
        click.confirm("Apply them?", abort=True, err=format_name == "json")
    target = server.target()
    return apply(recipe, lambda steps: make_account(target, server.timeout_seconds, steps))


def _undo(service: Service, format_name: str) -> None:
    from myisam_advisor.rights.recipe import drop_account, undo

    done = undo(service)
    if format_name == "json":
        from myisam_advisor.rights.document import undone

        print(json.dumps(undone(service, done), indent=1))
        return
    for line in done or ["nothing to remove: --apply wrote no drop-in"]:
        click.echo(line)
    if not service.is_master:
        click.echo(f"the account stays (it can only read); to remove it: {drop_account(service)}")


def _show(view: View, done: Sequence[str], format_name: str) -> None:
    from myisam_advisor.rights.sights import all_seen

    if format_name == "json":
        from myisam_advisor.rights.document import rights_document

        print(json.dumps(rights_document(view.who, view.service, view.sights, view.recipe, done), indent=1))
    else:
        from myisam_advisor.rights.text import rights_as_text

        for line in done:
            click.echo(line)
        print(rights_as_text(view.who, view.sights, view.recipe, sys.stdout), end="")
    if not all_seen(view.sights):
        sys.exit(NOT_SEEN)
