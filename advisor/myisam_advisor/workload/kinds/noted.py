"""What a probe noted, summed up by kind: each statement counts where it ended, and its time in the spans in which it went on."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from myisam_advisor.texts.templates import count, so_many
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.kinds.seen import Gathered, Sums
from myisam_advisor.workload.probing.decoding import Decoder
from myisam_advisor.workload.probing.executions import CUT_OFF, NOT_SEEN, Executions
from myisam_advisor.workload.probing.parameters import NotDecodedError
from myisam_advisor.workload.probing.ring import Record
from myisam_advisor.workload.sources.base import ADMINISTRATOR, Reading

HELD = (
    "How long a statement waited for its tables the probe does not tell: who waits looks like who holds. "
    "Statements that had begun before it was set are not seen."
)
# As a recording has it, of which there is none here.
_IN_OTHER_WORDS = {NOT_SEEN: "prepared before they were watched, with a text that is not known"}


class PreparedTexts(Executions):
    """Of an execution the text that was prepared, whose values nobody asks for."""

    def executed(self, connection: int, packet: bytes | None) -> bytes:
        """That text. Raises NotDecodedError."""
        if packet is None or len(packet) < 4:
            raise NotDecodedError(CUT_OFF)
        found = self._found(connection, packet)
        if found.text is None:
            raise NotDecodedError(CUT_OFF)
        return found.text

    def long_data(self, connection: int, packet: bytes | None) -> None:
        """A part of a value: nothing is kept of it."""

    def missed(self) -> None:
        """From now on, what clients sent may be missing here."""
        self._is_lossy = True


class Noted:
    """The statements of one server.

    Args:
        texts: of prepared statements; None where their numbers are not known.
        ours: connections of this program's, whose statements are no load.
        began: when it was begun to watch, in nanoseconds of the records' clock. The time of day may be set meanwhile.
    """

    def __init__(self, texts: PreparedTexts | None, ours: Collection[int], began: int) -> None:
        self._decoder, self._texts, self._ours = Decoder(0, texts), texts, ours
        self._began = began
        self._lost = self._endless = 0
        self._begin_span()

    def add(self, records: Iterable[Record], begins_lost: int, ends_lost: int) -> None:
        """Take what was noted next, and how much was lost of it and of all before: asked when these records were there already."""
        if begins_lost > self._lost and self._texts is not None:
            self._texts.missed()
        for event in self._decoder.ended(records, self._reading):
            self._count(event, 1, event.duration_microseconds)
        if ends_lost > self._endless:
            # Which of those that have begun goes on, and which has ended long since, nobody knows.
            self._given_up += sum(1 for _ in self._decoder.going_on())
            self._decoder = Decoder(0, self._texts)
        self._lost, self._endless = begins_lost, ends_lost

    def span(self, moment: int) -> tuple[Gathered, float, list[str]]:
        """What there was until now, of which all was taken: by kind, in how many seconds, and what else is to be known. The next span begins."""
        for event in self._decoder.going_on():
            self._count(event, 0, moment // 1000 - event.start_microseconds)
        gathered, seconds, notes = self._gathered, max((moment - self._began) / 1e9, 1e-3), [HELD]
        if self._lost > self._lost_before:
            notes.append(
                f"{so_many(self._lost - self._lost_before, 'statement')} came faster than they were read: no kind has them."
            )
            gathered.add_unknown(Sums(self._lost - self._lost_before))
        if self._endless > self._endless_before:
            notes.append(
                f"Of {so_many(self._endless - self._endless_before, 'statement')} the end came faster than it was read: "
                f"{count(self._given_up)} of those that had begun by then are told no further."
            )
        for reason, number in self._reading.left_out.items():
            if reason != ADMINISTRATOR:
                notes.append(f"Of no kind: {so_many(number, 'statement')} ({_IN_OTHER_WORDS.get(reason, reason)}).")
                gathered.add_unknown(Sums(number))
        self._began = moment
        self._begin_span()
        return gathered, seconds, notes

    def _begin_span(self) -> None:
        self._gathered, self._reading, self._given_up = Gathered(), Reading(resolution_microseconds=1), 0
        self._lost_before, self._endless_before = self._lost, self._endless

    def _count(self, event: Event, number: int, lasted: int | None) -> None:
        """One that has lasted so many microseconds; nobody knows how long where its end was lost."""
        if event.connection in self._ours:
            return
        before = max(self._began // 1000 - event.start_microseconds, 0)
        self._gathered.add(event.statement, event.database, Sums(number, max((lasted or 0) - before, 0) / 1e6))
