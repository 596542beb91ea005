"""The first words of whoever answers: a server's, an error in their stead, and what is neither."""

import socket

import pytest

from myisam_exporter.errors import StatementRefusedError
from myisam_exporter.server.greeting import MAXIMUM_GREETING_BYTES, NoServerError, read_greeting

CHALLENGE = b"12345678"
# Behind the capabilities' lower half: character set, status, their upper half, length of the challenge, ten bytes of nothing.
WITH_PLUGIN = b"\x08\x02\x00\xff\x81\x15" + bytes(10) + b"9012345678901234"[:12] + b"\0mysql_native_password\0"


def packet(body: bytes, number: int = 0) -> bytes:
    return len(body).to_bytes(3, "little") + bytes([number]) + body


def greeting_of(sent: bytes) -> tuple[int, str, bool]:
    """What is read of it, while the other end stays open: whoever waits for more than was sent does so until the limit of time."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(1)
        theirs.sendall(sent)
        found = read_greeting(ours)
        assert found.packet == sent
        return found.capabilities, found.plugin, found.can_tls


def hello(behind: bytes, capabilities: bytes = b"\xfe\xf7", version: bytes = b"\x0a") -> bytes:
    return version + b"5.5.62\0" + bytes(4) + CHALLENGE + b"\0" + capabilities + behind


def test_capabilities_are_of_both_halves_and_the_plugin_stands_behind_the_challenge() -> None:
    assert greeting_of(packet(hello(WITH_PLUGIN))) == (0x81FFF7FE, "mysql_native_password", False)
    assert greeting_of(packet(hello(WITH_PLUGIN, b"\xfe\xff"))) == (0x81FFFFFE, "mysql_native_password", True)


def test_a_longer_challenge_moves_the_plugin() -> None:
    longer = b"\x08\x02\x00\xff\x81\x1c" + bytes(10) + bytes(20) + b"sha256_password\0"
    assert greeting_of(packet(hello(longer))) == (0x81FFF7FE, "sha256_password", False)


def test_an_old_server_says_less() -> None:
    assert greeting_of(packet(hello(b""))) == (0xF7FE, "", False)


@pytest.mark.parametrize(("body", "text"), [(b"#HY000Host is blocked", "Host is blocked"), (b"Zu viele Verbindungen: \xfc", "Zu viele Verbindungen: \N{LATIN SMALL LETTER U WITH DIAERESIS}")])
def test_an_error_in_its_stead_is_told_in_any_encoding(body: bytes, text: str) -> None:
    with pytest.raises(StatementRefusedError) as refused:
        greeting_of(packet(b"\xff\x69\x04" + body))
    assert (refused.value.number, refused.value.text) == (1129, text)


@pytest.mark.parametrize("sent", [
    b"HTTP/1.1 400 Bad Request\r\n",
    packet(b""),
    packet(hello(WITH_PLUGIN, version=b"\x09")),
    packet(hello(WITH_PLUGIN), number=3),
    (MAXIMUM_GREETING_BYTES + 1).to_bytes(3, "little") + b"\0" + b"\x0a" * 20,
    packet(b"\x0a5.5.62"),
    packet(hello(WITH_PLUGIN)[:20]),
])  # fmt: skip
def test_what_speaks_otherwise_is_no_server_and_is_not_waited_for(sent: bytes) -> None:
    with pytest.raises(NoServerError):
        greeting_of(sent)


def test_an_end_within_it_is_one() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            theirs.sendall(packet(hello(WITH_PLUGIN))[:30])
        with pytest.raises(EOFError):
            read_greeting(ours)
