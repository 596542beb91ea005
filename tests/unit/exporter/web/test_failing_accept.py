"""Connections that cannot be accepted: whatever fails, and however long, takes no processor."""

import asyncio
import errno
import os
import socket

import pytest

from myisam_exporter.web.server import HttpServer, Request, Response


@pytest.mark.parametrize("number", [errno.EIO, errno.EINVAL, errno.EMFILE])
def test_what_fails_for_long_takes_no_processor(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    async def handler(_: Request) -> Response:
        return Response(200)

    async def served() -> None:
        loop = asyncio.get_running_loop()

        async def failing(_: socket.socket) -> tuple[socket.socket, object]:
            calls.append(1)
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(loop, "sock_accept", failing)
        server = HttpServer(handler)
        await server.listen("127.0.0.1", 0)
        await asyncio.sleep(0.3)
        await server.close()

    asyncio.run(served())
    assert 1 <= len(calls) <= 40
