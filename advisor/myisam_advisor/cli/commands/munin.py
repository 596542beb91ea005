"""`myisam-advisor munin`: the plugin's numbers where no daemon runs, and the plugin's installation."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from myisam_advisor.cli.described import WATCH, DescribedGroup
from myisam_advisor.cli.options import Command, ServerOptions, SiteOptions, server_options, site_options, was_given
from myisam_advisor.munin.places import CONFIGURATIONS, PLUGINS, socket_of

PATH = click.Path(path_type=Path)
TIMEOUT_SECONDS = 5
# Of the half second that an answer may take.
SWEEP_SECONDS = 0.2

FOR_MUNIN = """These are numbers for the munin plugin: 20 kB of JSON, which a terminal is spared.
  myisam-advisor munin | python3 -m json.tool   to read them all the same
  myisam-advisor munin install                  to link the plugin into munin-node
  myisam-advisor check                          what they say, for people"""


def _server_options(command: Command) -> Command:
    return server_options(command, TIMEOUT_SECONDS)


@click.group(
    invoke_without_command=True,
    cls=DescribedGroup,
    task=WATCH,
    examples=(
        ("sudo myisam-advisor munin install", "Link the plugin into munin-node."),
        ("sudo myisam-advisor munin uninstall", "Remove it again."),
    ),
)
@_server_options
@site_options
@click.option("--state", "state_file", type=PATH, help="File that stores mysqld's counters for the next call.")
def munin(state_file: Path | None, server: ServerOptions, site: SiteOptions) -> None:
    """Print the numbers that the munin plugin graphs, as JSON, or install the plugin.

    The plugin first asks a running daemon (serve --web.socket), and runs this command if there is none.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    if sys.stdout.isatty():
        click.echo(FOR_MUNIN)
        return
    import json

    from myisam_advisor.munin.collected import Looking, collected

    rules = site.load()
    sweep = server.page_cache_seconds if was_given("page_cache_seconds") else SWEEP_SECONDS
    look = Looking(server.timeout_seconds, server.key_caches, sweep)
    document = collected(server.target(), look, rules, state_file)
    click.echo(json.dumps(document, separators=(",", ":")))


def _places(command: Command) -> Command:
    plugins = click.option(
        "--plugins", type=PATH, default=PLUGINS, show_default=True, help="Directory of munin-node's plugins."
    )
    configurations = click.option(
        "--plugin-conf",
        "configurations",
        type=PATH,
        default=CONFIGURATIONS,
        show_default=True,
        help="Directory of the plugins' settings.",
    )
    instance = click.option(
        "--instance",
        default="",
        help="Name of this server, if munin graphs several on this machine; leave it out for the first.",
    )
    return plugins(configurations(instance(command)))


@munin.command()
@_places
@click.option("--web.socket", "unix_socket", type=PATH, help="The daemon's UNIX socket, if not the default.")
@click.option("--defaults-file", type=PATH, help="Option file for asking the server when no daemon runs.")
@click.option("--user", help="User to run the plugin as, such as mysql; only needed when no daemon runs.")
def install(
    plugins: Path,
    configurations: Path,
    instance: str,
    unix_socket: Path | None,
    defaults_file: Path | None,
    user: str | None,
) -> None:
    """Link the plugin into munin-node and write its settings. May be repeated."""
    import shutil

    from myisam_advisor.munin.installation import Settings
    from myisam_advisor.munin.installation import install as put_there

    program = shutil.which(sys.argv[0]) or sys.argv[0]
    settings = Settings(
        unix_socket or socket_of(instance), str(Path(program).absolute()), defaults_file, user, instance
    )
    click.echo("\n".join(put_there(plugins, configurations, settings)))


@munin.command()
@_places
def uninstall(plugins: Path, configurations: Path, instance: str) -> None:
    """Remove the link and the settings, unless they have been changed."""
    from myisam_advisor.munin.installation import uninstall as take_away

    click.echo("\n".join(take_away(plugins, configurations, instance)))
