"""The one connection that a daemon keeps with a target: made when needed, made anew with growing pauses after a failure."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError

from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.server.session import BusyConnectionError, Session
from myisam_exporter.server.target import Target

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 10.0


class Connection:
    """Connects on demand, in the thread of whoever asks; others who ask meanwhile wait for that attempt.

    `resolve` is asked anew each time, so that a changed password in the option file is used at once. The server stays the same: what others
    remember, and what they call it, is of the first.
    """

    def __init__(self, resolve: Callable[[], Target], timeout_seconds: int, clock: Clock = CLOCK) -> None:
        self._resolve = resolve
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self.is_over = False
        self._lock = threading.Lock()  # guards the fields below; never held while connecting
        self._first: Target | None = None
        self._session: Session | None = None
        self._attempt: tuple[Future[Session], float] | None = None
        self._attempted: Target | None = None  # by the attempt that is under way, once it is resolved
        self._pause_seconds = 0.0
        self._not_before = 0.0
        self._failure = ""

    def session(self) -> Session:
        """The open session, or a new one.

        Raises UserError when the server cannot be reached, at once while the pause after the last failure lasts, and when it is over.
        """
        with self._lock:
            if self.is_over:
                raise UserError("it is not watched any more: the configuration changed, or nobody asked for it.")
            if self._session is not None:
                return self._session
            now = self._clock.monotonic()
            if now < self._not_before:
                raise UserError(f"{self._failure} (trying again in {self._not_before - now:.0f} s)")
            theirs = self._attempt[0] if self._attempt is not None and now < self._attempt[1] else None
            mine: Future[Session] = Future()
            if theirs is None:
                # An attempt that hangs, in a resolver for example, is given up for another when its lease is over.
                self._attempt, self._attempted = (mine, now + 2 * self._timeout_seconds), None
        if theirs is None:
            return self._connect(mine)
        try:
            return theirs.result(self._timeout_seconds)
        except FutureTimeoutError:
            raise ServerLostError("a connection is being made: the server answers slowly or not at all.") from None

    def _connect(self, attempt: Future[Session]) -> Session:
        try:
            session = self._opened(attempt)
        except Exception as error:
            known = error if isinstance(error, UserError) else UserError(f"could not connect: {error}")
            self._failed(str(known), attempt)
            attempt.set_exception(known)
            raise known from error
        with self._lock:
            given_up = self._attempt is None or self._attempt[0] is not attempt
            if not given_up:
                self._attempt, self._session, self._pause_seconds = None, session, 0.0
        if given_up:
            session.close()
            late = ServerLostError("this attempt to connect was given up: it took too long, or another one was wanted.")
            attempt.set_exception(late)
            raise late
        attempt.set_result(session)
        return session

    def _opened(self, attempt: Future[Session]) -> Session:
        """A session that the server keeps between two scrapes: one that it ended (wait_timeout) would be told as a server that is down."""
        session = Session(self._same_server(attempt), self._timeout_seconds)
        try:
            session.stay()
        except UserError:
            session.close()
            raise
        return session

    def _same_server(self, attempt: Future[Session]) -> Target:
        """The target, read anew. Raises UserError where it is at another address than the first."""
        fresh = self._resolve()
        with self._lock:
            first = self._first = self._first or fresh
            if self._attempt is not None and self._attempt[0] is attempt:
                self._attempted = fresh
        # While a server that nobody named is away, another place than its own is taken for the default.
        if fresh.label != first.label and not (fresh.is_found and first.is_found):
            raise UserError(
                f"the options name another server by now, {fresh.label}: reload or restart to watch that one."
            )
        return fresh

    def give_up_after(self, session: Session, error: UserError) -> None:
        """Give up a session in which a job failed; not where the job only waited for others to be done with it: their answer may be on its way."""
        if not isinstance(error, BusyConnectionError):
            self.lost(session, str(error))

    def lost(self, session: Session, why: str) -> None:
        """Give up a session that failed; the next one is made after a pause."""
        with self._lock:
            if self._session is not session:
                return
            self._session = None
        session.close()
        self._failed(why, None)

    @property
    def open_session(self) -> Session | None:
        """The session, if there is one."""
        with self._lock:
            return self._session

    def abort(self) -> None:
        """Cut the session that a job hangs in; the job ends with ServerLostError."""
        session = self.open_session
        if session is not None:
            session.abort()

    def close(self) -> None:
        """End the connection; the next `session()` makes a new one at once. An attempt that is under way is given up: it may be by what held before."""
        with self._lock:
            session, self._session = self._session, None
            self._attempt = None
            self._not_before = 0.0
        if session is not None:
            session.close()

    def end(self) -> None:
        """Close it for good: a scrape or a look that was about to begin makes none to a server that the configuration names no more."""
        with self._lock:
            self.is_over = True
        self.close()

    def renew(self) -> None:
        """End the connection, or the attempt, unless it is the one that would be made now: to the same server, as the same user, with the same password.

        After a failure the next attempt is made at once. Raises UserError when the target cannot be resolved any more.
        """
        fresh = self._resolve()
        with self._lock:
            attempted = None if self._attempt is None else self._attempted
            present = attempted if self._session is None else self._session.target
        if present != fresh:
            self.close()

    def _failed(self, why: str, attempt: Future[Session] | None) -> None:
        with self._lock:
            if attempt is not None:
                if self._attempt is None or self._attempt[0] is not attempt:
                    return  # given up long ago: another one is under way
                self._attempt = None
            self._failure = why
            self._pause_seconds = min(max(self._pause_seconds * 2, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
            self._not_before = self._clock.monotonic() + self._pause_seconds
