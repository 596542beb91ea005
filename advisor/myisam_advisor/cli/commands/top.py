"""`myisam-advisor top`: what happens now, on a screen that changes."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.described import WATCH, Described
from myisam_advisor.cli.options import Duration, ServerOptions, SiteOptions, server_options, site_options, was_given

if TYPE_CHECKING:
    from collections.abc import Callable

    from myisam_advisor.top.looking import Looker
    from myisam_advisor.workload.kinds.watch import StatementWatch

DEFAULT_INTERVAL = "2s"
LEAST_INTERVAL_SECONDS = 0.5
OF_A_SERVER = ("defaults_files", "host", "port", "socket", "user")
# The one that systemd opens: myisam-advisor-munin.socket.
DAEMON_SOCKET = "/run/myisam-advisor-munin.sock"


class Pace(Duration):
    """A pause between two looks: not so short that watching becomes the load."""

    name = "duration"
    maximum_seconds = 3600.0
    maximum = "an hour"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        seconds = super().convert(value, param, ctx)
        if seconds < LEAST_INTERVAL_SECONDS:
            self.fail(f"{value!r} is too short: write {LEAST_INTERVAL_SECONDS * 1000:.0f}ms or more", param, ctx)
        return seconds


@click.command(
    cls=Described,
    task=WATCH,
    examples=(
        ("sudo myisam-advisor top", "What this machine's server is doing, every two seconds."),
        ("sudo myisam-advisor top --statements", "Also show which kinds of statements hold the locks (key t)."),
        ("myisam-advisor top --once", "One screen as plain text, for a pipe."),
    ),
)
@server_options
@click.option(
    "--interval",
    type=Pace(),
    default=DEFAULT_INTERVAL,
    show_default=True,
    help="Time between two looks, at least 500ms; longer if a look takes longer.",
)
@click.option(
    "--daemon",
    "daemon_socket",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=DAEMON_SOCKET,
    metavar="[SOCKET]",
    help=f"Show what a running daemon saw last, at the daemon's interval, instead of asking the server [SOCKET: {DAEMON_SOCKET}].",
)
@click.option(
    "--statements",
    is_flag=True,
    help="Also show which kinds of statements hold locks and scan, without their values (key t), while this runs.",
)
@click.option("--once", is_flag=True, help="Print one screen as plain text, after one interval, and end.")
@site_options
def top(
    interval: float, daemon_socket: Path | None, statements: bool, once: bool, server: ServerOptions, site: SiteOptions
) -> None:
    """Watch the server live: the verdict, its key caches, its most active tables.

    Keys select, sort and filter tables, and show everything known about one; ? lists them, q quits. It opens no table and takes no lock.
    """
    if daemon_socket is not None:
        _refuse_a_server()
        if statements:
            raise click.UsageError("--statements watches a server: leave out --daemon, or --statements.")
    from myisam_advisor.top import screen
    from myisam_advisor.top.from_daemon import FromDaemon

    # It runs for as long as somebody watches: unlike a command of a moment it has to give memory back.
    gc.enable()
    looks = (
        _looker(server, site, interval, statements)
        if daemon_socket is None
        else FromDaemon(daemon_socket, server.timeout_seconds)
    )
    try:
        label = looks.connect()
        if once:
            print(screen.once(looks, label, interval if daemon_socket is None else 0.0, sys.stdout), end="")
        else:
            screen.run(looks, label, interval)
    finally:
        looks.close()


def _refuse_a_server() -> None:
    """A daemon has a server of its own."""
    named = next((name for name in OF_A_SERVER if was_given(name)), None)
    if named is not None:
        option = f"--{named.removesuffix('s') if named == 'defaults_files' else named}".replace("_", "-")
        raise click.UsageError(f"--daemon shows the server that the daemon watches: leave out {option}, or --daemon.")


def _looker(server: ServerOptions, site: SiteOptions, interval: float, statements: bool) -> Looker:
    from myisam_advisor.top.looking import Looker
    from myisam_exporter.watching.options import WatchOptions

    options = WatchOptions(
        timeout_seconds=server.timeout_seconds,
        page_cache_seconds=min(server.page_cache_seconds, interval),
        key_caches=server.key_caches,
    )
    return Looker(server.target, options, site.load(), _watch_of(server) if statements else None)


def _watch_of(server: ServerOptions) -> Callable[[], StatementWatch]:
    from myisam_advisor.workload.kinds.choosing import watch_statements

    return lambda: watch_statements(server.target(), server.timeout_seconds)
