"""Offsets are learned from sessions of which everything is known, and never guessed."""

import struct

import pytest

from myisam_advisor.workload.probing.learning import Memory, learn
from myisam_advisor.workload.probing.place import Offsets, Packet
from myisam_exporter.errors import StatementRefusedError, UserError
from myisam_exporter.server.driver import Row

NAME_AT = 0x900000
HOLDER, BUFFER = 0x40000, 0x50000


class Session:
    """One of ours, that a server has at an address."""

    def __init__(self, number: int, address: int, allowed: bool = True, prepares: bool = True) -> None:
        self.number, self.address, self.allowed, self.prepares = number, address, allowed, prepares
        self.has_schema = False
        self.statement_behind = False
        self.pseudo = number
        self.counts = {"PREPARE": 0, "EXECUTE": 0, "all": 0}
        self.sent = b""

    def connection_number(self) -> int:
        """As a server counts it."""
        return self.number

    def rows(self, statement: str, *, columns: int | None = None) -> list[Row]:
        """As a server answers."""
        self.sent = statement.encode()
        word = statement.split(maxsplit=1)[0]
        if word == "PREPARE" and not self.prepares:
            raise StatementRefusedError(1461, "too many")
        for counted in (word, "all"):
            self.counts[counted] = self.counts.get(counted, 0) + 1
        if statement.startswith("USE"):
            self.has_schema = True
        if statement.startswith("SET"):
            if not self.allowed:
                raise StatementRefusedError(1227, "denied")
            self.pseudo = 3_999_999_999
        return [(str(self.number),)]


class Server(Memory):
    """Its memory: the number at 40, what a client may set at 24, the database at 64."""

    def __init__(self, *sessions: Session, has_schema: bool = True) -> None:
        self.sessions, self.has_schema = sessions, has_schema

    def read(self, address: int, size: int) -> bytes:
        """What is there."""
        if address == NAME_AT:
            return (b"information_schema" if self.has_schema else b"another").ljust(32, b"\0")[:size]
        for session in self.sessions:
            if session.address == address:
                schema = (NAME_AT, 18) if session.has_schema else (0, 0)
                head = struct.pack("<24xI12xI20xQQ16x", session.pseudo, session.number, *schema)
                # What the server counts for its statistics, side by side; and the number of the next one, beside that of all statements.
                counts = [session.counts["PREPARE"], session.counts["EXECUTE"], *[0] * 8, session.counts["PREPARE"], session.counts["all"]]
                addresses = (address + HOLDER, address + BUFFER)
                behind = session.counts["PREPARE"] if session.statement_behind else 0
                return head + struct.pack("<12Q2QQ", *counts, *addresses, behind)
            if address == session.address + HOLDER:
                return struct.pack("<QQQ", 0, len(session.sent), session.address + BUFFER + 1)[:size]
            at = address - session.address - BUFFER - 1
            if 0 <= at < 4096:
                return (bytes(11) + session.sent[11:])[at : at + size]
        return b""


def learned(first: Session, second: Session, server: Server) -> Offsets:
    return learn(server, (first, second), lambda session: session.address, "abc", is_parsed=False)  # type: ignore[attr-defined]


def test_both_are_found_and_what_a_client_may_set_is_not_taken() -> None:
    first, second = Session(5, 0x100000), Session(6, 0x200000)
    assert learned(first, second, Server(first, second)) == Offsets(40, 64, 96 + 80)


def test_without_the_right_to_set_it_the_first_place_is_taken() -> None:
    first, second = Session(5, 0x100000), Session(6, 0x200000, allowed=False)
    assert learned(first, second, Server(first, second)) == Offsets(24, 64, 96 + 80)


def test_what_is_not_found_is_refused_with_the_build() -> None:
    first, second = Session(5, 0x100000), Session(6, 0x200000)
    with pytest.raises(UserError, match=r"build id abc.*default databases"):
        learned(first, second, Server(first, second, has_schema=False))
    with pytest.raises(UserError, match="connections' numbers"):
        learned(first, second, Server())


def test_what_was_sent_is_found_behind_an_object_of_the_session() -> None:
    first, second = Session(5, 0x100000), Session(6, 0x200000)
    told = learn(Server(first, second), (first, second), lambda session: session.address, "abc", is_parsed=True)  # type: ignore[attr-defined]
    assert told.packet == Packet(96 + 96, 16, 8)


def test_without_the_right_to_prepare_the_place_is_not_known() -> None:
    first, second = Session(5, 0x100000, prepares=False), Session(6, 0x200000)
    assert learned(first, second, Server(first, second)).prepared is None


@pytest.mark.parametrize(("behind_both", "found"), [(False, 96 + 80), (True, None)])
def test_the_number_of_a_statement_that_stands_behind_a_session_is_not_taken_for_the_count(behind_both: bool, found: int | None) -> None:
    first, second = Session(5, 0x100000), Session(6, 0x200000)
    first.statement_behind, second.statement_behind = True, behind_both
    assert learned(first, second, Server(first, second)).prepared == found
