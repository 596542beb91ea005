"""The metered socket: its limit of time is the kernel's, and is told as Python tells its own."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator

import pytest

from myisam_exporter.server.wire import (
    LOOK_SECONDS,
    READ_BYTES,
    Meter,
    MeteredSocket,
    TooMuchError,
    metered,
    one_look,
    patience_seconds,
    waited,
)


@pytest.fixture
def ends() -> Iterator[tuple[MeteredSocket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.settimeout(0.05)
    meter = Meter()
    meter.allow(1 << 20)
    wire = metered(ours, meter)
    yield wire, theirs
    wire.close()
    theirs.close()


def test_a_silent_server_is_waited_for_so_long(ends: tuple[MeteredSocket, socket.socket]) -> None:
    wire, _ = ends
    assert wire.gettimeout() == 0.05
    for read in (lambda: wire.recv(1), lambda: wire.recv_into(bytearray(1)), lambda: wire.makefile("rb").read(1)):
        begun = time.monotonic()
        with pytest.raises(TimeoutError, match="timed out"):
            read()
        assert time.monotonic() - begun >= 0.04


def test_a_server_that_reads_nothing_is_waited_for_so_long(ends: tuple[MeteredSocket, socket.socket]) -> None:
    wire, _ = ends
    with pytest.raises(TimeoutError, match="timed out"):
        wire.sendall(b"x" * (8 << 20))


def test_without_a_limit_it_waits(ends: tuple[MeteredSocket, socket.socket]) -> None:
    wire, theirs = ends
    wire.settimeout(None)
    assert wire.gettimeout() is None
    threading.Timer(0.2, theirs.sendall, (b"late",)).start()
    assert wire.recv(4) == b"late"


def test_the_smallest_limit_is_one(ends: tuple[MeteredSocket, socket.socket]) -> None:
    wire, _ = ends
    wire.settimeout(0)  # to the kernel, zero would be for ever
    with pytest.raises(TimeoutError):
        wire.recv(1)


def test_an_answer_is_read_at_once_and_counted(ends: tuple[MeteredSocket, socket.socket]) -> None:
    wire, theirs = ends
    theirs.sendall(b"a" * READ_BYTES)
    assert wire.makefile("rb").read(1) == b"a"
    assert wire.meter.received_bytes == READ_BYTES
    wire.meter.allow(2)
    theirs.sendall(b"abc")
    with pytest.raises(TooMuchError):
        wire.recv_into(bytearray(3))


def test_what_was_put_back_comes_first(ends: tuple[MeteredSocket, socket.socket]) -> None:
    wire, theirs = ends
    wire.put_back = b"ab"
    theirs.sendall(b"cd")
    file = wire.makefile("rb")
    assert file.read(4) == b"abcd"


def test_tls_takes_the_limit_over(ends: tuple[MeteredSocket, socket.socket]) -> None:
    wire, _ = ends
    context = ssl.create_default_context()
    with context.wrap_socket(wire, server_hostname="nobody.invalid", do_handshake_on_connect=False) as wrapped:
        assert wrapped.gettimeout() == 0.05
        with pytest.raises(TimeoutError):
            wrapped.do_handshake()


def test_a_look_waits_for_less_the_more_was_waited_for() -> None:
    assert patience_seconds(10.0) == 10.0, "what is asked beside a look is no part of one"
    with one_look():
        waited(LOOK_SECONDS - 15.0)
        assert patience_seconds(10.0) == 10.0
        waited(12.0)
        assert patience_seconds(10.0) == pytest.approx(3.0)
        assert patience_seconds(2 * LOOK_SECONDS) == pytest.approx(LOOK_SECONDS + 3.0), "whoever allows one answer more than a look has it"
        waited(4.0)
        assert patience_seconds(10.0) < 0
    with one_look():
        assert patience_seconds(10.0) == 10.0
