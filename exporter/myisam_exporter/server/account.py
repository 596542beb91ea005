"""The account that the advisor needs in the server, and nothing more, as statements for this server's version.

Sources: MariaDB and MySQL manuals, "CREATE USER", "Pluggable Authentication: Socket"; what each right brings was tried on four servers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from myisam_exporter.errors import UserError
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.granting import READ_PERFORMANCE_SCHEMA, SEE_PROCESSES
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import Sql, comment, quote_account, statement
from myisam_exporter.server.version_number import ServerVersion

# What each right brings; without one these facts are unknown, and `doctor` says so.
REASONS = {
    SEE_PROCESSES: "all connections and the state of each",
    READ_PERFORMANCE_SCHEMA: "waits for locks, rows read by table",
}
# An option: without it the same things are unknown as ever, and everything else is there.
REPLICATION_REASON = "lag and errors of a replica"
# From here on MariaDB has unix_socket built in, and takes IDENTIFIED VIA without installing it.
SOCKET_BUILT_IN = (10, 4)
# Of this server alone: made on a replica it would be a transaction that its source does not have, and on a source it would end the
# replication to whoever has an account of that name already (error 1396), or lacks it (1133, 1410) or the plugin (1524).
UNLOGGED = statement("SET SESSION sql_log_bin = 0;")
UNLOGGED_REASON = "kept out of the binary log: no replica is told, and no source lacks it"
LOGGED_AGAIN = statement("SET SESSION sql_log_bin = 1;")
LOGGED_AGAIN_REASON = "for whatever else is run in this session"
ACCOUNTS = "SELECT COUNT(*) FROM mysql.user WHERE User = %s AND Host = 'localhost'"
# By one of the plugins that a password is of, and none: every user of this machine may log in. From MySQL 5.7 on there is one column for it.
OPEN_ACCOUNTS = (
    "SELECT COUNT(*) FROM mysql.user WHERE User = %s AND Host = 'localhost' AND COALESCE(authentication_string, '') = '' "
    "AND COALESCE(plugin, '') IN ('', 'mysql_native_password', 'mysql_old_password', 'sha256_password', 'caching_sha2_password')"
)
OPEN_ACCOUNTS_OF_OLD = OPEN_ACCOUNTS + " AND Password = ''"
SOCKET_PLUGINS = "SELECT PLUGIN_NAME FROM information_schema.PLUGINS WHERE PLUGIN_STATUS = 'ACTIVE' AND PLUGIN_NAME IN ('unix_socket', 'auth_socket')"
# Characters of names: MySQL manual, "Grant Tables" and the release notes of 5.7.8 and 8.0.17; MariaDB 10.6.1, MDEV-24312. Tried on four servers.
LONG_USERS_MYSQL, LONG_HOSTS_MYSQL, LONG_NAMES_MARIADB = (5, 7, 8), (8, 0, 17), (10, 6, 1)


class Step(NamedTuple):
    """One statement, and why it is there."""

    command: Sql
    reason: str


def maximum_lengths(version: ServerVersion) -> tuple[int, int]:
    """How many characters the names of a user and of its host may have."""
    if version.flavour == "mariadb":
        if version.at_least(mariadb=LONG_NAMES_MARIADB):
            return 128, 255
        return (80, 60) if version.at_least(mariadb=(10, 0)) else (16, 60)
    return 32 if version.at_least(mysql=LONG_USERS_MYSQL) else 16, 255 if version.at_least(
        mysql=LONG_HOSTS_MYSQL
    ) else 60


def replication_right(version: ServerVersion) -> Sql | None:
    """What SHOW REPLICA STATUS wants (SHOW ALL SLAVES STATUS on MariaDB); None where it is not asked, which see collectors/replica.py."""
    if version.at_least(mariadb=(10, 5, 9)):
        return statement("SLAVE MONITOR ON *.*")
    return statement("REPLICATION CLIENT ON *.*") if version.at_least(mysql=(8, 0, 22)) else None


def statements(
    version: ServerVersion, account: str, host: str, *, by_password: bool, replication: bool = False, has_plugin: bool = False, unlogged: bool = False
) -> list[Sql]:  # fmt: skip
    """CREATE USER and GRANT, each with a comment why, in the order to run them.

    Those with `replication` let a replica be asked for its lag too. `has_plugin`: the server can tell the system's users already.
    `unlogged`: they are kept out of the server's binary log.
    Without a password the operating system's user of that name is the proof, which works on the same machine only. Raises UserError
    for names that cannot stand in a statement, and where this version's lag is not asked for.
    """
    _refuse_unusable(version, account, host)
    quoted_account = quote_account(account, host)
    by_system = _by_socket(version, quoted_account, has_plugin=has_plugin)
    created = _with_password(quoted_account) if by_password or host != "localhost" else by_system
    rights = dict(REASONS)
    if replication:
        right = replication_right(version)
        if right is None:
            raise UserError(
                f"a replica of version {version.text} is not asked for its lag (before MySQL 8.0.22 and MariaDB 10.5.9): leave out --replication."
            )
        rights[right] = REPLICATION_REASON
    steps = [*created, *_granted(quoted_account, rights)]
    if unlogged:
        steps = [Step(UNLOGGED, UNLOGGED_REASON), *steps, Step(LOGGED_AGAIN, LOGGED_AGAIN_REASON)]
    return [with_reason(step) for step in steps]


def _granted(account: Sql, rights: Mapping[Sql, str]) -> list[Step]:
    return [Step(statement("GRANT {} TO {};", right, account), reason) for right, reason in rights.items()]


def missing_steps(session: Session, account: str) -> list[Step]:
    """Of what `statements` lists for a system user on this machine, that which is not there yet: its GRANTs, and CREATE USER where there is none.

    Where the server has a binary log, they are kept out of it: the service is this machine's, and so is its account. Raises
    StatementRefusedError where this session may not look, and as `statements` does.
    """
    version = session.version
    _refuse_unusable(version, account, "localhost")
    quoted_account = quote_account(account, "localhost")
    unlogged = [Step(UNLOGGED, UNLOGGED_REASON)] if logs_changes(session) else []
    is_there = has_account(session, account)
    created = [] if is_there else _by_socket(version, quoted_account, has_plugin=has_socket_plugin(session))
    return [*unlogged, *created, *_granted(quoted_account, REASONS)]


def logs_changes(session: Session) -> bool:
    """Whether the server has a binary log, from which replicas would run what is made here."""
    return bool(whole_number(session.row("SELECT @@log_bin", 1)[0]))


def has_account(session: Session, account: str) -> bool:
    """Whether the server has an account of this name for this machine, whatever it logs in by. Raises StatementRefusedError."""
    return bool(whole_number(session.row(ACCOUNTS, 1, (account,))[0]))


def is_open(session: Session, account: str) -> bool:
    """Whether that account has no password, and so is everybody's on this machine. Raises StatementRefusedError."""
    asked = OPEN_ACCOUNTS if session.version.at_least(mysql=(5, 7)) else OPEN_ACCOUNTS_OF_OLD
    return bool(whole_number(session.row(asked, 1, (account,))[0]))


def has_socket_plugin(session: Session) -> bool:
    """Whether the server can tell the system's users, so that nothing is to be installed: that would fail (error 1125)."""
    return bool(session.rows(SOCKET_PLUGINS, columns=1))


def make(session: Session, steps: Iterable[Step]) -> None:
    """Run them. The session may write from then on: it belongs to an administrator who asked for this.

    Raises StatementRefusedError at the first that the server refuses.
    """
    if session.version.at_least(mysql=(5, 6), mariadb=(10, 0)):
        session.rows("SET SESSION TRANSACTION READ WRITE")
    for step in steps:
        session.rows(step.command)


def _refuse_unusable(version: ServerVersion, account: str, host: str) -> None:
    user_limit, host_limit = maximum_lengths(version)
    if not account:
        raise UserError(
            f"an account without a name would let everybody in: give --account a name of 1 to {user_limit} characters."
        )
    for option, name, limit in (("--account", account, user_limit), ("--account-host", host, host_limit)):
        if not name.isprintable():
            raise UserError(f"{name!r} cannot be an account here: it holds a control character.")
        if len(name) > limit:
            raise UserError(
                f"the name for {option} has {len(name)} characters: version {version.text} takes {limit} at most, give a shorter one."
            )


def with_reason(step: Step) -> Sql:
    """The statement as it is printed."""
    return statement("{}  {}", step.command, comment(step.reason))


def _with_password(account: Sql) -> list[Step]:
    # No valid SQL as it stands: whoever pipes it into a client makes no account with a password that is printed here.
    created = statement("CREATE USER {} IDENTIFIED BY <password>;", account)
    return [Step(created, "your password in quotes, which goes into the option file too")]


def _by_socket(version: ServerVersion, account: Sql, *, has_plugin: bool) -> list[Step]:
    proof = "no password: the operating system's user of that name"
    once = "unless SHOW PLUGINS lists it already; where the server has no such file: grants --password"
    if version.flavour == "mariadb":
        is_there = has_plugin or version.at_least(mariadb=SOCKET_BUILT_IN)
        install = [] if is_there else [Step(statement("INSTALL SONAME 'auth_socket';"), once)]
        return [*install, Step(statement("CREATE USER {} IDENTIFIED VIA unix_socket;", account), proof)]
    install = [] if has_plugin else [Step(statement("INSTALL PLUGIN auth_socket SONAME 'auth_socket.so';"), once)]
    return [*install, Step(statement("CREATE USER {} IDENTIFIED WITH auth_socket;", account), proof)]
