"""Where the daemon listens: addresses, a UNIX socket, or what systemd opened for it."""

from __future__ import annotations

import errno
import grp
import logging
import os
import socket
from collections.abc import Sequence
from pathlib import Path

from myisam_exporter.errors import UserError
from myisam_exporter.web.server import HttpServer

FIRST_INHERITED = 3
# Of --web.listen-address: whoever gives no other asks for none.
DEFAULT_ADDRESS = "127.0.0.1:9942"
ALL_ADDRESSES = (None, "0.0.0.0", "::")  # noqa: S104 - to be known, not to listen at
_log = logging.getLogger(__name__)


def inherited_sockets() -> list[socket.socket]:
    """The sockets that systemd hands over: sd_listen_fds(3). Empty when it started us without any, or somebody else."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = os.environ.get("LISTEN_FDS", "")
    names = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")
    for name in names:
        os.environ.pop(name, None)
    sockets = []
    for number in range(FIRST_INHERITED, FIRST_INHERITED + (int(count) if count.isdigit() else 0)):
        os.set_inheritable(number, False)
        try:
            sockets.append(socket.socket(fileno=number))
        except OSError as error:
            raise UserError(f"descriptor {number} of LISTEN_FDS is not a socket ({error.strerror}).") from None
    return sockets


async def listen(
    server: HttpServer,
    addresses: Sequence[str],
    unix_socket: Path | None,
    group: str | None,
    scheme: str,
    path: str,
) -> None:
    """Listen wherever that is asked for. Sockets that systemd opened stand for the addresses of their kind.

    `path` is that of the metrics: the log tells it.

    Raises UserError naming what cannot be listened on.
    """
    inherited = inherited_sockets()
    bound: list[tuple[str, int]] = []
    for listener in inherited:
        places = await server.listen_on(listener)
        bound += places
        _told(places, scheme, path)
        if listener.family == socket.AF_UNIX:
            _log.info("listening on a UNIX socket of systemd's")
    families = {listener.family == socket.AF_UNIX for listener in inherited}
    if False in families:
        _warn_of_others(addresses, bound)
    for address in addresses if False not in families else ():
        _told(await _listen_on_address(server, address), scheme, path)
    if unix_socket is not None and True not in families:
        await _listen_on_path(server, unix_socket, group)


def _warn_of_others(addresses: Sequence[str], bound: Sequence[tuple[str, int]]) -> None:
    """Say of an address that somebody gave that it is not the one: whoever asks there is refused, and nothing else would say why."""
    for address in addresses:
        host, port = parse_address(address)
        if address != DEFAULT_ADDRESS and not any(
            port == number and host in (*ALL_ADDRESSES, name) for name, number in bound
        ):
            _log.warning(
                "not listening on %s: systemd opened the socket, and its unit says where (systemctl edit myisam-advisor.socket, ListenStream=)",
                address,
            )


async def _listen_on_address(server: HttpServer, address: str) -> list[tuple[str, int]]:
    host, port = parse_address(address)
    try:
        return await server.listen(host, port)
    except OSError as error:
        raise UserError(
            f"cannot listen on {address}: {_reason(error)}. "
            "Stop what listens there, or give another --web.listen-address."
        ) from None


def _reason(error: OSError) -> str:
    """Numbers of getaddrinfo are none of errno's."""
    if isinstance(error, socket.gaierror) or not error.errno:
        return str(error.strerror or error)
    return os.strerror(error.errno)


async def _listen_on_path(server: HttpServer, path: Path, group: str | None) -> None:
    try:
        number = grp.getgrnam(group).gr_gid if group else None
    except KeyError:
        raise UserError(f"there is no group {group!r}. Give another --web.socket-group.") from None
    try:
        await server.listen_unix(path, number)
    except OSError as error:
        remedy = (
            "Stop the daemon that answers there, or give another --web.socket."
            if error.errno == errno.EADDRINUSE
            else "Give another --web.socket, or the right to make it."
        )
        raise UserError(f"cannot listen on {path}: {error.strerror or error}. {remedy}") from None
    _log.info("listening on %s", path)


def _told(bound: Sequence[tuple[str, int]], scheme: str, path: str) -> None:
    for name, number in bound:
        shown = f"[{name}]" if ":" in name else name
        _log.info("listening on %s://%s:%d/: the page; metrics at %s", scheme, shown, number, path)


def parse_address(text: str) -> tuple[str | None, int]:
    """host:port, [v6]:port or :port (every address). Raises UserError for anything else."""
    host, colon, port = text.rpartition(":")
    if (
        not colon
        or not (port.isascii() and port.isdigit())
        or int(port) > 65535
        or (":" in host and not host.startswith("["))
    ):
        raise UserError(f"{text!r} is not an address to listen on: write 127.0.0.1:9942, [::1]:9942 or :9942.")
    return host.removeprefix("[").removesuffix("]") or None, int(port)
