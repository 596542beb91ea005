"""One server to watch: where it is, and as whom to ask it."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from myisam_exporter.errors import UserError
from myisam_exporter.option_files import CLIENT_GROUPS, Options, read_option_files, standard_files

DEFAULT_SOCKETS = (
    Path("/run/mysqld/mysqld.sock"),
    Path("/var/run/mysqld/mysqld.sock"),
    Path("/var/lib/mysql/mysql.sock"),
    Path("/tmp/mysql.sock"),
)
DEFAULT_PORT = 3306
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Target:
    """How to reach one server. The password is no part of its representation."""

    user: str
    password: str = field(default="", repr=False)
    host: str = "localhost"
    port: int = DEFAULT_PORT
    socket: Path | None = None
    tls: dict[str, str] = field(default_factory=dict)
    tls_mode: str = ""
    password_origin: str = ""

    @property
    def label(self) -> str:
        """The target as a person names it."""
        return str(self.socket) if self.socket else f"{self.host}:{self.port}"

    @property
    def may_be_local(self) -> bool:
        """Whether the server may run on this machine; the process itself is verified elsewhere."""
        return self.socket is not None or self.host in LOCAL_HOSTS


def target_from_options(
    defaults_files: Sequence[Path] = (),
    user: str | None = None,
    host: str | None = None,
    port: int | None = None,
    socket: Path | None = None,
    groups: Sequence[str] = CLIENT_GROUPS,
) -> Target:
    """A target from option files (these `groups` of them) and what was given beside them; what was given wins.

    Raises UserError for an unreadable option file, for two that hold different passwords, and for a bad port.
    """
    options = read_option_files(list(defaults_files) or standard_files(), groups)
    _refuse_two_passwords(options, defaults_files)
    chosen_host = host or options.value("host") or "localhost"
    chosen_socket = socket or (_socket(options) if chosen_host == "localhost" and port is None else None)
    tls = {
        key: value
        for key, name in (("ca", "ssl-ca"), ("cert", "ssl-cert"), ("key", "ssl-key"), ("capath", "ssl-capath"))
        if (value := options.value(name))
    }
    return Target(
        user=user or options.value("user") or getpass.getuser(),
        password=options.value("password") or "",
        host=chosen_host,
        port=port or _port(options),
        socket=chosen_socket,
        tls=tls,
        tls_mode=(options.value("ssl-mode") or "").upper(),
        password_origin=options.origin("password"),
    )


def _refuse_two_passwords(options: Options, given: Sequence[Path]) -> None:
    if len(given) < 2 or "password" not in options.settings:
        return
    chosen = options.settings["password"]
    for other in options.overridden.get("password", []):
        if other.value != chosen.value:
            raise UserError(
                f"{other.path} (line {other.line}) and {chosen.path} (line {chosen.line}) hold different passwords. Give one --defaults-file only."
            )


def _socket(options: Options) -> Path:
    """The socket that localhost stands for, as the client programs have it: the configured one, or the first that exists."""
    configured = options.value("socket")
    if configured:
        return Path(configured)
    return next((path for path in DEFAULT_SOCKETS if path.exists()), DEFAULT_SOCKETS[0])


def _port(options: Options) -> int:
    text = options.value("port")
    if text is None:
        return DEFAULT_PORT
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise UserError(f"port {text!r} {options.origin('port')} is no port number: give one from 1 to 65535.")
    return int(text)
