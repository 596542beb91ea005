"""What answers in a daemon's place on its socket, and how long anybody waits for it."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from myisam_advisor.top.from_daemon import FromDaemon
from myisam_exporter.errors import UserError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
CLOSES = b"HTTP/1.0 200 OK\r\n\r\n"
SECONDS = 0.5


@pytest.fixture(params=[b"", HEAD, CLOSES], ids=["head", "body", "until it closes"])
def dripping(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A socket on which an answer comes byte by byte, its head or its body."""
    path = tmp_path / "socket"

    def drip(listener: socket.socket) -> None:
        with suppress(OSError), closing(listener.accept()[0]) as connection:
            connection.sendall(request.param)
            for _ in range(200):
                connection.sendall(b" " if request.param else b"H")
                time.sleep(SECONDS / 5)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=drip, args=(listener,), daemon=True)
        thread.start()
        yield path
    thread.join(5)


def test_an_answer_that_comes_byte_by_byte_is_late(dripping: Path) -> None:
    """Each byte came in time, and `top --once` waited for all of them: days."""
    begun = time.monotonic()
    with pytest.raises(UserError, match=r"its answer takes longer than 0\.5 s"):
        FromDaemon(dripping, SECONDS).look()
    assert time.monotonic() - begun < 20 * SECONDS
