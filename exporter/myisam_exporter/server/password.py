"""A password on its way to a server, as a type that says itself how it may travel.

Every client of MySQL's protocol that answers mysql_clear_password, dialog or sha256_password, or encrypts a password with a key that the
server sent, first appends a zero byte to it; the hash of before MySQL 4.1 goes through it byte by byte. Hashing does neither. So a password that
refuses both can prove itself by mysql_native_password, caching_sha2_password (where the server remembers it) and ed25519, and by nothing else,
whatever the server asks for and whatever the library would do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn, SupportsIndex


class PasswordKeptError(Exception):
    """The server asked for the password itself, and the way to it does not allow that."""


class Password(bytes):
    """Bytes that can be hashed; that can be sent while `may_be_sent` says so; and that show nothing."""

    may_be_sent: Callable[[], bool]

    def __new__(cls, text: str, may_be_sent: Callable[[], bool]) -> Password:
        """The password as an option file has it, in UTF-8."""
        password = super().__new__(cls, text.encode("utf-8", "surrogateescape"))
        password.may_be_sent = may_be_sent
        return password

    def __add__(self, other: object, /) -> bytes:
        """The password with something behind it, to be sent. Raises PasswordKeptError where it may not be."""
        if not self.may_be_sent():
            raise PasswordKeptError
        return bytes.__add__(self, other)  # type: ignore[operator]  # what is no bytes it refuses itself

    def _keep(self, *_: object) -> NoReturn:
        raise PasswordKeptError

    def __iter__(self) -> Iterator[int]:
        """Never: the old hash alone goes through a password byte by byte."""
        self._keep()

    def __getitem__(self, key: SupportsIndex | slice, /) -> NoReturn:
        """Never."""
        self._keep()

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Never."""
        self._keep()

    def __repr__(self) -> str:
        """Nothing of it."""
        return "<a password>"

    __str__ = __repr__
    __radd__ = __mul__ = __rmul__ = __mod__ = hex = join = __reduce_ex__ = _keep  # type: ignore[assignment]  # whatever they are given, they do not return
