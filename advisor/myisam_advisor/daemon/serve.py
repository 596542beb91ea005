"""`myisam-advisor serve`: puts the exporter, the rules and the history together, and runs them until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import logging
import os
import resource
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.advice import Advice
from myisam_advisor.daemon.board import Board
from myisam_advisor.daemon.notify import Notifier
from myisam_advisor.daemon.options import ServeOptions
from myisam_advisor.daemon.pages import Pages
from myisam_advisor.daemon.sockets import listen
from myisam_advisor.daemon.supervision import supervise
from myisam_advisor.history.paths import history_path
from myisam_advisor.history.writer import History
from myisam_advisor.migrate.refused_here import KeptRefusals
from myisam_advisor.proofs.store import proof_stores
from myisam_advisor.rights.drop_in import NAME, is_outdated, present_text
from myisam_advisor.rights.service import DROP_IN_ROOT, SERVICE
from myisam_advisor.texts.templates import count, duration, printable
from myisam_exporter.collectors.base import NOT_TRACED
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.tracepoints import PageCacheTracer
from myisam_exporter.look.table_choice import TableChooser, table_pattern
from myisam_exporter.server.default_sockets import is_a_servers
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.followers import Follower
from myisam_exporter.watching.probe_targets import ProbeTargets, read_probe_targets
from myisam_exporter.web.access import Access
from myisam_exporter.web.allowed_hosts import AllowedHosts
from myisam_exporter.web.application import MAXIMUM_SCRAPES, Exporter
from myisam_exporter.web.gate import Gate
from myisam_exporter.web.public_address import public_address
from myisam_exporter.web.server import HttpServer

# Readings under way at once: one a scrape, and as many that hang and were given up.
READERS = 2 * MAXIMUM_SCRAPES
DESCRIPTORS = 65_536
SWITCH_SECONDS = 0.001
M_ARENA_MAX = -8  # mallopt(3)
MEMORY_ARENAS = 2
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _InForce:
    """The rules and the site's wishes; a reload replaces them whole, or not at all."""

    site: Site


def serve(options: ServeOptions) -> NoReturn:
    """Run until SIGTERM or SIGINT. Raises UserError for a configuration that cannot be used, before anything is served."""
    _settle_in()
    status = asyncio.run(_serve(options))
    logging.shutdown()
    sys.stdout.flush()
    # A thread that waits for a hung server would keep the interpreter from ending.
    os._exit(status)


async def _serve(options: ServeOptions) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    notifier = Notifier()
    gate = Gate(options.web.web_config_file)
    address = public_address(
        options.web.external_url, options.web.route_prefix, "https" if gate.settings.tls else "http"
    )
    hosts = AllowedHosts([*options.web.allowed_hosts, *filter(None, [address.host])])
    in_force = _InForce(_load_site(options))
    history = _history(options)
    tracer = _tracer(options)
    board = Board(_history_file(options))
    fleet = _fleet(replace(options, watch=replace(options.watch, tracer=tracer)), in_force, history, board)
    pages = Pages(fleet, board, lambda: in_force.site.rules, options.web.telemetry_path)

    exporter = Exporter(
        fleet,
        Access(gate, hosts, options.web.enable_lifecycle),
        partial(_reload, options, in_force, fleet, loop),
        pages.further_page,
        pages.routes(),
        options.web.telemetry_path,
        options.web.maximum_scrapes,
        not options.web.no_process_metrics,
        address,
    )
    server = HttpServer(exporter.handle, gate.tls)
    path = f"{address.prefix}{options.web.telemetry_path}"
    await _begin(options, server, history, address.scheme, path)

    def reload_for_systemd() -> None:
        notifier.reloading()
        exporter.reload_configuration()
        notifier.ready()

    loop.add_signal_handler(signal.SIGHUP, lambda: loop.run_in_executor(None, reload_for_systemd))
    if not options.collect.no_own_server:
        fleet.watch_own(_label(options), options.resolve)
    _tell_what_runs(options, fleet, history)
    supervision = loop.create_task(supervise(notifier, fleet, board))
    await loop.run_in_executor(None, pages.warm_up)
    gc.collect()
    gc.freeze()  # what was imported stays: collecting garbage need not look at it again
    await stop.wait()
    _log.info("stopping")
    supervision.cancel()
    notifier.stopping()
    await server.close()
    _close(fleet, history, tracer)
    return 0


def _reload(
    options: ServeOptions, in_force: _InForce, fleet: Fleet, loop: asyncio.AbstractEventLoop
) -> Callable[[], None]:
    """Read everything anew, then give what puts it into force. Raises UserError for what cannot be used: then nothing changes."""
    targets = _targets(options)
    fresh = _load_site(options)
    own = _named_server(options) if not options.collect.no_own_server else None

    def put_into_force() -> None:
        in_force.site = fresh
        loop.call_soon_threadsafe(fleet.reload, targets)
        if own is not None:
            loop.call_soon_threadsafe(fleet.move_own, own, options.resolve)
        fleet.renew_connections()

    return put_into_force


def _close(fleet: Fleet, history: History | None, tracer: PageCacheTracer | Unknown) -> None:
    """What is left once nobody asks any more."""
    fleet.close()
    if history is not None:
        history.close()
    if not isinstance(tracer, Unknown):
        tracer.close()


async def _begin(options: ServeOptions, server: HttpServer, history: History | None, scheme: str, path: str) -> None:
    """Listen, and then make the history: a daemon that cannot listen leaves no file behind, into which another user's could not write."""
    try:
        web = options.web
        await listen(server, web.listen_addresses, web.unix_socket, web.socket_group, scheme, path)
        if history is not None:
            history.begin()
    except UserError:
        await server.close()
        raise


def _tell_what_runs(options: ServeOptions, fleet: Fleet, history: History | None) -> None:
    """Which server is watched, and what is remembered: the addresses were told."""
    watched = f"watching {printable(fleet.own.label)}" if fleet.own else "watching no server of our own"
    listed = len(fleet.targets.listed)
    probed = f", and {count(listed)} that may be probed" if listed else ""
    remembered = "no history is kept (--no-history)" if history is None else history.in_words()
    _log.info(
        "%s%s, a look each %s; %s", watched, probed, duration(options.watch.background_seconds), printable(remembered)
    )
    _tell_of_old_rights()


def _tell_of_old_rights(folder: Path = DROP_IN_ROOT / f"{SERVICE}.d") -> None:
    """An upgrade brings other drop-ins than the one that `rights` made of the former ones, and leaves that alone."""
    with contextlib.suppress(UserError):
        if is_outdated(present_text(folder)):
            _log.warning(
                "%s was made by another version of this program: sudo myisam-advisor rights --apply renews it",
                folder / NAME,
            )


def _load_site(options: ServeOptions) -> Site:
    site = options.load_site()
    for warning in site.warnings:
        _log.warning("%s", warning)
    return site


def _tracer(options: ServeOptions) -> PageCacheTracer | Unknown:
    """The tracepoints, where they are asked for and possible; why not, otherwise."""
    if not options.collect.precise_page_cache:
        return NOT_TRACED
    try:
        return PageCacheTracer()
    except UserError as error:
        _log.warning("--collect.page-cache.precise: %s", error)
        return Unknown(str(error))


def _label(options: ServeOptions) -> str:
    try:
        return options.resolve().label
    except UserError:
        return "the server"


def _named_server(options: ServeOptions) -> str | None:
    """The server that the options name; None where nobody named one, and none is at a default place now. Raises UserError as `resolve` does."""
    target = options.resolve()
    is_away = target.is_found and target.socket is not None and not is_a_servers(target.socket)
    return None if is_away else target.label


def _history_file(options: ServeOptions) -> Path | None:
    """Where the history is kept; None where none is to be."""
    return None if options.history.no_history else options.history.history_file or history_path()


def _history(options: ServeOptions) -> History | None:
    file = _history_file(options)
    if file is None:
        return None
    return History(
        file,
        options.history.history_days,
        options.history.history_megabytes,
        pause_seconds=options.watch.background_seconds,
        begins_later=True,
    )


def _fleet(options: ServeOptions, in_force: _InForce, history: History | None, board: Board) -> Fleet:
    include = table_pattern(options.collect.tables_include, "--collect.tables.include")
    exclude = table_pattern(options.collect.tables_exclude, "--collect.tables.exclude")

    def refusals(label: str) -> KeptRefusals:
        return KeptRefusals(lambda: fleet.session_of(label), options.watch.proc)

    followers: list[Follower] = [
        Advice(lambda: in_force.site, history, board, proofs=proof_stores(), refusals=refusals)
    ]
    if history is not None:
        followers.append(history)
    fleet = Fleet(
        options.watch,
        ThreadPoolExecutor(READERS, thread_name_prefix="read"),
        lambda: TableChooser(options.collect.tables_limit, include, exclude),
        followers,
        _targets(options),
    )
    return fleet


def _targets(options: ServeOptions) -> ProbeTargets:
    return read_probe_targets(
        options.collect.targets_file,
        options.defaults_files,
        allow_cleartext=options.allow_cleartext,
        further=options.further.for_others,
    )


def _settle_in() -> None:
    """Collect garbage again, which commands of a moment do not; keep glibc from an arena of memory per thread; share the interpreter.

    Each target takes two descriptors, or three: as many are used as the hard limit allows (systemd's soft limit is for programs that use select).
    """
    gc.enable()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, DESCRIPTORS) if hard >= 0 else DESCRIPTORS, hard))
    # A look at many tables holds the interpreter; a scrape asks for it at every read of a file or socket.
    sys.setswitchinterval(SWITCH_SECONDS)
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, MEMORY_ARENAS)
