"""What is no request that is answered is told so, and is no fault of ours: whoever sends it could fill the log otherwise."""

import asyncio

import pytest

from myisam_exporter.web.server import HttpServer, Request, Response

TWO_LENGTHS = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"


def _answered(sent: bytes) -> bytes:
    """All that comes back until the connection ends."""

    async def handler(_: Request) -> Response:
        return Response(200, b"well")

    async def asked() -> bytes:
        server = HttpServer(handler)
        ((_, port),) = await server.listen("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        answer = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        await server.close()
        return answer

    return asyncio.run(asked())


@pytest.mark.parametrize(
    ("headers", "status"),
    [(TWO_LENGTHS, b"400"), (b"Expect: 100-continue\r\nContent-Length: 5\r\n", b"417"), (b"Content-Length: 70000\r\n", b"413"), (b"Content-Length: x\r\n", b"400")],
)
@pytest.mark.parametrize("method", [b"HEAD", b"GET", b"POST"])
def test_a_refused_request_gets_its_status(
    method: bytes, headers: bytes, status: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a HEAD without a body: to send one is a fault in HTTP, and was told as ours."""
    first = b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for before in (b"", first):
        answer = _answered(before + method + b" / HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" + b"x" * 70_000)
        assert answer.startswith(b"HTTP/1.1 " + (b"200 " if before else status + b" "))
        head, _, body = answer.rpartition(b"\r\n\r\n")
        assert b"HTTP/1.1 " + status in head
        # What is no request at all has no method either.
        assert bool(body) is (method != b"HEAD" or b"Length: x" in headers)
    assert not caplog.messages
