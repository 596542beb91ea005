"""The web configuration in force: read again when its file changes; a broken one changes nothing."""

from __future__ import annotations

import logging
import ssl
import threading
from dataclasses import replace
from pathlib import Path

from myisam_exporter.errors import UserError
from myisam_exporter.web.logins import Logins
from myisam_exporter.web.security import WebSettings, read_web_config
from myisam_exporter.web.token_bucket import TokenBucket

_log = logging.getLogger(__name__)


class Gate:
    """TLS, users and the rate limit of now. Raises UserError for a file that cannot be used at the start."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._reloading = threading.Lock()
        self._seen = self._stamp()
        self.settings = read_web_config(path) if path else WebSettings()
        self.logins = Logins(self.settings.users)
        self._buckets = self._new_buckets()

    def reload(self) -> None:
        """Read the file again. Raises UserError and keeps the old settings when it is broken."""
        if self._path is None:
            return
        with self._reloading:
            stamp, fresh, known = self._stamp(), read_web_config(self._path), self.settings
            if (fresh.tls is None) != (known.tls is None):
                raise UserError(f"{self._path}: TLS cannot be switched on or off while running: restart.")
            if fresh.tls_digest == known.tls_digest:
                fresh = replace(fresh, tls=known.tls)  # connections last as long as what they were made under
            if fresh.users != self.logins.users:
                self.logins = Logins(fresh.users)
            self.settings, self._seen = fresh, stamp
            if (fresh.requests_per_second, fresh.burst) != (known.requests_per_second, known.burst):
                self._buckets = self._new_buckets()

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

    def tls(self) -> ssl.SSLContext | None:
        """What a connection that is made now must speak, and one that was made before must have spoken."""
        self.refresh()
        return self.settings.tls

    @property
    def needs_login(self) -> bool:
        """Whether users are configured."""
        return bool(self.settings.users)

    def within_rate(self, over_unix_socket: bool) -> bool:
        """Take a token; False when there is none. The UNIX socket has as many of its own."""
        return self._buckets is None or self._buckets[over_unix_socket].take()

    def _new_buckets(self) -> dict[bool, TokenBucket] | None:
        settings = self.settings
        if not settings.requests_per_second:
            return None
        return {unix: TokenBucket(settings.requests_per_second, settings.burst) for unix in (False, True)}

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            state = self._path.stat() if self._path else None
        except OSError:
            return None
        return (state.st_mtime_ns, state.st_size, state.st_ino) if state else None
