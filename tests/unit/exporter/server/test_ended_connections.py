"""A connection that ends too soon: that is not told as a server that did not answer in time, nor as a fault of the program."""

import gc
import socket
import struct
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from myisam_exporter.errors import ServerLostError
from myisam_exporter.server import driver
from myisam_exporter.server.connection_errors import WHO_ENDS_CONNECTIONS, explained
from myisam_exporter.server.driver import BrokenConnectionError, ServerConnection
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from tests.support.lying_server import Client, HostileServer, greeting, honest, packet

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


def test_who_is_interrupted_within_an_answer_leaves_the_rest_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's cursor read on when it was let go, over a connection that was closed: a traceback stood behind what was said of Ctrl-C."""
    untold: list[object] = []

    def interrupted(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.unraisablehook", untold.append)
    monkeypatch.setattr(driver, "read_rows", interrupted)
    with HostileServer(honest) as server:
        connection = ServerConnection(Target("me", host="127.0.0.1", port=server.port), 5, lambda _: None)
        with pytest.raises(KeyboardInterrupt) as raised:
            connection.query("SHOW GLOBAL STATUS")
        connection.close()
        del raised
        gc.collect()
    assert untold == []


def dripping(client: Client) -> None:
    """Its greeting comes byte by byte: no single wait is too long."""
    for byte in packet(0, greeting()):
        client.connection.sendall(bytes([byte]))
        time.sleep(0.2)


def test_of_a_socket_neither_a_name_nor_the_network_is_doubted(tmp_path: Path) -> None:
    with HostileServer(dripping, str(tmp_path / "s")), pytest.raises(ServerLostError) as raised:
        Session(Target("me", socket=tmp_path / "s"), 1)
    assert str(raised.value) == f"no connection with {tmp_path / 's'} came about within 2 s: what answers there is too slow. --timeout allows more time."


def test_a_daemon_that_lost_its_server_is_not_told_to_run_again() -> None:
    """It tries again by itself."""
    answers = 6
    with (
        HostileServer(partial(honest, questions=answers)) as server,
        closing(Session(Target("me", host="127.0.0.1", port=server.port), 1)) as session,
        pytest.raises(ServerLostError) as raised,
    ):
        for _ in range(answers):
            session.rows("SHOW GLOBAL STATUS")
    assert str(raised.value).endswith("Check its error log; --timeout allows more time.")
