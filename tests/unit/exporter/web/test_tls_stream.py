"""Requests over TLS whose handshake waits for turns: answers of any length, clients that stop half-way, what is no TLS."""

import asyncio
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from myisam_exporter.web.security import read_web_config
from myisam_exporter.web.server import HttpServer, Request, Response

LONG = bytes(range(256)) * 20_000
ASK = b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A context as the web configuration makes it."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    Path(folder / "web.yaml").write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n")
    context = read_web_config(folder / "web.yaml").tls
    assert context is not None
    return context


def _client() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def run(context: ssl.SSLContext, attempt: Callable[[HttpServer, int], Awaitable[None]]) -> None:
    """Serve under that context while the attempt lasts."""

    async def handler(request: Request) -> Response:
        return Response(200, LONG if request.path == "/long" else request.path.encode())

    async def serving() -> None:
        server = HttpServer(handler, lambda: context)
        ((_, port),) = await server.listen("127.0.0.1", 0)
        try:
            await asyncio.wait_for(attempt(server, port), 20)
        finally:
            await server.close()

    asyncio.run(serving())


async def _answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    (length,) = (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    return await reader.readexactly(length)


def test_answers_of_any_length_on_one_connection(configured: ssl.SSLContext) -> None:
    async def attempt(server: HttpServer, port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=_client())
        for path in ("short", "long", "other"):
            writer.write(ASK % path.encode())
            await asyncio.sleep(0.05)  # what is not taken fills the kernel's buffers
            assert await _answer(reader) == (LONG if path == "long" else b"/" + path.encode())
        writer.close()

    run(configured, attempt)


def test_no_step_of_a_handshake_is_taken_out_of_turn(configured: ssl.SSLContext) -> None:
    async def attempt(server: HttpServer, port: int) -> None:
        async with server._handshakes.of("somebody else"):
            connecting = asyncio.create_task(asyncio.open_connection("127.0.0.1", port, ssl=_client()))
            while not server._handshakes._line:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            assert not connecting.done()
        reader, writer = await connecting
        writer.write(ASK % b"now")
        assert await _answer(reader) == b"/now"
        writer.close()

    run(configured, attempt)


@pytest.mark.parametrize("sent", [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/1.0\r\n\r\n", b"\x00" * 70_000])
def test_what_is_no_handshake_or_half_of_one_keeps_nobody_waiting(configured: ssl.SSLContext, sent: bytes) -> None:
    async def attempt(server: HttpServer, port: int) -> None:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
        for _, one in silent:
            one.write(sent)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=_client())
        writer.write(ASK % b"me")
        assert await asyncio.wait_for(_answer(reader), 5) == b"/me"
        for one in (writer, *(one for _, one in silent)):
            one.close()

    run(configured, attempt)


@pytest.mark.parametrize("with_notice", [True, False])
def test_a_client_that_ends_is_let_go(
    configured: ssl.SSLContext, with_notice: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def attempt(server: HttpServer, port: int) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=_client())
        assert len(server._conversations) == 1
        if with_notice:
            writer.close()
        else:
            writer.transport.abort()
        while server._conversations:
            await asyncio.sleep(0.01)

    run(configured, attempt)
    assert not caplog.messages


def test_nobody_asks_for_a_second_handshake_on_a_connection(configured: ssl.SSLContext) -> None:
    """OpenSSL before 3.0 allowed it: a signature for each, in nobody's turn."""
    assert configured.options & ssl.OP_NO_RENEGOTIATION
