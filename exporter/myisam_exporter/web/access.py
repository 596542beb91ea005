"""Who may ask, and who may change something: the one door that each request comes through before it is answered.

A reload costs the daemon and every server that it watches something, so it is not for everybody: see docs/decisions/020-who-may-ask.md.
"""

from __future__ import annotations

import logging
import math
import os
import time
from dataclasses import field, replace

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.web.allowed_hosts import OPTION, AllowedHosts, is_host_name
from myisam_exporter.web.gate import Gate
from myisam_exporter.web.logins import LoginQueue, TooManyLoginsError
from myisam_exporter.web.server import Request, Response
from myisam_exporter.web.token_bucket import TokenBucket

READING = ("GET", "HEAD")
RELOADS_APART_SECONDS = 5.0
WARNINGS_APART_SECONDS = 60.0
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Access:
    """Admits requests, or answers in their place. `enable_lifecycle` lets anybody reload who may ask at all.

    Only for the event loop's thread.
    """

    gate: Gate
    hosts: AllowedHosts = field(default_factory=AllowedHosts)
    enable_lifecycle: bool = False
    _logins: LoginQueue = field(default_factory=LoginQueue)
    _reloads: TokenBucket = field(default_factory=lambda: TokenBucket(1 / RELOADS_APART_SECONDS, 1))
    _warned_at: float = -math.inf

    async def admit(self, request: Request) -> Request | Response:
        """The request, with what is known of who asks; or why it is not answered."""
        self.gate.refresh()
        if not self.gate.within_rate(request.peer.over_unix_socket):
            return refusal(429, "too many requests")
        host = request.headers.get("host")
        if not self.hosts.admit(host, request.peer):
            return self._misdirected(host or "")
        if request.method not in READING and _is_of_another_origin(request):
            return refusal(403, "a page of another origin may change nothing here")
        if _is_part_of_another_page(request):
            return refusal(403, "a page of another origin may link here, and take nothing from here")
        return await self._identified(request)

    def refuse_reload(self, request: Request) -> Response | None:
        """Why this admitted request may not reload, or may not now; None where it may, and is counted."""
        if request.peer.over_unix_socket:
            # The group that the socket is for may read, and need not be trusted with more.
            if request.peer.uid not in (0, os.geteuid()):
                return refusal(403, "over the UNIX socket only root and the daemon's own user may reload")
        elif not request.is_identified and not self.enable_lifecycle:
            return refusal(
                403,
                "a reload needs a login (basic_auth_users in --web.config.file), SIGHUP, root over --web.socket, "
                "or a daemon started with --web.enable-lifecycle",
            )
        if not self._reloads.take():
            return _later(429, "one reload in 5 seconds", self._reloads.seconds_until_next)
        return None

    async def _identified(self, request: Request) -> Request | Response:
        known = request.peer.over_unix_socket or request.peer.is_certified
        if self.gate.needs_login and not request.peer.over_unix_socket:
            authorization = request.headers.get("authorization", "")
            try:
                known = bool(authorization) and await self._logins.admits(
                    self.gate.logins, authorization, request.peer.group
                )
            except TooManyLoginsError:
                return _later(503, "too many logins at once", 1.0)
            if not known:
                return Response(401, b"Unauthorized\n", headers=(("WWW-Authenticate", "Basic"),))
        return replace(request, is_identified=known)

    def _misdirected(self, host: str) -> Response:
        name = host.lower().partition(":")[0]
        shown = name if is_host_name(name) else "that name"
        text = (
            f"{shown} is not a name of this exporter: ask for localhost or the address, or start it with {OPTION} NAME"
        )
        now = time.monotonic()
        if now - self._warned_at > WARNINGS_APART_SECONDS:
            self._warned_at = now
            _log.warning("refused a request: %s", text)
        return refusal(421, text)


def refusal(status: int, text: str) -> Response:
    """A status with a sentence, which no browser takes for anything but text."""
    return Response(status, f"{text}\n".encode(), headers=(("X-Content-Type-Options", "nosniff"),))


def _later(status: int, text: str, seconds: float) -> Response:
    answer = refusal(status, f"{text}: try again later")
    return replace(answer, headers=(*answer.headers, ("Retry-After", str(max(1, math.ceil(seconds))))))


def _is_part_of_another_page(request: Request) -> bool:
    """Whether a browser says that a page of elsewhere asks for it as a picture, script or the like, or by a script: Fetch Metadata.

    Such a page reads no answer, but sees whether one came, and when, and may ask as often as it likes. Links to here are followed all the same.
    """
    headers = request.headers
    if "prefetch" in headers.get("sec-purpose", ""):
        # Chromium sends what another site's speculation rules name as if somebody had typed it. Whoever follows the link asks again.
        return True
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return False
    return (
        headers.get("sec-fetch-mode", "navigate") != "navigate"
        or headers.get("sec-fetch-dest", "document") != "document"
    )


def _is_of_another_origin(request: Request) -> bool:
    """Whether a browser says that a page of elsewhere sent it: Fetch Metadata, and RFC 6454, 7. The Host was found to be ours."""
    if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return True
    origin = request.headers.get("origin")
    if origin is None:
        return False
    # The scheme is a proxy's matter; one port speaks one of the two.
    scheme, _, authority = origin.lower().partition("://")
    return scheme not in ("http", "https") or authority != request.headers.get("host", "").lower()
