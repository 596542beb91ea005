"""HTTP over asyncio, parsed by h11. Every step has a deadline: a slow or hostile client costs a connection and nothing else.

Python's own http.server and prometheus_client's on top of it have neither deadlines nor limits, and do the TLS handshake where they
accept: one silent client stops all. See docs/decisions/006-http-server.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from http import HTTPStatus
from pathlib import Path

import h11

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.web.connection_budget import ConnectionBudget, OpenConnection, Stage
from myisam_exporter.web.peers import NOBODY, Peer, peer_of
from myisam_exporter.web.tls_stream import TlsStream
from myisam_exporter.web.turns import Turns
from myisam_exporter.web.unix_listener import unix_listener

HEAD_BYTES = 16 * 1024
BODY_BYTES = 64 * 1024
HEAD_SECONDS, BODY_SECONDS, SEND_SECONDS, HANDSHAKE_SECONDS = 10.0, 5.0, 30.0, 10.0
KEEP_ALIVE_SECONDS = 75.0
READ_BYTES = 64 * 1024
# Over all addresses together, and of one peer; the UNIX socket has its own.
CONNECTIONS, CONNECTIONS_PER_PEER = 200, 150
UNIX_CONNECTIONS, UNIX_CONNECTIONS_PER_PEER = 50, 40
QUEUE = 1024  # connections that wait to be accepted: a crowd that comes at once must not fill it
# The kernel keeps no order among peers: who waits behind a crowd in its queue waits until all of that are taken. Sixteen at once of a crowd of
# one peer's fill its places before their requests are read, and others of its address are closed (measured; eight do not).
ACCEPTED_AT_ONCE = 4
PAUSE_SECONDS = 1.0
# What is short comes and goes with each connection that ends: it is one shortage until it has been away for so long.
SHORTAGE_GAP_SECONDS = 60.0
REFUSED_SECONDS = 0.01
# Of every answer, also to what is no request: it is what its type says, and no part of a page, or of a window's group, of anybody else's.
EVERYWHERE = (
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)
_ABSOLUTE = re.compile(r"https?://(?P<host>[^/?#]*)", re.IGNORECASE)
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """What a handler may know of a request. `is_identified` when it is known to come from somebody who may read all."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    peer: Peer = NOBODY
    is_identified: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """What it answers."""

    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: Sequence[tuple[str, str]] = field(default=())


Reading = asyncio.StreamReader | TlsStream
Writing = asyncio.StreamWriter | TlsStream
Handler = Callable[[Request], Awaitable[Response]]


class HttpServer:
    """Serves one handler on any number of addresses.

    `tls` gives what connections over an address must speak now, or None: each is accepted under the one of its moment, and a request
    that comes when another is in force is not answered.
    """

    def __init__(self, handler: Handler, tls: Callable[[], ssl.SSLContext | None] = lambda: None) -> None:
        self._handler = handler
        self._tls = tls
        self._budgets = {
            False: ConnectionBudget(CONNECTIONS, CONNECTIONS_PER_PEER),
            True: ConnectionBudget(UNIX_CONNECTIONS, UNIX_CONNECTIONS_PER_PEER),
        }
        self._handshakes = Turns()
        self._listening: set[asyncio.Task[None]] = set()
        self._conversations: set[asyncio.Task[None]] = set()
        self._unix_sockets: list[tuple[Path, int]] = []
        self._short_until: float | None = None

    async def listen(self, host: str | None, port: int) -> list[tuple[str, int]]:
        """Listen there; `host` None is every address. Returns the addresses. Raises OSError when that is not possible."""
        bound = []
        for listener in await _listeners(host, port):
            bound += await self.listen_on(listener)
        return bound

    async def listen_on(self, listener: socket.socket) -> list[tuple[str, int]]:
        """Serve a bound socket, TCP or UNIX. Returns its address, if it has one."""
        listener.setblocking(False)
        listener.listen(QUEUE)
        task = asyncio.get_running_loop().create_task(self._accept(listener))
        self._listening.add(task)
        task.add_done_callback(lambda _: listener.close())
        return [] if listener.family == socket.AF_UNIX else [listener.getsockname()[:2]]

    async def listen_unix(self, path: Path, group: int | None) -> None:
        """Listen on a UNIX socket that its owner and group may use. A socket that nobody answers on any more is replaced.

        Raises OSError where that is not possible; EADDRINUSE when somebody answers there.
        """
        listener = unix_listener(path, group)
        self._unix_sockets.append((path, path.stat().st_ino))
        await self.listen_on(listener)

    async def close(self) -> None:
        """Stop listening and end every connection."""
        for path, inode in self._unix_sockets:
            with contextlib.suppress(OSError):
                if path.stat().st_ino == inode:
                    path.unlink()
        tasks = [*self._listening, *self._conversations]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    async def _accept(self, listener: socket.socket) -> None:
        """Take connections until cancelled; while descriptors are exhausted, once a second."""
        while True:
            try:
                accepted, _ = await asyncio.get_running_loop().sock_accept(listener)
            except OSError as error:
                is_ours = error.errno in EXHAUSTED
                if is_ours:
                    self._tell_of_shortage(error)
                # What is wrong with one connection holds up the others for a moment only; what lasts takes no processor.
                await asyncio.sleep(PAUSE_SECONDS if is_ours else REFUSED_SECONDS)
            else:
                self._begin(accepted)
                with contextlib.suppress(OSError):  # there is none more, or it is told of next time
                    for _ in range(ACCEPTED_AT_ONCE - 1):
                        self._begin(listener.accept()[0])
            await asyncio.sleep(0)  # a crowd that waits to be accepted keeps nobody else from their turn

    def _tell_of_shortage(self, error: OSError) -> None:
        """Once for each shortage, however many connections wait and however long it lasts."""
        now = asyncio.get_running_loop().time()
        if self._short_until is None or now > self._short_until:
            remedy = (
                " A higher limit of open files (ulimit -n; LimitNOFILE=) makes room."
                if error.errno == errno.EMFILE
                else ""
            )
            _log.warning(
                "no connection can be accepted for now (%s): this is tried again each second.%s", error.strerror, remedy
            )
        self._short_until = now + SHORTAGE_GAP_SECONDS

    def _begin(self, accepted: socket.socket) -> None:
        """Converse with whoever connected, if there is room or can be made."""
        try:
            peer = peer_of(accepted)
            if not peer.over_unix_socket:
                # A response is two writes: the second must not wait for the first one's acknowledgement, which takes 40 ms.
                accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            accepted.close()
            return
        budget = self._budgets[peer.over_unix_socket]

        def end() -> None:
            with contextlib.suppress(OSError):
                accepted.shutdown(socket.SHUT_RDWR)  # a cancellation alone may be lost in wait_for before Python 3.12
            task.cancel()

        place = OpenConnection(peer, end)
        if not budget.admit(place):
            accepted.close()
            return
        task = asyncio.get_running_loop().create_task(self._converse(accepted, place))
        self._conversations.add(task)

        def ended(_: asyncio.Task[None]) -> None:
            self._conversations.discard(task)
            budget.release(place)
            accepted.close()

        task.add_done_callback(ended)

    async def _converse(self, accepted: socket.socket, place: OpenConnection) -> None:
        over_address = not place.peer.over_unix_socket
        context = self._tls() if over_address else None
        reader: Reading
        writer: Writing | None = None
        try:
            reader, writer = await self._opened(accepted, context, place.peer.group)
            place.peer = replace(place.peer, over_tls=context is not None, is_certified=_is_certified(writer))
            await serve(reader, writer, self._handler, place, lambda: not over_address or self._tls() is context)
        except (asyncio.CancelledError, ConnectionError, asyncio.TimeoutError, ssl.SSLError):
            pass  # the client is gone or too slow, or its place is another's, or we are stopping: there is nobody to tell
        except OSError as error:
            _log.debug("a connection broke: %s", error)
        except Exception:
            _log.exception("a connection failed")
        finally:
            if writer is not None:
                writer.transport.abort()

    async def _opened(
        self, accepted: socket.socket, context: ssl.SSLContext | None, peer: str
    ) -> tuple[Reading, Writing]:
        """Streams over an accepted socket, after the handshake where there is one."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(READ_BYTES, loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        if context is None:
            return reader, writer
        secured = TlsStream(reader, writer, context)
        try:
            await asyncio.wait_for(secured.shake_hands(self._handshakes, peer), HANDSHAKE_SECONDS)
        except BaseException:
            transport.abort()
            raise
        return secured, secured


async def _listeners(host: str | None, port: int) -> list[socket.socket]:
    """Sockets bound to each address of that name. Raises OSError when one cannot be bound, or there is none."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except UnicodeError:
        raise socket.gaierror(socket.EAI_NONAME, "it is not a host name") from None
    bound: list[socket.socket] = []
    failure = OSError(errno.EADDRNOTAVAIL, f"{host} has no address")
    try:
        for family, _, _, _, address in dict.fromkeys(found):
            try:
                bound.append(socket.create_server(address, family=family, backlog=QUEUE))
            except OSError as error:
                # IPv6 is switched off, and the name has an address of each kind.
                if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
                    raise
                failure = error
        if not bound:
            raise failure
    except BaseException:
        for listener in bound:
            listener.close()
        raise
    return bound


def _is_certified(writer: Writing) -> bool:
    """Whether the client showed a certificate, and it was verified: one that was not has no content."""
    handshake = writer.get_extra_info("ssl_object")
    return handshake is not None and bool(handshake.getpeercert())


async def serve(
    reader: Reading,
    writer: Writing,
    handler: Handler,
    place: OpenConnection,
    may_go_on: Callable[[], bool] = lambda: True,
) -> None:
    """Answer one request after another until the client ends, takes too long, or may not go on."""
    writer.transport.set_write_buffer_limits(high=0)  # drain() then waits until everything is with the kernel
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
    patience = HEAD_SECONDS
    while True:
        place.reach(Stage.REQUEST)
        request = None
        try:
            request = await asyncio.wait_for(_next_request(connection, reader, place.peer), patience)
            if request is None:
                return
            await asyncio.wait_for(_discard_body(connection, reader, request), BODY_SECONDS)
        except h11.RemoteProtocolError as error:
            if connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                response = Response(error.error_status_hint, f"{error}\n".encode())
                place.reach(Stage.TAKING)
                without_body = request is not None and request.method == "HEAD"
                await asyncio.wait_for(_send(connection, writer, response, without_body, True), SEND_SECONDS)
            return
        if not may_go_on():
            return
        place.reach(Stage.ANSWER)
        response = await _answer(handler, request)
        place.reach(Stage.TAKING)
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


async def _next_event(connection: h11.Connection, reader: Reading) -> object:
    while True:
        event = connection.next_event()
        if event is not h11.NEED_DATA:
            return event
        connection.receive_data(await reader.read(READ_BYTES))


async def _next_request(connection: h11.Connection, reader: Reading, peer: Peer) -> Request | None:
    event = await _next_event(connection, reader)
    if not isinstance(event, h11.Request):
        return None
    headers = {name.decode("ascii"): value.decode("latin-1") for name, value in event.headers}
    target = event.target.decode("ascii", "replace")
    absolute = _ABSOLUTE.match(target)
    if absolute:
        # Whoever takes us for a proxy names the host here, and Host counts no more: RFC 9112, 3.2.2.
        headers["host"] = absolute["host"]
        target = "/" + target[absolute.end() :].removeprefix("/")
    path, _, query = target.partition("?")
    return Request(event.method.decode("ascii"), path, query, headers, peer)


async def _discard_body(connection: h11.Connection, reader: Reading, request: Request) -> None:
    """No request here needs a body: a short one is read and dropped, a long one refused."""
    length = 0
    if "content-length" in request.headers and "transfer-encoding" in request.headers:
        # Two lengths for one body are how a request is smuggled past a proxy: RFC 9112, 6.3.
        raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
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


def each_once(*parts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers of all parts; of the same in two, the later part's."""
    found = {name.lower(): (name, value) for part in parts for name, value in part}
    return list(found.values())


def _reason(status: int) -> bytes:
    return HTTPStatus(status).phrase.encode("ascii")


async def _send(
    connection: h11.Connection, writer: Writing, response: Response, without_body: bool, last: bool
) -> None:
    headers = [
        ("Content-Type", response.content_type),
        ("Content-Length", str(len(response.body))),
        *each_once(EVERYWHERE, response.headers),
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
