"""What to say and do about each kind of failure to connect."""

from __future__ import annotations

import errno
import os
import pwd
import socket
import stat
from pathlib import Path

from myisam_exporter.errors import ServerLostError, StatementRefusedError, UserError
from myisam_exporter.files.file_state import EXHAUSTED, MORE_DESCRIPTORS
from myisam_exporter.kernel.rights import REMEDIES
from myisam_exporter.server.driver import BrokenConnectionError, UnreachableError
from myisam_exporter.server.greeting import NoServerError
from myisam_exporter.server.target import Target

# Servers' error numbers: manual, "Error Message Reference".
# The second of accounts that may log in by who runs the client; some of them take a password too (MariaDB: unix_socket OR ...).
ACCESS_DENIED, ACCESS_DENIED_NO_PASSWORD = 1045, 1698
OF_THIS_ACCOUNT, USED_UP = 1203, 1226
INIT_CONNECT_FAILED, OFFLINE, TLS_ONLY = 1184, 3032, 3159
TOO_MANY_CONNECTIONS, HOST_BLOCKED, HOST_NOT_PRIVILEGED = 1040, 1129, 1130
LOCKED_ON_MYSQL, LOCKED_ON_MARIADB = 3118, 4151
# At the login (MySQL), and at the first statement (MariaDB lets the account in, for ALTER USER alone).
EXPIRED_AT_LOGIN, EXPIRED_AT_STATEMENT = 1862, 1820
OF_THIS_PROCESS = f"The server is not at fault: {MORE_DESCRIPTORS}"
WHO_ENDS_CONNECTIONS = (
    "it was stopped or killed at that moment, or what stands before it (a proxy, a firewall) lets nobody through. "
    "Check its error log, then try again."
)
LISTENING = "Check that it runs and listens there (--socket, --host, --port)."
LOCKED = (
    "the account {user!r} is locked at {target}. ALTER USER ... ACCOUNT UNLOCK; opens it; or name another with --user."
)
EXPIRED = (
    "the password of {user!r} has expired at {target}. Give the account a new one (ALTER USER ... IDENTIFIED BY ...;) and write it "
    "into the option file, or name another account with --user."
)
ACCOUNT_LIMIT = (
    "the server at {target} allows {user!r} no more: {text}. Close its other connections or wait, raise the limit (ALTER USER or GRANT ... "
    "WITH MAX_..., or the variable), or name another account with --user."
)
SYSTEM_USER = "Over its socket it lets in the system's user of that name (unix_socket, auth_socket): run this as that user (sudo). "
# Servers refuse in the same words whether the password is wrong or TLS is missing; MariaDB up to 10.11 has no others for require_secure_transport.
NEEDS_TLS = (
    " If the password is right, the account or the server may demand TLS (REQUIRE SSL or X509, require_secure_transport): "
    "name ssl-ca in the option file."
)
NEEDS_CERTIFICATE = " If the password is right, the account may have to show a certificate (REQUIRE X509): name ssl-cert and ssl-key in the option file."
REFUSALS = {
    OF_THIS_ACCOUNT: ACCOUNT_LIMIT,
    USED_UP: ACCOUNT_LIMIT,
    INIT_CONNECT_FAILED: "the server at {target} ends each connection, as its init_connect fails: {text}. Its error log says why. "
    "Mend that variable, or name an account that it is not run for (SUPER, CONNECTION ADMIN) with --user.",
    OFFLINE: "the server at {target} is in offline mode. SET GLOBAL offline_mode=OFF; ends it; "
    "accounts with SUPER or CONNECTION_ADMIN are let in (--user).",
    TLS_ONLY: "the server at {target} lets nobody in without TLS (require_secure_transport). "
    "Name its authority's certificate (ssl-ca) in the option file, or use its socket.",
    TOO_MANY_CONNECTIONS: "the server at {target} has no connection left: {text}. Close some, or raise max_connections.",
    HOST_BLOCKED: "the server at {target} does not accept this host: {text}. See FLUSH HOSTS and the account's host part.",
    HOST_NOT_PRIVILEGED: "the server at {target} does not accept this host: {text}. See FLUSH HOSTS and the account's host part.",
    LOCKED_ON_MYSQL: LOCKED,
    LOCKED_ON_MARIADB: LOCKED,
    EXPIRED_AT_LOGIN: EXPIRED,
    EXPIRED_AT_STATEMENT: EXPIRED,
}


def explained(target: Target, error: Exception, timeout_seconds: int) -> Exception:
    """The error as one for people, with a remedy; one that is none of the driver's is returned as it is."""
    if isinstance(error, StatementRefusedError):
        return _refusal(target, error)
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno in EXHAUSTED:
        return UserError(f"no connection to {target.label} can be made: {cause.strerror}. {OF_THIS_PROCESS}")
    if isinstance(error, UnreachableError):
        return _unreachable(target, error.__cause__)
    if isinstance(error, NoServerError):
        return UserError(
            f"what answers at {target.label} is not a MySQL or MariaDB server. Check the port (--port), or the socket (--socket)."
        )
    if isinstance(error, BrokenConnectionError):
        if isinstance(cause, (ConnectionError, EOFError)):
            why = f"ended the connection before it had answered ({error}): {WHO_ENDS_CONNECTIONS}"
        else:
            why = f"accepted the connection but did not answer within {timeout_seconds} s ({error}): it hangs, is stopped or is starting up."
        return ServerLostError(f"the server at {target.label} {why}")
    return error


def _refusal(target: Target, error: StatementRefusedError) -> UserError:
    number, text = error.number, error.text
    if number in (ACCESS_DENIED, ACCESS_DENIED_NO_PASSWORD):
        origin = (
            f"The password came {target.password_origin}."
            if target.password_origin
            else "No option file gave a password, and -p did not ask for one."
        )
        return UserError(
            f"the server at {target.label} refused the user {target.user!r}: {text}. "
            f"{_way_without_password(target, number)}{origin} "
            "Give another --user, an option file with the right password (--defaults-file), or type it (-p)."
            f"{_way_that_it_wants(target) if number == ACCESS_DENIED else ''}"
        )
    message = REFUSALS.get(number, "could not connect to {target}: {text} (error {number}).")
    return UserError(message.format(target=target.label, user=target.user, text=text, number=number))


def _way_without_password(target: Target, number: int) -> str:
    """How else one gets in: as the account's system user, or, where we come as that one already, with an account that is there."""
    if target.socket and not target.password and os.geteuid() != 0 and target.user == _system_user():
        return REMEDIES.make_account
    return SYSTEM_USER if number == ACCESS_DENIED_NO_PASSWORD else ""


def _system_user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return ""  # as of a container's user that is a number alone


def _way_that_it_wants(target: Target) -> str:
    """What else than a wrong password the refusal may mean."""
    if not target.password or target.tls.certificate:
        return ""
    return NEEDS_CERTIFICATE if target.tls.wanted else NEEDS_TLS


def _unreachable(target: Target, cause: BaseException | None) -> UserError:
    if isinstance(cause, OSError) and cause.errno == errno.ENOENT and target.socket:
        return UserError(f"no server: the socket {target.socket} does not exist. {REMEDIES.reach_socket}")
    if target.socket and _is_something_else(target.socket):
        return UserError(f"no server: {target.socket} is not a socket. {REMEDIES.reach_socket}")
    if isinstance(cause, socket.gaierror):
        return UserError(f"no host of the name {target.host} is known: {cause.strerror}. Check the name (--host).")
    if isinstance(cause, OSError) and cause.errno == errno.EACCES and target.socket:
        return UserError(f"no server answers at {target.label}: {cause.strerror}. {REMEDIES.enter_socket}")
    why = "it did not answer in time" if isinstance(cause, TimeoutError) else getattr(cause, "strerror", None) or cause
    return UserError(f"no server answers at {target.label}: {why}. {LISTENING}")


def _is_something_else(path: Path) -> bool:
    """Whether a file or a directory is there, where the server's socket should be."""
    try:
        return not stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return False
