"""Work of the event loop's own, one piece at a time: whose turn it is goes round among those who wait, and others go on between two pieces."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Only for the event loop's thread. Who waits is bounded by who may connect (connection_budget.py)."""

    def __init__(self) -> None:
        self._line: dict[str, deque[asyncio.Future[None]]] = {}  # the peer whose turn is next comes first
        self._is_taken = False

    @asynccontextmanager
    async def of(self, peer: str) -> AsyncIterator[None]:
        """A turn of this peer's, for as long as the block takes; it waits for nothing itself."""
        if self._is_taken:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._line.setdefault(peer, deque()).append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.cancelled():
                    self._forget(peer, turn)
                else:
                    self._pass_on()  # it was given to one who wants it no more
                raise
        self._is_taken = True
        try:
            yield
        finally:
            asyncio.get_running_loop().call_soon(self._pass_on)

    def _pass_on(self) -> None:
        """The next peer's turn, the first of those that it waits with; the peer itself goes to the end of the line."""
        while self._line:
            peer = next(iter(self._line))
            waiting = self._line.pop(peer)
            turn = waiting.popleft()
            if waiting:
                self._line[peer] = waiting
            if not turn.done():
                turn.set_result(None)
                return
        self._is_taken = False

    def _forget(self, peer: str, turn: asyncio.Future[None]) -> None:
        waiting = self._line.get(peer)
        if waiting is not None and turn in waiting:
            waiting.remove(turn)
            if not waiting:
                del self._line[peer]
