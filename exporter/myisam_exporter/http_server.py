"""HTTP over asyncio, parsed by h11. Every step has a deadline: a slow or hostile client costs a connection and nothing else.

Python's own http.server and prometheus_client's on top of it have neither deadlines nor limits, and do the TLS handshake where they
accept: one silent client stops all. See docs/decisions/006-http-server.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import ssl
import stat
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import h11

HEAD_BYTES = 16 * 1024
BODY_BYTES = 64 * 1024
HEAD_SECONDS, BODY_SECONDS, SEND_SECONDS, HANDSHAKE_SECONDS = 10.0, 5.0, 30.0, 10.0
KEEP_ALIVE_SECONDS = 75.0
READ_BYTES = 64 * 1024
CONNECTIONS = 200
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """What a handler may know of a request. Over a UNIX socket, the file's permissions said who may ask."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    over_unix_socket: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """What it answers."""

    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: Sequence[tuple[str, str]] = field(default=())


Handler = Callable[[Request], Awaitable[Response]]


QUEUE = 128  # connections that wait to be accepted


class HttpServer:
    """Serves one handler on any number of addresses."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None = None, connections: int = CONNECTIONS) -> None:
        self._handler = handler
        self._tls = tls
        self._connections = connections
        self._open: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self._unix_sockets: list[tuple[Path, int]] = []

    async def listen(self, host: str | None, port: int) -> list[tuple[str, int]]:
        """Listen there; `host` None is every address. Returns the addresses. Raises OSError when that is not possible."""
        return await self._start(asyncio.start_server, host=host, port=port, **self._tls_options())

    async def listen_on(self, listener: socket.socket) -> list[tuple[str, int]]:
        """Serve a socket that already listens, TCP or UNIX: one that systemd handed over."""
        if listener.family == socket.AF_UNIX:
            # From 3.13 on asyncio would remove the path, be it systemd's; our own `close` removes.
            keeping = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
            return await self._start(asyncio.start_unix_server, sock=listener, **keeping)
        return await self._start(asyncio.start_server, sock=listener, **self._tls_options())

    async def listen_unix(self, path: Path, group: int | None = None) -> None:
        """Listen on a UNIX socket that its owner and group may use. A socket that nobody answers on any more is replaced.

        Raises OSError where that is not possible; EADDRINUSE when somebody answers there.
        """
        _remove_abandoned(path)
        listener = socket.socket(socket.AF_UNIX)
        try:
            _bind(listener, path, group)
            self._unix_sockets.append((path, path.stat().st_ino))
            await self.listen_on(listener)
        except BaseException:
            listener.close()
            raise

    async def close(self) -> None:
        """Stop listening and end every connection."""
        for server in self._servers:
            server.close()
        for path, inode in self._unix_sockets:
            with contextlib.suppress(OSError):
                if path.stat().st_ino == inode:
                    path.unlink()
        for task in list(self._open):
            task.cancel()
        if self._open:
            await asyncio.wait(self._open, timeout=1.0)

    def _tls_options(self) -> dict[str, Any]:
        return {"ssl": self._tls, "ssl_handshake_timeout": HANDSHAKE_SECONDS} if self._tls else {}

    async def _start(self, start: Callable[..., Awaitable[asyncio.Server]], **options: Any) -> list[tuple[str, int]]:
        unix = start is asyncio.start_unix_server
        # asyncio accepts up to `backlog` at a time, and without descriptors plans to try again as often for each of them.
        server = await start(partial(self._accept, unix), limit=READ_BYTES, backlog=1, **options)
        self._servers.append(server)
        for one in server.sockets:
            with socket.socket(fileno=os.dup(one.fileno())) as listener:
                listener.listen(QUEUE)
        return [] if unix else [one.getsockname()[:2] for one in server.sockets]

    async def _accept(self, unix: bool, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._open) >= self._connections:
            writer.transport.abort()
            return
        self._open.add(task)
        try:
            await _serve(reader, writer, self._handler, unix)
        except (asyncio.CancelledError, ConnectionError, asyncio.TimeoutError, ssl.SSLError):
            pass  # the client is gone or too slow, or we are stopping: there is nobody to tell
        except Exception:
            _log.exception("a connection failed")
        finally:
            self._open.discard(task)
            writer.transport.abort()


def _remove_abandoned(path: Path) -> None:
    """Take away a socket whose daemon is gone; leave anything else alone."""
    try:
        if not stat.S_ISSOCK(path.stat().st_mode):
            raise FileExistsError(errno.EEXIST, "a file that is no socket is in the way")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))


def _bind(listener: socket.socket, path: Path, group: int | None) -> None:
    """Bind, such that nobody but its owner and group could connect at any moment."""
    before = os.umask(0o117 if group is None else 0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    if group is not None:
        os.chown(path, -1, group)
        path.chmod(0o660)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler, unix: bool) -> None:
    writer.transport.set_write_buffer_limits(high=0)  # drain() then waits until everything is with the kernel
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
    patience = HEAD_SECONDS
    while True:
        try:
            request = await asyncio.wait_for(_next_request(connection, reader, unix), patience)
            if request is None:
                return
            await asyncio.wait_for(_discard_body(connection, reader), BODY_SECONDS)
        except h11.RemoteProtocolError as error:
            if connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                response = Response(error.error_status_hint, f"{error}\n".encode())
                await asyncio.wait_for(_send(connection, writer, response, False, True), SEND_SECONDS)
            return
        response = await _answer(handler, request)
        await asyncio.wait_for(_send(connection, writer, response, request.method == "HEAD", False), SEND_SECONDS)
        if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
            return
        connection.start_next_cycle()
        patience = KEEP_ALIVE_SECONDS


async def _answer(handler: Handler, request: Request) -> Response:
    try:
        return await handler(request)
    except Exception:
        _log.exception("%s %s failed", request.method, request.path)
        return Response(500, b"internal error: see the log\n")


async def _next_event(connection: h11.Connection, reader: asyncio.StreamReader) -> object:
    while True:
        event = connection.next_event()
        if event is not h11.NEED_DATA:
            return event
        connection.receive_data(await reader.read(READ_BYTES))


async def _next_request(connection: h11.Connection, reader: asyncio.StreamReader, unix: bool) -> Request | None:
    event = await _next_event(connection, reader)
    if not isinstance(event, h11.Request):
        return None
    path, _, query = event.target.decode("ascii", "replace").partition("?")
    headers = {name.decode("ascii"): value.decode("latin-1") for name, value in event.headers}
    if "content-length" in headers and "transfer-encoding" in headers:
        # Two lengths for one body are how a request is smuggled past a proxy: RFC 9112, 6.3.
        raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
    return Request(event.method.decode("ascii"), path, query, headers, unix)


async def _discard_body(connection: h11.Connection, reader: asyncio.StreamReader) -> None:
    """No request here needs a body: a short one is read and dropped, a long one refused."""
    length = 0
    if connection.they_are_waiting_for_100_continue:
        raise h11.RemoteProtocolError("no request here takes a body", error_status_hint=417)
    while True:
        event = await _next_event(connection, reader)
        if isinstance(event, h11.Data):
            length += len(event.data)
            if length > BODY_BYTES:
                raise h11.RemoteProtocolError("the body is too long", error_status_hint=413)
        else:
            return


def _reason(status: int) -> bytes:
    return HTTPStatus(status).phrase.encode("ascii")


async def _send(
    connection: h11.Connection, writer: asyncio.StreamWriter, response: Response, without_body: bool, last: bool
) -> None:
    headers = [
        ("Content-Type", response.content_type),
        ("Content-Length", str(len(response.body))),
        *response.headers,
        *([("Connection", "close")] if last else []),
    ]
    head = connection.send(h11.Response(status_code=response.status, headers=headers, reason=_reason(response.status)))
    if head:
        writer.write(head)
    if response.body and not without_body:
        body = connection.send(h11.Data(data=response.body))
        if body:
            writer.write(body)
    connection.send(h11.EndOfMessage())
    await writer.drain()
