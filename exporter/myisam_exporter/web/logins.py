"""The users of the web configuration: whether a login is right, in the same time whoever it names; those that were right are remembered.

bcrypt is slow on purpose: by default 60 ms (cost 10), and twice that for each step of the cost.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field

from myisam_exporter.declaring.lean_dataclasses import dataclass

REMEMBERED_LOGINS = 100
# Logins that wait to be verified, or are: half a second's worth at cost 10, and half of them for one peer.
WAITING_LOGINS, WAITING_LOGINS_PER_PEER = 8, 4
# What users that do not exist are checked against, at whatever cost. It fits no password.
_NOBODY = "QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi"


def cost_of(hashed: str) -> int:
    """The cost of a bcrypt hash `$2y$10$...`: 2^cost rounds."""
    return int(hashed[4:6])


class Logins:
    """Users with their bcrypt hashes. `verify` is for one thread alone; the others may ask what is remembered."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self.users = dict(users)
        self._cost = max(map(cost_of, self.users.values()), default=0)
        self._good: dict[bytes, None] = {}

    def is_remembered(self, authorization: str) -> bool:
        """Whether this Authorization header was found right before. Fast."""
        credentials = _credentials(authorization)
        return credentials is not None and _digest(*credentials) in self._good

    def verify(self, authorization: str) -> bool:
        """Whether this Authorization header is right. Slow (bcrypt): not for an event loop."""
        credentials = _credentials(authorization)
        if credentials is None:
            return False
        user, password = credentials
        known = self.users.get(user)
        right = _fits(password, known or f"$2y${self._cost:02}${_NOBODY}") and known is not None
        # As many rounds as the costliest hash takes, lest time tell which users there are: 2^c + (2^c + ... + 2^(m-1)) = 2^m.
        for cost in range(cost_of(known) if known else self._cost, self._cost):
            _fits(password, f"$2y${cost:02}${_NOBODY}")
        if right:
            while len(self._good) >= REMEMBERED_LOGINS:
                del self._good[next(iter(self._good))]
            self._good[_digest(user, password)] = None
        return right


def _credentials(authorization: str) -> tuple[str, str] | None:
    """User and password of a header `Basic ...`, or None where it is none."""
    kind, _, encoded = authorization.partition(" ")
    try:
        user, colon, password = base64.b64decode(encoded, validate=True).decode("utf-8").partition(":")
    except ValueError:
        return None
    return (user, password) if kind.lower() == "basic" and colon else None


def _digest(user: str, password: str) -> bytes:
    return hashlib.sha256(f"{user}:{password}".encode()).digest()  # a user's name holds no colon


def _fits(password: str, hashed: str) -> bool:
    import bcrypt

    try:
        # exporter-toolkit, as bcrypt itself, looks at the first 72 bytes.
        return hmac.compare_digest(bcrypt.hashpw(password.encode()[:72], hashed.encode()), hashed.encode())
    except ValueError:  # a password with a NUL
        return False


class TooManyLoginsError(Exception):
    """More logins wait to be verified than are taken."""


@dataclass(slots=True)
class LoginQueue:
    """Verifies logins one after another in a thread of its own; only for the event loop's thread.

    Who was right before does not wait; nor does whoever asks the same as one that waits.
    """

    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="login"))
    _waiting: dict[tuple[Logins, bytes], asyncio.Future[bool]] = field(default_factory=dict)
    _by_peer: Counter[str] = field(default_factory=Counter)

    async def admits(self, logins: Logins, authorization: str, group: str) -> bool:
        """Whether this Authorization header, of that group of peers, is right. Raises TooManyLoginsError."""
        if logins.is_remembered(authorization):
            return True
        if _credentials(authorization) is None:
            return False
        key = (logins, hashlib.sha256(authorization.encode()).digest())
        verdict = self._waiting.get(key)
        if verdict is None:
            if len(self._waiting) >= WAITING_LOGINS or self._by_peer[group] >= WAITING_LOGINS_PER_PEER:
                raise TooManyLoginsError
            loop = asyncio.get_running_loop()
            verdict = self._waiting[key] = loop.run_in_executor(self._thread, logins.verify, authorization)
            self._by_peer[group] += 1
            verdict.add_done_callback(lambda _: self._done(key, group))
        # Whoever stops waiting takes the verdict from nobody else.
        return await asyncio.shield(verdict)

    def _done(self, key: tuple[Logins, bytes], group: str) -> None:
        self._waiting.pop(key, None)
        self._by_peer[group] -= 1
        if not self._by_peer[group]:
            del self._by_peer[group]
