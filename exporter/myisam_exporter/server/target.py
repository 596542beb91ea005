"""One server to watch: where it is, and as whom to ask it."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.server.default_sockets import default_socket
from myisam_exporter.server.option_files import CLIENT_GROUPS, NOTHING_FURTHER, Further, Options, read_option_files
from myisam_exporter.server.tls import Tls, tls_from_options

DEFAULT_PORT = 3306
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
# How a password may be proved, by the names of MySQL's plugins: by hashes (caching_sha2_password once by itself, over TLS or a socket), and over TLS by itself.
HASHING_PLUGINS = frozenset({"mysql_native_password", "client_ed25519", "caching_sha2_password"})
SENDING_PLUGINS = frozenset({"sha256_password"})
ALL_PLUGINS = HASHING_PLUGINS | SENDING_PLUGINS
PROTOCOLS = ("TCP", "SOCKET")
TYPED = "from the terminal"


@dataclass(frozen=True, slots=True)
class Target:
    """How to reach one server. The password is no part of its representation.

    `is_found` says that nobody named the socket: then it must be a server's own. `allow_cleartext` lets a hashed password, and all
    that is asked, travel to another host without TLS. `plugins` are those by which the password may be proved.
    """

    user: str
    password: str = field(default="", repr=False)
    host: str = "localhost"
    port: int = DEFAULT_PORT
    socket: Path | None = None
    tls: Tls = field(default_factory=Tls)
    password_origin: str = ""
    is_found: bool = False
    allow_cleartext: bool = False
    plugins: frozenset[str] = ALL_PLUGINS

    @property
    def label(self) -> str:
        """The target as a person names it."""
        return str(self.socket) if self.socket else f"{self.host}:{self.port}"

    @property
    def may_be_local(self) -> bool:
        """Whether the server may run on this machine; the process itself is verified elsewhere."""
        return self.socket is not None or self.host in LOCAL_HOSTS


def target_from_options(
    defaults_files: Sequence[Path],
    user: str | None = None,
    host: str | None = None,
    port: int | None = None,
    socket: Path | None = None,
    groups: Sequence[str] = CLIENT_GROUPS,
    *,
    password: str | None = None,
    further: Further = NOTHING_FURTHER,
    allow_cleartext: bool = False,
) -> Target:
    """A target from option files (these `groups` of them), what is read `further`, and what was given beside them; what was given wins.

    Raises UserError for an unreadable option file, for two that hold different passwords, for a bad port, where nobody is named and who
    runs this has no name, and for an option that says how the password may travel and cannot be honoured.
    """
    options = read_option_files(defaults_files, groups, further)
    _refuse_two_passwords(options, defaults_files)
    chosen_host = host or options.value("host") or "localhost"
    protocol = _protocol(options)
    by_socket = chosen_host == "localhost" and port is None and protocol != "TCP"
    configured = options.value("socket")
    chosen_socket = socket or (Path(configured) if configured and by_socket else None)
    is_found = chosen_socket is None and by_socket
    return Target(
        user=user or options.value("user") or _own_name(),
        password=(options.value("password") or "") if password is None else password,
        host=chosen_host,
        port=port or _port(options),
        socket=default_socket() if is_found else chosen_socket,
        tls=tls_from_options(options, over_socket=is_found or chosen_socket is not None),
        password_origin=options.origin("password") if password is None else TYPED,
        is_found=is_found,
        allow_cleartext=allow_cleartext,
        plugins=_plugins(options),
    )


def _protocol(options: Options) -> str:
    protocol = (options.value("protocol") or "").upper()
    if protocol and protocol not in PROTOCOLS:
        raise UserError(f"protocol={protocol} ({options.origin('protocol')}) is none of {', '.join(PROTOCOLS)}.")
    return protocol


def _plugins(options: Options) -> frozenset[str]:
    """The plugins that may be used: ours, or those of them that restricted-auth (MariaDB) names."""
    default = options.value("default-auth")
    if default and default not in ALL_PLUGINS:
        raise UserError(
            f"default-auth={default} ({options.origin('default-auth')}) is not supported: {', '.join(sorted(ALL_PLUGINS))} are."
        )
    restricted = options.value("restricted-auth")
    return ALL_PLUGINS if restricted is None else ALL_PLUGINS & {name.strip() for name in restricted.split(",")}


def _own_name() -> str:
    """Who runs this: as such the server is asked where nobody is named."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # as a container's user may be a number alone; OSError from Python 3.13 on
        raise UserError(
            f"the user of number {os.geteuid()} has no name on this machine, and no account was given: "
            "name one by --user, or by user= in an option file."
        ) from None


def _refuse_two_passwords(options: Options, given: Sequence[Path]) -> None:
    if len(given) < 2 or "password" not in options.settings:
        return
    chosen = options.settings["password"]
    for other in options.overridden.get("password", []):
        if other.value != chosen.value:
            raise UserError(
                f"{other.path} (line {other.line}) and {chosen.path} (line {chosen.line}) hold different passwords. Give one --defaults-file only."
            )


def _port(options: Options) -> int:
    text = options.value("port")
    if text is None:
        return DEFAULT_PORT
    if not (text.isascii() and text.isdigit() and len(text) < 6) or not 0 < int(text) < 65536:
        raise UserError(f"port {text!r} {options.origin('port')} is not a port number: give one from 1 to 65535.")
    return int(text)
