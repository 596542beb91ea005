"""A connection that the other side ends while it is being made: that is not told as a server that did not answer in time."""

import socket
import struct
from pathlib import Path

import pytest

from myisam_exporter.errors import ServerLostError
from myisam_exporter.server.connection_errors import WHO_ENDS_CONNECTIONS, explained
from myisam_exporter.server.driver import BrokenConnectionError, ServerConnection
from myisam_exporter.server.target import Target

RESET = struct.pack("ii", 1, 0)


@pytest.mark.parametrize(("reset", "said"), [(True, "ConnectionResetError"), (False, "EOFError")])
def test_who_ends_a_connection_is_not_said_to_be_slow(reset: bool, said: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def end(_: object) -> None:
            one, _ = listener.accept()
            if reset:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            one.close()

        target = Target("me", host="127.0.0.1", port=listener.getsockname()[1])
        with pytest.raises(BrokenConnectionError) as raised:
            ServerConnection(target, 5, end)
    told = explained(target, raised.value, 5)
    assert isinstance(told, ServerLostError)
    assert str(told) == f"the server at {target.label} ended the connection before it had answered ({said}): {WHO_ENDS_CONNECTIONS}"


def test_one_that_says_nothing_is(tmp_path: Path) -> None:
    target = Target("me", socket=tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        with pytest.raises(BrokenConnectionError) as raised:
            ServerConnection(target, 0.2, lambda _: None)
    assert "did not answer within 1 s (TimeoutError)" in str(explained(target, raised.value, 1))
