"""TLS over an accepted connection, with the handshake's steps in our own hands: each of them waits for its peer's turn.

asyncio's own takes a step as soon as bytes come. One step is a signature, milliseconds of the event loop's time, and whoever asks pays
nothing for it: one peer that sent the beginning of handshakes as fast as it could left nobody else a connection.
See docs/decisions/020-who-may-ask.md.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

from myisam_exporter.web.turns import Turns

PART_BYTES = 64 * 1024


class TlsStream:
    """What a StreamReader and a StreamWriter are to a connection without TLS, as far as the server needs them."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, context: ssl.SSLContext) -> None:
        self.transport = writer.transport
        self._reader, self._writer = reader, writer
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._secured = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._waiting: list[bytes] = []

    async def shake_hands(self, turns: Turns, peer: str) -> None:
        """Agree on a key, a step in each turn of the peer's. Raises ssl.SSLError, and ConnectionError where the client is gone."""
        while True:
            if not await self._received():
                raise ConnectionResetError
            try:
                async with turns.of(peer):
                    self._secured.do_handshake()
                return
            except ssl.SSLWantReadError:
                pass
            finally:
                self._send_secured()  # of an error too: what the client is told of it
            await self._writer.drain()

    async def read(self, size: int) -> bytes:
        """What the client sent, so much at most; nothing at the end."""
        while True:
            try:
                return self._secured.read(size)
            except ssl.SSLZeroReturnError:
                return b""
            except ssl.SSLWantReadError:
                self._send_secured()
                if not await self._received():
                    return b""

    def write(self, content: bytes) -> None:
        """Send it with the next `drain`."""
        self._waiting.append(content)

    async def drain(self) -> None:
        """Wait until everything is with the kernel; not more than a part is encrypted before that."""
        content, self._waiting = memoryview(b"".join(self._waiting)), []
        for begin in range(0, len(content), PART_BYTES):
            self._secured.write(content[begin : begin + PART_BYTES])
            self._send_secured()
            await self._writer.drain()

    def get_extra_info(self, name: str) -> Any:
        """The handshake's outcome (`ssl_object`), or what the transport knows."""
        return self._secured if name == "ssl_object" else self._writer.get_extra_info(name)

    async def _received(self) -> bool:
        """Take what came; False at the end of the connection."""
        data = await self._reader.read(PART_BYTES)
        self._incoming.write(data)
        return bool(data)

    def _send_secured(self) -> None:
        if self._outgoing.pending:
            self._writer.write(self._outgoing.read())
