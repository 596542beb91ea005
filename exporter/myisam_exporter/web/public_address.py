"""Under which address others reach us, and below which path we answer: `--web.external-url` and `--web.route-prefix`, as Prometheus has them.

Where no address is configured, ours is the one that a request was sent to: its Host was found to be ours before. Pages link
relatively and need neither; links from elsewhere (alerts, dashboards) are made of it. See docs/decisions/028-links.md.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.web.allowed_hosts import host_of
from myisam_exporter.web.server import Request

EXTERNAL_URL, ROUTE_PREFIX = "--web.external-url", "--web.route-prefix"
# RFC 3986's unreserved characters: escapes, and dots that lead upwards, are read differently by each proxy on the way.
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*")


@dataclass(frozen=True, slots=True)
class PublicAddress:
    """`external_url` has no slash at its end and is empty where none is configured; `prefix` is empty, or begins with a slash and ends with none."""

    external_url: str = ""
    prefix: str = ""
    scheme: str = "http"

    @property
    def host(self) -> str:
        """The name in the configured address: a proxy may send it as Host."""
        return urlsplit(self.external_url).hostname or ""

    def inner_path(self, request: Request) -> str | None:
        """The path less the prefix; None where it does not have it. Nobody stands before the UNIX socket: it needs no prefix."""
        if not self.prefix:
            return request.path
        if request.path.startswith(f"{self.prefix}/"):
            return request.path[len(self.prefix) :]
        return request.path if request.peer.over_unix_socket else None

    def leads_here(self, path: str) -> bool:
        """Whether who asks for it is shown the way: the root, and the prefix without its last slash."""
        return path in ("/", self.prefix)

    def of(self, request: Request) -> str:
        """Where whoever sent this request finds our pages, without a slash at the end; empty where that cannot be known."""
        if self.external_url or request.peer.over_unix_socket:
            return self.external_url
        host = request.headers.get("host", "")
        return f"{self.scheme}://{host}{self.prefix}" if host_of(host) else ""


def public_address(external_url: str | None, route_prefix: str | None, scheme: str) -> PublicAddress:
    """The address as it is configured; without a prefix of its own, the path of the URL is the prefix. Raises UserError for what is no URL or path."""
    url = _external_url(external_url) if external_url else ""
    prefix = _prefix(urlsplit(url).path if route_prefix is None else route_prefix)
    return PublicAddress(url, prefix, scheme)


def _external_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and host_of(parts.netloc.lower()) and not parts.query + parts.fragment
    except ValueError:  # brackets that hold no address
        sound = False
    if not sound or not _PATH.fullmatch(parts.path.rstrip("/")):
        raise UserError(
            f"{EXTERNAL_URL} {text!r} is not a URL: write http:// or https://, a host and, where a proxy has one, "
            "a path, such as https://monitoring.example/myisam."
        )
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def _prefix(text: str) -> str:
    """With one slash before and none behind, as Prometheus takes it."""
    path = f"/{text.strip('/')}".removesuffix("/")
    if not _PATH.fullmatch(path):
        raise UserError(
            f"{ROUTE_PREFIX} {text!r} is not a path: write / or a path of letters, digits and dashes, such as /myisam."
        )
    return path
