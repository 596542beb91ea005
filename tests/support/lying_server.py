"""A server that lies: it speaks MySQL's protocol up to a point, and from there on sends what a test wants."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType

NATIVE = b"mysql_native_password"
CHALLENGE = b"abcdefgh", b"ij0123456789"
# What MariaDB 10.11 says that it can: TLS is 0x0800, plugins 0x00080000.
CAPABILITIES = 0xA03FF7FE & ~0x0800
CAN_TLS = 0x0800
OK = b"\0\0\0\2\0\0\0"
EOF = b"\xfe\0\0\2\0"


def packet(number: int, body: bytes) -> bytes:
    return struct.pack("<I", len(body))[:3] + bytes([number % 256]) + body


def text(value: bytes | None) -> bytes:
    """A value in a row: NULL, or its length and the bytes."""
    if value is None:
        return b"\xfb"
    if len(value) < 251:
        return bytes([len(value)]) + value
    return b"\xfe" + struct.pack("<Q", len(value)) + value


def greeting(plugin: bytes = NATIVE, capabilities: int = CAPABILITIES, version: bytes = b"5.5.5-10.11.19-MariaDB") -> bytes:
    low, high = capabilities & 0xFFFF, capabilities >> 16
    first, second = CHALLENGE
    return b"\x0a" + version + b"\0\7\0\0\0" + first + b"\0" + struct.pack("<HBHHB", low, 45, 2, high, 21) + bytes(10) + second + b"\0" + plugin + b"\0"


def error(number: int, message: bytes) -> bytes:
    return b"\xff" + struct.pack("<H", number) + b"#HY000" + message


def column(name: bytes) -> bytes:
    return text(b"def") + 3 * text(b"") + text(name) + text(name) + b"\x0c" + struct.pack("<HIBHB", 45, 1000, 253, 0, 0) + b"\0\0"


def rows(columns: int, values: Iterable[Iterable[bytes | None]], ends: bool = True) -> Iterator[bytes]:
    """The packets of an answer, numbered from 1; without its end they go on for as long as `values` do."""
    number = 1
    for body in (bytes([columns]), *(column(b"c%d" % index) for index in range(columns)), EOF):
        yield packet(number, body)
        number += 1
    for row in values:
        yield packet(number, b"".join(map(text, row)))
        number += 1
    if ends:
        yield packet(number, EOF)


class Client:
    """One connection of a client with the server that lies."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.heard: list[bytes] = []
        self.said: list[bytes] | None = None  # a list keeps it

    def send(self, number: int, body: bytes) -> None:
        self.send_all([packet(number, body)])

    def send_all(self, parts: Iterable[bytes]) -> None:
        for part in parts:
            if self.said is not None:
                self.said.append(part)
            self.connection.sendall(part)

    def hear(self) -> bytes:
        """The client's next packet; raises OSError at the end."""
        header = self._exactly(4)
        self.heard.append(self._exactly(int.from_bytes(header[:3], "little")))
        return self.heard[-1]

    def encrypt(self, certificate: str, key: str) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.connection = context.wrap_socket(self.connection, server_side=True)

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.connection.recv(count - len(data))
            if not part:
                raise ConnectionError("the client went")
            data += part
        return data

    def log_in(self) -> None:
        """As an honest server does it."""
        self.send(0, greeting())
        self.hear()
        self.send(2, OK)


ANSWERS: dict[bytes, Callable[[], Iterable[bytes]]] = {
    b"SELECT @@version, @@version_comment": lambda: rows(2, [(b"10.11.19-MariaDB", b"Debian")]),
    b"SHOW GLOBAL STATUS": lambda: rows(2, [(b"Uptime", b"100"), (b"Threads_running", b"1"), (b"Key_reads", b"5"), (b"Key_read_requests", b"50")]),
    b"SHOW GLOBAL VARIABLES": lambda: rows(2, [(b"key_buffer_size", b"8388608"), (b"key_cache_block_size", b"1024"), (b"port", b"3306")]),
}


def honest(client: Client, lies: dict[bytes, Callable[[], Iterable[bytes]]] | None = None, seen: list[bytes] | None = None, questions: int = 1 << 30) -> None:
    """Log in, and answer everything: the few questions known above, and those of `lies` (by how they begin) by a lie; and go after so many questions."""
    client.log_in()
    for _ in range(questions):
        question = client.hear()[1:]
        if seen is not None:
            seen.append(question)
        lie = next((lie for start, lie in (lies or {}).items() if question.startswith(start)), None)
        answer = lie or ANSWERS.get(question)
        if answer is not None:
            client.send_all(answer())
        elif question.startswith(b"S") and not question.startswith((b"SET", b"SHOW GLOBAL STATUS WHERE")):
            client.send(1, error(1109, b"Unknown table"))
        else:
            client.send(1, OK)


class HostileServer:
    """Serves each client by a function of a test, in a thread of its own. What clients said is in `heard`."""

    def __init__(self, serve: Callable[[Client], None], address: str | None = None) -> None:
        self._serve = serve
        if address is None:
            self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
            self.port = int(self._listener.getsockname()[1])
        else:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(address)
            self._listener.listen(100)
        self.clients: list[Client] = []

    @property
    def heard(self) -> bytes:
        return b"|".join(part for client in self.clients for part in client.heard)

    def __enter__(self) -> "HostileServer":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._listener.close()
        for client in self.clients:
            client.connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            client = Client(connection)
            self.clients.append(client)
            threading.Thread(target=self._one, args=(client,), daemon=True).start()

    def _one(self, client: Client) -> None:
        try:
            self._serve(client)
        except (OSError, ValueError):
            pass  # the client went
        finally:
            client.connection.close()
