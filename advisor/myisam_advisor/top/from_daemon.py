"""Moments from a running daemon, over its UNIX socket: for who may ask it, and may not look himself.

Nothing is asked of the server: it is the daemon's last look, at the daemon's pace. Sources: unix(7), RFC 9112.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
from pathlib import Path

from myisam_advisor.top.document import MomentError, read_moment
from myisam_advisor.top.moment import Moment
from myisam_exporter.errors import UserError
from myisam_exporter.outside.documents import DocumentError, parse_json
from myisam_exporter.server.deadlines import DEADLINES

PATH = "/top.json"
MAXIMUM_BYTES = 8 << 20
MAXIMUM_MEMORY_BYTES = 64 << 20


class FromDaemon:
    """What a daemon saw last, each time it is asked."""

    def __init__(self, path: Path, timeout_seconds: float) -> None:
        self._path = path
        self._timeout_seconds = timeout_seconds

    def connect(self) -> str:
        """How the server is called that it watches. Raises UserError when no daemon answers there."""
        _, label = self._ask()
        return f"seen by the daemon · {label}"

    def look(self) -> Moment:
        """Its last look. Raises UserError when it does not answer, or its server does not."""
        moment, _ = self._ask()
        return moment

    def glance(self) -> None:
        """The daemon glances."""

    def rest(self) -> None:
        """It is asked nothing."""

    def give_up(self) -> None:
        """Each question ends by itself, at the latest when its time is over."""

    def close(self) -> None:
        """There is no connection between two questions."""

    def _ask(self) -> tuple[Moment, str]:
        status, body = self._answer()
        try:
            document = parse_json(body.decode("utf-8"), MAXIMUM_MEMORY_BYTES)
            if status != http.client.OK:
                raise UserError(self._refusal(status, document))
            return read_moment(document)
        except (DocumentError, MomentError, UnicodeDecodeError) as error:
            if status != http.client.OK:
                raise UserError(self._refusal(status, None)) from None
            raise UserError(f"what answers at {self._path} is not a daemon of this version: {error}.") from None

    def _answer(self) -> tuple[int, bytes]:
        connection = _Connection(self._path, self._timeout_seconds)
        try:
            with DEADLINES.limit(self._timeout_seconds, connection.abandon):
                connection.request("GET", PATH, headers={"Host": "localhost"})
                response = connection.getresponse()
                body = response.read(MAXIMUM_BYTES + 1)
            connection.expect_in_time()
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            if connection.is_late:
                why = f"its answer takes longer than {self._timeout_seconds:g} s"
            raise UserError(
                f"no daemon answers at {self._path}: {why}. Start it with --web.socket, be in the group of its socket, or leave out --daemon."
            ) from None
        finally:
            connection.close()
        if len(body) > MAXIMUM_BYTES:
            raise UserError(
                f"what answers at {self._path} says more than {MAXIMUM_BYTES} bytes: it is not a myisam-advisor daemon."
            )
        return response.status, body

    def _refusal(self, status: int, document: object) -> str:
        """In the daemon's own words, where it has some."""
        said = document.get("error") if isinstance(document, dict) else None
        return (
            f"the daemon: {said}"
            if isinstance(said, str)
            else f"the daemon at {self._path} answers {status}: it may be of another version."
        )


class _Connection(http.client.HTTPConnection):
    """HTTP over a UNIX socket."""

    def __init__(self, path: Path, timeout_seconds: float) -> None:
        super().__init__("localhost", timeout=timeout_seconds)
        self._path = path
        self._seconds = timeout_seconds
        # Of an answer behind which the other end closes (HTTP/1.0, Connection: close) http.client forgets its own before the body is read.
        self._socket: socket.socket | None = None
        self.is_late = False

    def abandon(self) -> None:
        """Whoever reads finds the end: what comes byte by byte keeps to the limit of each reading."""
        self.is_late = True
        if self._socket is not None:
            with contextlib.suppress(OSError):  # not connected yet, or gone
                self._socket.shutdown(socket.SHUT_RDWR)

    def expect_in_time(self) -> None:
        """Raises TimeoutError where an answer was cut off, which may look whole."""
        if self.is_late:
            raise TimeoutError

    def connect(self) -> None:
        """To the path. Raises OSError, also where the time was over meanwhile: nobody would end what comes then."""
        self.sock = self._socket = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self._seconds)
        self.sock.connect(str(self._path))
        self.expect_in_time()
