"""A lock on a table of the watched server for as long as it is copied: held by us, asked for by the trial's own process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.channel import Channel, Message
from myisam_advisor.trial.tables.sources import Source
from myisam_exporter.errors import StatementRefusedError
from myisam_exporter.server.sql import quote_table

if TYPE_CHECKING:
    from myisam_exporter.server.session import Session

LOCK_WAIT_TIMEOUT, NO_SUCH_TABLE = 1205, 1146
# The longest that others wait for a copy: a process that does not answer must not hold them up for ever.
MAXIMUM_LOCK_SECONDS = 600.0
# Lock a table until the end of the context; False when others hold it for too long.
Lock = Callable[[Source], AbstractContextManager[bool]]


def remote_lock(channel: Channel, sources: Sequence[Source]) -> Lock:
    """A lock that is asked for over the channel; the other side answers with `answer_lock`."""

    @contextlib.contextmanager
    def locked(source: Source) -> Iterator[bool]:
        channel.send({"lock": sources.index(source)})
        answer = channel.receive()
        if "error" in answer:
            raise TrialError(answer["error"])
        try:
            yield bool(answer["locked"])
        finally:
            channel.send({"unlock": True})
            channel.receive()

    return locked


def answer_lock(channel: Channel, message: Message, sources: Sequence[Source], session: Session) -> None:
    """Lock the table that is asked for until it is given back. Raises TrialError when that takes too long."""
    number = message.get("lock")
    if not isinstance(number, int) or not 0 <= number < len(sources):
        raise TrialError("the trial's process asks to lock a table that was not named.")
    with contextlib.ExitStack() as stack:
        try:
            is_locked = _locked(sources[number], session, stack)
        except TrialError as error:
            channel.send({"error": str(error)})
            return
        channel.send({"locked": is_locked})
        channel.receive(MAXIMUM_LOCK_SECONDS)
    channel.send({"unlocked": True})


def _locked(source: Source, session: Session, stack: contextlib.ExitStack) -> bool:
    """Flush the table and lock it against writes until the stack ends; False when others hold it for too long.

    Raises TrialError when the account may not. The session is read-only, which forbids even this lock, but for its length.
    """
    may_choose = session.version.at_least(mysql=(5, 6), mariadb=(10, 0))
    if may_choose:
        session.rows("SET SESSION TRANSACTION READ WRITE")
        stack.push(_unless_interrupted(session, "SET SESSION TRANSACTION READ ONLY"))
    try:
        session.rows(f"FLUSH TABLES {quote_table(source.schema, source.table)} WITH READ LOCK")
    except StatementRefusedError as error:
        if error.number == LOCK_WAIT_TIMEOUT:
            return False
        if error.number == NO_SUCH_TABLE:
            raise TrialError(f"{source.label} was dropped, or has another name now: try again.") from None
        raise TrialError(
            f"{source.label} cannot be locked: {error.text}. The account needs RELOAD, LOCK TABLES, and SELECT on the table."
        ) from None
    stack.push(_unless_interrupted(session, "UNLOCK TABLES"))
    return True


def _unless_interrupted(
    session: Session, statement: str
) -> Callable[[type[BaseException] | None, object, object], None]:
    """The end of a context: run the statement. Interrupted in the middle of an answer a connection takes no further word: it ends with us, and its lock with it."""

    def give_back(kind: type[BaseException] | None, _error: object, _trace: object) -> None:
        if kind is None or not issubclass(kind, KeyboardInterrupt):
            session.rows(statement)

    return give_back
