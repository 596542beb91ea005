"""TLS and basic authentication, in the file format of Prometheus's exporter-toolkit (`--web.config.file`).

An unknown key is an error, and so is a key that we cannot honour: a setting of security that is silently not there is worse than
none. Source: exporter-toolkit, docs/web-configuration.md.
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.outside.bounded_reading import bounded_bytes
from myisam_exporter.outside.documents import read_yaml_document
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.outside.own_settings import expect_own, tell_of_readers
from myisam_exporter.outside.quantities import seconds_in

_KEYS = {
    "tls_server_config": {
        "cert_file", "key_file", "client_auth_type", "client_ca_file", "min_version", "max_version", "prefer_server_cipher_suites",
    },
    "http_server_config": {"http2", "headers"},
    "basic_auth_users": None,
    "rate_limit": {"interval", "burst"},
}  # fmt: skip
_NOT_HERE = {
    "tls_server_config": {"cert", "key", "client_ca", "client_allowed_sans", "cipher_suites", "curve_preferences"},
}
_HEADERS = {
    "strict-transport-security", "x-content-type-options", "x-frame-options", "x-xss-protection", "content-security-policy",
}  # fmt: skip
_VERSIONS = {
    "TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3, "TLS11": ssl.TLSVersion.TLSv1_1, "TLS10": ssl.TLSVersion.TLSv1,
}  # fmt: skip
_CLIENT_AUTHENTICATION = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
_BCRYPT = re.compile(r"\$2[aby]\$(?P<cost>0[4-9]|[12][0-9]|3[01])\$[./A-Za-z0-9]{53}")
MAXIMUM_CERTIFICATE_BYTES = 4 << 20  # Debian's bundle of all authorities has 220 KB
MAXIMUM_COST = 16  # 4 s a login


@dataclass(frozen=True, slots=True)
class WebSettings:
    """What the file says. `tls_digest` tells one TLS configuration, with the files that it names, from another."""

    tls: ssl.SSLContext | None = None
    tls_digest: bytes = b""
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: tuple[tuple[str, str], ...] = ()
    requests_per_second: float = 0.0
    burst: int = 0


def read_web_config(path: Path) -> WebSettings:
    """The settings. Raises UserError that names the file and the key."""
    try:
        _expect_file(path)
    except OSError as error:
        raise UserError(f"cannot read the web configuration {path}: {error.strerror}. Check the path.") from None
    expect_own("web configuration", path)
    document = read_yaml_document(path, "web configuration")
    if document is None:
        # What a program leaves that is about to write it: it must take no password away.
        raise UserError(f"{path} is empty: write {{}} into it for a configuration without TLS and users.")
    _refuse_unknown(path, document)
    http = document.get("http_server_config") or {}
    per_second, burst = _rate_limit(path, document.get("rate_limit") or {})
    tls = document.get("tls_server_config") or {}
    _expect_whole_tls(path, tls)
    # First the digest: of files that are replaced meanwhile, the next reload then takes what they are by then.
    digest = _digest(path, tls)
    return WebSettings(
        _tls(path, tls),
        digest,
        _users(path, document.get("basic_auth_users") or {}),
        _headers(path, http.get("headers") or {}),
        per_second,
        burst,
    )


def _refuse_unknown(path: Path, document: Any) -> None:
    if not isinstance(document, dict):
        raise UserError(f"{path}: a mapping is wanted: tls_server_config, basic_auth_users, ...")
    for section, content in document.items():
        if section not in _KEYS:
            raise UserError(f"{path}: unknown key {section!r}: there are {', '.join(_KEYS)}.")
        if content is not None and not isinstance(content, dict):
            raise UserError(f"{path}: {section} must be a mapping.")
        allowed = _KEYS[section]
        for key, value in (content or {}).items():
            if key in _NOT_HERE.get(section, ()):
                raise UserError(f"{path}: {section}.{key} is not supported by this exporter: leave it out.")
            if allowed is not None and key not in allowed:
                raise UserError(f"{path}: unknown key {section}.{key}: there are {', '.join(sorted(allowed))}.")
            is_mapping = (section, key) == ("http_server_config", "headers")
            if value is not None and (isinstance(value, dict) != is_mapping or isinstance(value, list)):
                raise UserError(f"{path}: {section}.{key} must be {'a mapping' if is_mapping else 'one value'}.")


def _expect_whole_tls(path: Path, section: Mapping[str, Any]) -> None:
    """What is said by the section alone: before its files are opened."""
    if not section:
        return
    if not (section.get("cert_file") and section.get("key_file")):
        raise UserError(f"{path}: tls_server_config needs both cert_file and key_file.")
    kind = _client_authentication(section)
    if kind not in _CLIENT_AUTHENTICATION:
        raise UserError(f"{path}: client_auth_type {kind!r} is not one of {', '.join(_CLIENT_AUTHENTICATION)}.")
    if (kind == "NoClientCert") == bool(section.get("client_ca_file")):
        raise UserError(f"{path}: client_ca_file and a client_auth_type that verifies go together.")


def _client_authentication(section: Mapping[str, Any]) -> str:
    return section.get("client_auth_type") or "NoClientCert"


def _tls(path: Path, section: Mapping[str, Any]) -> ssl.SSLContext | None:
    if not section:
        return None
    certificate, key, authority = section["cert_file"], section["key_file"], section.get("client_ca_file")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION
    try:
        context.minimum_version = _VERSIONS[section.get("min_version") or "TLS12"]
        if section.get("max_version"):
            context.maximum_version = _VERSIONS[section["max_version"]]
        context.load_cert_chain(_beside(path, certificate), _beside(path, key), password=lambda: "")
        if authority:
            context.load_verify_locations(_beside(path, authority))
            context.verify_mode = _CLIENT_AUTHENTICATION[_client_authentication(section)]
    except KeyError as error:
        raise UserError(f"{path}: TLS version {error} is not one of {', '.join(_VERSIONS)}.") from None
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise UserError(f"{path}: certificate and key cannot be used ({error}).") from None
    return context


def _digest(path: Path, section: Mapping[str, Any]) -> bytes:
    """Of the section and of the files that it names. Raises UserError where one of them cannot be read."""
    digest = hashlib.sha256(repr(sorted((str(name), str(value)) for name, value in section.items())).encode())
    try:
        for key in ("cert_file", "key_file", "client_ca_file"):
            if section.get(key):
                file = _beside(path, section[key])
                _expect_file(file)
                expect_own(key, file)
                if key == "key_file":
                    tell_of_readers(key, file)
                digest.update(bounded_bytes(file, MAXIMUM_CERTIFICATE_BYTES))
    except OSError as error:
        raise UserError(f"{path}: {error.filename} cannot be read ({error.strerror}).") from None
    return digest.digest()


def _expect_file(path: Path) -> None:
    """Raise OSError for what is no regular file: whoever opens a FIFO waits, and all who ask the daemon wait with it."""
    try:
        ForeignFiles().status(os.path.realpath(path))
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), str(path)) from None


def _beside(path: Path, name: object) -> Path:
    """A file name in the configuration is relative to the configuration."""
    return path.parent / str(name)


def _users(path: Path, section: Mapping[Any, Any]) -> dict[str, str]:
    users = {}
    for user, hashed in section.items():
        found = _BCRYPT.fullmatch(hashed) if isinstance(hashed, str) else None
        if found is None:
            raise UserError(
                f"{path}: the password of {user!r} is not a bcrypt hash: make one with `htpasswd -nBC 10 {user}`."
            )
        if int(found["cost"]) > MAXIMUM_COST:
            raise UserError(
                f"{path}: the hash of {user!r} has a cost above {MAXIMUM_COST}, each login would take many seconds: "
                f"make one with `htpasswd -nBC 10 {user}`."
            )
        users[str(user)] = hashed
    if users:
        try:
            import bcrypt  # noqa: F401
        except ImportError:
            raise UserError(f"{path}: basic_auth_users need the package bcrypt (python3-bcrypt): install it.") from None
    return users


def _headers(path: Path, section: Mapping[Any, Any]) -> tuple[tuple[str, str], ...]:
    for name, value in section.items():
        if str(name).lower() not in _HEADERS:
            raise UserError(f"{path}: the header {name} cannot be set: only {', '.join(sorted(_HEADERS))}.")
        if not str(value).isprintable() or not str(value).isascii():
            raise UserError(f"{path}: the value of the header {name} holds characters that no header may hold.")
    # Blanks around a value are none of it (RFC 9110, 5.5), and no answer could be sent with them.
    return tuple((str(name), str(value).strip()) for name, value in section.items())


def _rate_limit(path: Path, section: Mapping[str, Any]) -> tuple[float, int]:
    if not section:
        return 0.0, 0
    interval, burst = str(section.get("interval", "")), section.get("burst", 1)
    seconds = seconds_in(interval) if interval[-1:].isalpha() else None
    if seconds is None or not math.isfinite(seconds):
        raise UserError(f"{path}: rate_limit.interval {interval!r} is not a duration such as 100ms or 1s.")
    if seconds <= 0 or not isinstance(burst, int) or burst < 1:
        raise UserError(f"{path}: rate_limit needs an interval above 0 and a burst of 1 or more.")
    return 1 / seconds, burst
