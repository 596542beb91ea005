"""The servers that `/probe` may reach: those that a file lists, and no other. Credentials are sections of the option files.

Whoever may ask the exporter could otherwise make it connect anywhere, and hand its password to whoever listens there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError, brief
from myisam_exporter.outside.documents import read_yaml_document
from myisam_exporter.outside.own_settings import expect_own
from myisam_exporter.server.option_files import NOTHING_FURTHER, Further, read_option_files
from myisam_exporter.server.target import DEFAULT_PORT, Target, target_from_options

DEFAULT_MODULE = "client"
_MODULE = re.compile(r"client(\..+)?")
_KEYS = frozenset({"host", "port", "socket", "auth_module", "auth_modules"})


@dataclass(frozen=True, slots=True)
class Listed:
    """One server of the file. `modules` are the sections of the option files whose credentials it may be given."""

    name: str
    host: str | None
    port: int
    socket: Path | None
    auth_module: str = DEFAULT_MODULE
    modules: frozenset[str] = frozenset({DEFAULT_MODULE})

    @property
    def address(self) -> str:
        """host:port, or unix:/path."""
        return f"unix:{self.socket}" if self.socket else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ProbeTargets:
    """What may be probed: the listed servers, each with the modules that the list grants it."""

    listed: Mapping[str, Listed] = field(default_factory=dict)
    defaults_files: Sequence[Path] = ()
    allow_cleartext: bool = False
    further: Further = NOTHING_FURTHER

    def find(self, target: str) -> Listed | None:
        """By name, or by address as listed."""
        return self.listed.get(target) or next((one for one in self.listed.values() if one.address == target), None)

    def resolve(self, listed: Listed, module: str) -> Target:
        """The target with its credentials, read from the option files anew. Raises UserError for a module that the list does not grant it."""
        if module not in listed.modules:
            raise UserError(f"the list of targets does not let {listed.name} have the auth_module {module}.")
        return target_from_options(
            self.defaults_files,
            host=listed.host or "localhost",
            port=None if listed.socket else listed.port,
            socket=listed.socket,
            groups=(DEFAULT_MODULE, module),
            allow_cleartext=self.allow_cleartext,
            further=self.further,
        )


def read_probe_targets(
    path: Path | None,
    defaults_files: Sequence[Path],
    *,
    allow_cleartext: bool,
    further: Further = NOTHING_FURTHER,
) -> ProbeTargets:
    """The targets of a YAML file: `targets: {name: {host, port} or {socket}, ...}`. Raises UserError that names the entry."""
    if path is None:
        return ProbeTargets()
    expect_own("list of targets", path)
    document = read_yaml_document(path, "list of targets")
    if not isinstance(document, dict) or set(document) != {"targets"} or not isinstance(document["targets"], dict):
        raise UserError(
            f"{path}: one mapping `targets:` is wanted, of names to {{host: ..., port: ...}} or {{socket: ...}}."
        )
    options = read_option_files(defaults_files, (), further)
    listed = {str(name): _listed(path, str(name), entry) for name, entry in document["targets"].items()}
    for one in listed.values():
        for module in sorted(one.modules - options.sections - {DEFAULT_MODULE}):
            raise UserError(f"{path}: target {one.name}: no option file has a section [{module}].")
    return ProbeTargets(listed, tuple(defaults_files), allow_cleartext, further)


def _listed(path: Path, name: str, entry: Any) -> Listed:
    if not isinstance(entry, dict) or not set(entry) <= _KEYS or ("host" in entry) == ("socket" in entry):
        raise UserError(
            f"{path}: target {name}: either host (and port) or socket is wanted, and perhaps auth_module and auth_modules; nothing else."
        )
    place = entry.get("host", entry.get("socket"))
    if not isinstance(place, str) or not place or not place.isprintable():
        # An empty host would be this machine, which nobody meant.
        raise UserError(f"{path}: target {name}: {brief(place)} is not a host or socket.")
    port = entry.get("port", DEFAULT_PORT)
    if (
        not isinstance(port, int)
        or isinstance(port, bool)
        or not 0 < port < 65536
        or (port != DEFAULT_PORT and "socket" in entry)
    ):
        raise UserError(f"{path}: target {name}: {port!r} is not a port number: give one from 1 to 65535.")
    host, socket = (place, None) if "host" in entry else (None, Path(place))
    return Listed(name, host, port, socket, *_modules(path, name, entry))


def _modules(path: Path, name: str, entry: Any) -> tuple[str, frozenset[str]]:
    """The module that is used when a probe names none, and all that it may name."""
    default, more = entry.get("auth_module", DEFAULT_MODULE), entry.get("auth_modules", [])
    modules: list[Any] = [default, *more] if isinstance(more, list) else [None]
    if not all(isinstance(module, str) and _MODULE.fullmatch(module) for module in modules):
        raise UserError(
            f"{path}: target {name}: auth_module is a section of the option files, `client` or `client.NAME`, and auth_modules a list of such."
        )
    return default, frozenset(modules)
