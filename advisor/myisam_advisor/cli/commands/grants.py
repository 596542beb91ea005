"""`myisam-advisor grants`: the account to make in the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.described import SET_UP, Described
from myisam_advisor.cli.options import Command, ServerOptions, server_options
from myisam_advisor.cli.said_why import said_why
from myisam_exporter.errors import UserError, brief

if TYPE_CHECKING:
    from myisam_exporter.server.version_number import ServerVersion

NEEDS_VERSION = (
    "The statements differ between versions, so the server is asked for its own: --server-version VERSION "
    "(10.11.6-MariaDB, 8.4.2) prints them without a server."
)
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


def _server_options(command: Command) -> Command:
    """--password is another thing here."""
    return server_options(command, password_names=("-p",))


@click.command(
    cls=Described,
    task=SET_UP,
    examples=(
        ("myisam-advisor grants | sudo mysql", "Create an account for the system user of the same name."),
        ("myisam-advisor grants --replication", "Also grant what shows a replica's lag and errors."),
        (
            "myisam-advisor grants --password --account-host 10.0.0.%",
            "An account with a password, for connections from other hosts.",
        ),
    ),
)
@_server_options
@click.option("--account", default="myisam-advisor", show_default=True, help="Name of the account.")
@click.option("--account-host", default="localhost", show_default=True, help="Host it connects from.")
@click.option(
    "--password", "by_password", is_flag=True, help="Authenticate with a password instead of the system user."
)
@click.option("--replication", is_flag=True, help="Also grant what shows a replica's lag and errors.")
@click.option("--server-version", help="Print for this version (10.11.6-MariaDB, 8.4.2) without asking a server.")
def grants(
    account: str,
    account_host: str,
    by_password: bool,
    replication: bool,
    server_version: str | None,
    server: ServerOptions,
) -> None:
    """Print the statements that create an account with only the rights the advisor needs."""
    from myisam_advisor.migrate.replication import is_replica
    from myisam_exporter.server.account import has_socket_plugin, logs_changes, statements
    from myisam_exporter.server.session import Session

    has_plugin = unlogged = False
    if server_version is not None:
        version = _version_given(server_version)
    else:
        with said_why(NEEDS_VERSION), Session(server.target(), server.timeout_seconds) as session:
            version, has_plugin = session.version, has_socket_plugin(session)
            # An account for this machine is this server's alone, as `rights` makes it; one for other machines may be for all replicas, too.
            unlogged = logs_changes(session) and (account_host in THIS_MACHINE or is_replica(session))
    found = statements(
        version,
        account,
        account_host,
        by_password=by_password,
        replication=replication,
        has_plugin=has_plugin,
        unlogged=unlogged,
    )
    click.echo("\n".join(found))


def _version_given(text: str) -> ServerVersion:
    """The version on the command line. Raises UserError for what is none."""
    from myisam_exporter.server.version_number import parse_version

    try:
        return parse_version(text)
    except UserError:
        raise UserError(f"--server-version {brief(text)} holds no number such as 10.11.6-MariaDB or 8.4.2.") from None
