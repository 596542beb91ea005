"""A password that keeps itself: it can be hashed, and nothing else, unless the way is verified."""

import hashlib
import pickle
from collections.abc import Callable

import pytest

from myisam_exporter.server.password import Password, PasswordKeptError

SECRET = "S3cret-ä"


@pytest.mark.parametrize(
    "use",
    [
        lambda password: password + b"\0", lambda password: b"" + password, lambda password: bytearray(iter(password)), lambda password: password[0],
        lambda password: password[:], lambda password: password.decode("utf-8"), lambda password: password * 1, lambda password: 1 * password, lambda password: password.hex(),
        lambda password: password % (), list,
    ],
)  # fmt: skip
def test_it_refuses_to_be_sent(use: Callable[[Password], object]) -> None:
    with pytest.raises((PasswordKeptError, TypeError)) as caught:
        assert SECRET.encode() not in repr(use(Password(SECRET, lambda: False))).encode()
        pytest.fail("it was given away")
    assert SECRET not in repr(caught.value)


def test_it_can_be_hashed_and_is_true_where_there_is_one() -> None:
    password = Password(SECRET, lambda: False)
    assert hashlib.sha1(password).digest() == hashlib.sha1(SECRET.encode()).digest()
    assert password
    assert not Password("", lambda: False)
    assert len(password) == len(SECRET.encode())


def test_it_is_sent_while_the_way_is_verified_and_only_then() -> None:
    ways = [False]
    password = Password(SECRET, lambda: ways[0])
    with pytest.raises(PasswordKeptError):
        password + b"\0"
    ways[0] = True
    assert password + b"\0" == SECRET.encode() + b"\0"
    ways[0] = False
    with pytest.raises(PasswordKeptError):
        password + b"\0"


def test_nothing_shows_it() -> None:
    password = Password(SECRET, lambda: True)
    assert SECRET not in f"{password} {password!r} {[password]}"
    with pytest.raises(PasswordKeptError):
        pickle.dumps(password)
