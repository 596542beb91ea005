"""The one connection with a target: pauses after failures, attempts that hang."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.server.target import Target
from myisam_exporter.watching.connection import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, Connection
from tests.support.lying_server import HostileServer, honest
from tests.support.moved_clock import MovedClock


class Refused:
    """An option file that cannot be read; counts how often it was asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> Target:
        self.asked += 1
        raise UserError("no such file")


def test_the_pause_grows_to_its_limit_and_nobody_connects_within_it() -> None:
    refused, clock = Refused(), MovedClock()
    connection = Connection(refused, 1, clock)
    pause, pauses = FIRST_PAUSE_SECONDS, []
    for number in range(1, 7):
        with pytest.raises(UserError, match=r"^no such file$"):
            connection.session()
        clock.move(pause - 0.5)
        with pytest.raises(UserError, match=r"no such file \(trying again in \d s\)"):
            connection.session()
        assert refused.asked == number
        pauses.append(pause)
        clock.move(0.5)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
    assert pauses == [1, 2, 4, 8, 10, 10]


def test_after_a_success_the_pause_is_short_again() -> None:
    clock = MovedClock()
    targets: list[Target] = []

    def resolve() -> Target:
        if not targets:
            raise UserError("no such file")
        return targets[0]

    connection = Connection(resolve, 1, clock)
    for _ in range(4):
        with pytest.raises(UserError):
            connection.session()
        clock.move(LONGEST_PAUSE_SECONDS)
    with HostileServer(honest) as server:
        targets.append(at(server.port))
        connection.lost(connection.session(), "it went")
    with pytest.raises(UserError, match=r"it went \(trying again in 1 s\)"):
        connection.session()


def test_after_a_reload_it_connects_at_once() -> None:
    refused = Refused()
    connection = Connection(refused, 1, MovedClock())
    for _ in range(2):
        with pytest.raises(UserError):
            connection.session()
    assert refused.asked == 1
    connection.close()
    with pytest.raises(UserError, match=r"^no such file$"):
        connection.session()
    assert refused.asked == 2


def at(port: int) -> Target:
    return Target("m", host="127.0.0.1", port=port)


def found(name: str) -> Target:
    return Target("m", socket=Path("/nowhere") / name, is_found=True)


@pytest.mark.parametrize(
    ("first", "then", "is_refused"),
    [
        (at(1), at(2), True),
        (at(1), replace(at(1), password="changed"), False),
        (at(1), found("a.sock"), True),
        (found("a.sock"), at(1), True),
        (found("a.sock"), found("b.sock"), False),  # none that is there: the first default place is named
    ],
)
def test_no_other_server_takes_the_place_of_the_first_before_a_reload(first: Target, then: Target, is_refused: bool) -> None:
    """What is remembered, and the name that its samples have, is of the first."""
    targets = [first, then]
    connection = Connection(lambda: targets.pop(0), 1, MovedClock())
    with pytest.raises(UserError):
        connection.session()
    connection.close()
    with pytest.raises(UserError) as caught:
        connection.session()
    assert ("the options name another server by now" in str(caught.value)) == is_refused


def test_an_attempt_that_hangs_is_given_up_for_another_when_its_lease_is_over() -> None:
    hung, release, clock = threading.Event(), threading.Event(), MovedClock()
    attempts: list[int] = []

    def resolve() -> Target:
        attempts.append(len(attempts))
        if len(attempts) == 1:
            hung.set()
            release.wait(10)
        raise UserError(f"attempt {len(attempts)}")

    connection = Connection(resolve, 1, clock)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(connection.session)
        assert hung.wait(5)
        with pytest.raises(ServerLostError, match="a connection is being made"):
            connection.session()
        assert len(attempts) == 1
        clock.move(2.1)
        with pytest.raises(UserError, match=r"^attempt 2$"):
            connection.session()
        release.set()
        with pytest.raises(UserError, match=r"^attempt 2$"):  # its own words; the pause is the second's
            first.result(5)
    with pytest.raises(UserError, match="trying again in 1 s"):
        connection.session()


def test_a_reload_gives_up_an_attempt_that_is_by_what_held_before_it() -> None:
    hung, release = threading.Event(), threading.Event()
    asked: list[int] = []

    def resolve() -> Target:
        asked.append(len(asked))
        if len(asked) > 1:
            return replace(at(1), password="changed")
        hung.set()
        release.wait(10)
        return at(1)

    connection = Connection(resolve, 1, MovedClock())
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(connection.session)
        assert hung.wait(5)
        connection.renew()
        release.set()
        with pytest.raises(UserError):
            first.result(5)
    with pytest.raises(UserError) as caught:
        connection.session()
    assert "trying again" not in str(caught.value), "its failure says nothing of what holds now"


def test_a_reload_that_changes_nothing_leaves_an_attempt_alone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(1) as pool:
        silent.settimeout(5)
        targets = [at(silent.getsockname()[1])]
        connection = Connection(lambda: targets[-1], 60, MovedClock())
        first = pool.submit(connection.session)
        reached, _ = silent.accept()
        # The attempt lasts until the test ends it, and who comes meanwhile waits shorter: of two equal times either may be over first.
        connection._timeout_seconds = 1
        connection.renew()
        with reached, pytest.raises(ServerLostError, match="a connection is being made"):
            connection.session()
        with pytest.raises(UserError, match=r"127\.0\.0\.1"):
            first.result(5)
        with pytest.raises(UserError, match="trying again"):
            connection.session()
