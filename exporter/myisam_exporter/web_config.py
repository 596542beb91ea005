"""TLS and basic authentication, in the file format of Prometheus's exporter-toolkit (`--web.config.file`).

An unknown key is an error, and so is a key that we cannot honour: a setting of security that is silently not there is worse than
none. The file is read again when it changes. Source: exporter-toolkit, docs/web-configuration.md.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from myisam_exporter.errors import UserError

_log = logging.getLogger(__name__)
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
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
REMEMBERED_LOGINS = 100
# Checked for users that do not exist, so that the time to refuse does not tell whether one does. It fits no password.
NOBODY = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi"


@dataclass(frozen=True, slots=True)
class WebSettings:
    """What the file says."""

    tls: ssl.SSLContext | None = None
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: tuple[tuple[str, str], ...] = ()
    requests_per_second: float = 0.0
    burst: int = 0


def read_web_config(path: Path) -> WebSettings:
    """The settings. Raises UserError that names the file and the key."""
    import yaml

    try:
        document = yaml.safe_load(path.read_text("utf-8")) or {}
    except OSError as error:
        raise UserError(f"cannot read the web configuration {path}: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is no YAML: {' '.join(str(error).split())}.") from None
    _refuse_unknown(path, document)
    http = document.get("http_server_config") or {}
    per_second, burst = _rate_limit(path, document.get("rate_limit") or {})
    return WebSettings(
        _tls(path, document.get("tls_server_config") or {}),
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
        for key in content or ():
            if key in _NOT_HERE.get(section, ()):
                raise UserError(f"{path}: {section}.{key} is not supported by this exporter: leave it out.")
            if allowed is not None and key not in allowed:
                raise UserError(f"{path}: unknown key {section}.{key}: there are {', '.join(sorted(allowed))}.")


def _tls(path: Path, section: Mapping[str, Any]) -> ssl.SSLContext | None:
    if not section:
        return None
    certificate, key = section.get("cert_file"), section.get("key_file")
    if not certificate or not key:
        raise UserError(f"{path}: tls_server_config needs both cert_file and key_file.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    kind = section.get("client_auth_type") or "NoClientCert"
    if kind not in _CLIENT_AUTHENTICATION:
        raise UserError(f"{path}: client_auth_type {kind!r} is not one of {', '.join(_CLIENT_AUTHENTICATION)}.")
    authority = section.get("client_ca_file")
    if (kind == "NoClientCert") == bool(authority):
        raise UserError(f"{path}: client_ca_file and a client_auth_type that verifies go together.")
    try:
        context.minimum_version = _VERSIONS[section.get("min_version") or "TLS12"]
        if section.get("max_version"):
            context.maximum_version = _VERSIONS[section["max_version"]]
        context.load_cert_chain(_beside(path, certificate), _beside(path, key), password=lambda: "")
        if authority:
            context.load_verify_locations(_beside(path, authority))
            context.verify_mode = _CLIENT_AUTHENTICATION[kind]
    except KeyError as error:
        raise UserError(f"{path}: TLS version {error} is not one of {', '.join(_VERSIONS)}.") from None
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise UserError(f"{path}: certificate and key cannot be used ({error}).") from None
    return context


def _beside(path: Path, name: object) -> Path:
    """A file name in the configuration is relative to the configuration."""
    return path.parent / str(name)


def _users(path: Path, section: Mapping[Any, Any]) -> dict[str, str]:
    users = {}
    for user, hashed in section.items():
        if not isinstance(hashed, str) or not hashed.startswith(("$2a$", "$2b$", "$2y$")) or len(hashed) != 60:
            raise UserError(
                f"{path}: the password of {user!r} is no bcrypt hash: make one with `htpasswd -nBC 10 {user}`."
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
    return tuple((str(name), str(value)) for name, value in section.items())


def _rate_limit(path: Path, section: Mapping[str, Any]) -> tuple[float, int]:
    if not section:
        return 0.0, 0
    interval, burst = str(section.get("interval", "")), section.get("burst", 1)
    number = interval.rstrip("mhs")
    try:
        seconds = float(number) * _UNITS[interval[len(number) :]]
    except (KeyError, ValueError):
        raise UserError(f"{path}: rate_limit.interval {interval!r} is no duration such as 100ms or 1s.") from None
    if seconds <= 0 or not isinstance(burst, int) or burst < 1:
        raise UserError(f"{path}: rate_limit needs an interval above 0 and a burst of 1 or more.")
    return 1 / seconds, burst


class Gate:
    """Who may pass: basic authentication and the rate limit. Reads the file again when it changed; a broken one changes nothing."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.settings = read_web_config(path) if path else WebSettings()
        self._seen = self._stamp()
        self._good_logins: dict[bytes, None] = {}
        self._tokens, self._refilled = float(self.settings.burst), time.monotonic()

    def reload(self) -> None:
        """Read the file again. Raises UserError and keeps the old settings when it is broken."""
        if self._path is None:
            return
        fresh = read_web_config(self._path)
        if (fresh.tls is None) != (self.settings.tls is None):
            raise UserError(f"{self._path}: TLS cannot be switched on or off while running: restart.")
        self.settings = fresh
        self._good_logins.clear()
        self._seen = self._stamp()

    def refresh(self) -> None:
        """Reload if the file is another one than at the last look."""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            self.reload()
        except UserError as error:
            _log.error("the web configuration stays as it was: %s", error)

    @property
    def needs_login(self) -> bool:
        """Whether users are configured."""
        return bool(self.settings.users)

    def within_rate(self) -> bool:
        """Take a token; False when there is none."""
        settings = self.settings
        if not settings.requests_per_second:
            return True
        now = time.monotonic()
        self._tokens = min(settings.burst, self._tokens + (now - self._refilled) * settings.requests_per_second)
        self._refilled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def admits(self, authorization: str) -> bool:
        """Whether this Authorization header is right. Slow (bcrypt): not for an event loop."""
        import bcrypt

        try:
            kind, _, encoded = authorization.partition(" ")
            user, colon, password = base64.b64decode(encoded, validate=True).decode("utf-8").partition(":")
        except ValueError:
            return False
        if kind.lower() != "basic" or not colon:
            return False
        hashed = self.settings.users.get(user, NOBODY)
        login = hashlib.sha256("\0".join((user, hashed, password)).encode()).digest()
        if login in self._good_logins:
            return True
        try:
            # exporter-toolkit, as bcrypt itself, looks at the first 72 bytes.
            right = hmac.compare_digest(bcrypt.hashpw(password.encode()[:72], hashed.encode()), hashed.encode())
        except ValueError:
            right = False
        right = right and user in self.settings.users
        if right:
            while len(self._good_logins) >= REMEMBERED_LOGINS:
                self._good_logins.pop(next(iter(self._good_logins)))
            self._good_logins[login] = None
        return right

    def _stamp(self) -> tuple[int, int] | None:
        try:
            state = self._path.stat() if self._path else None
        except OSError:
            return None
        return (state.st_mtime_ns, state.st_size) if state else None
