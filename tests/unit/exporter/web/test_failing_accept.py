"""Connections that cannot be accepted: whatever fails, and however long, takes no processor."""

import asyncio
import errno
import logging
import os
import socket

import pytest

from myisam_exporter.web import server as web_server
from myisam_exporter.web.server import HttpServer, Request, Response


async def handler(_: Request) -> Response:
    return Response(200)


@pytest.mark.parametrize("number", [errno.EIO, errno.EINVAL, errno.EMFILE])
def test_what_fails_for_long_takes_no_processor(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

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


def test_a_shortage_is_told_once_and_a_later_one_again(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(web_server, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(web_server, "SHORTAGE_GAP_SECONDS", 0.2)
    failures = 0

    async def served() -> None:
        loop = asyncio.get_running_loop()
        is_short = True

        async def failing(_: socket.socket) -> tuple[socket.socket, object]:
            nonlocal failures
            if not is_short:
                await asyncio.sleep(60)
            failures += 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

        monkeypatch.setattr(loop, "sock_accept", failing)
        server = HttpServer(handler)
        for _ in range(2):
            is_short = True
            await server.listen("127.0.0.1", 0)
            await asyncio.sleep(0.3)
            is_short = False
            await asyncio.sleep(0.3)
        await server.close()

    with caplog.at_level(logging.WARNING):
        asyncio.run(served())
    assert failures > 10
    assert len(caplog.messages) == 2, caplog.messages
    assert all("Too many open files" in message and "LimitNOFILE=" in message for message in caplog.messages)
