"""The account that the advisor needs in the server, and nothing more, as statements for this server's version.

Sources: MariaDB and MySQL manuals, "CREATE USER", "Pluggable Authentication: Socket"; what each right brings was tried on four servers.
"""

from __future__ import annotations

from myisam_exporter.errors import UserError
from myisam_exporter.sql import quote_account
from myisam_exporter.version_number import ServerVersion

PROCESS = "PROCESS ON *.*"
PERFORMANCE_SCHEMA = "SELECT ON performance_schema.*"
# What each right brings; without one these facts are unknown, and `doctor` says so.
REASONS = {
    PROCESS: "all connections and the state of each",
    PERFORMANCE_SCHEMA: "waits for locks, rows read by table",
}
# From here on MariaDB has unix_socket built in, and takes IDENTIFIED VIA without installing it.
SOCKET_BUILT_IN = (10, 4)


def statements(version: ServerVersion, account: str, host: str, *, by_password: bool) -> list[str]:
    """CREATE USER and GRANT, each with a comment why, in the order to run them.

    Without a password the operating system's user of that name is the proof, which works on the same machine only. Raises UserError
    for names that cannot stand in a statement.
    """
    for name in (account, host):
        if not name.isprintable():
            raise UserError(f"{name!r} cannot be an account here: it holds a control character.")
    quoted_account = quote_account(account, host)
    created = (
        _with_password(quoted_account) if by_password or host != "localhost" else _by_socket(version, quoted_account)
    )
    return [*created, *(f"GRANT {right} TO {quoted_account};  -- {reason}" for right, reason in REASONS.items())]


def _with_password(account: str) -> list[str]:
    return [f"CREATE USER {account} IDENTIFIED BY '...';  -- your password, which goes into the option file too"]


def _by_socket(version: ServerVersion, account: str) -> list[str]:
    proof = "-- no password: the operating system's user of that name"
    once = "-- unless SHOW PLUGINS lists it already"
    if version.flavour == "mariadb":
        built_in = version.at_least(mariadb=SOCKET_BUILT_IN)
        install = [] if built_in else [f"INSTALL SONAME 'auth_socket';  {once}"]
        return [*install, f"CREATE USER {account} IDENTIFIED VIA unix_socket;  {proof}"]
    return [
        f"INSTALL PLUGIN auth_socket SONAME 'auth_socket.so';  {once}",
        f"CREATE USER {account} IDENTIFIED WITH auth_socket;  {proof}",
    ]
