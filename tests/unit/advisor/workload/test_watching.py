"""What a server keeps by itself is asked for until the time is over, and what was lost is counted, however long an answer took."""

import time
from collections.abc import Iterator, Mapping

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.sources.base import Reading
from myisam_advisor.workload.watching import _Asking


class Slow:
    """Each of its answers takes longer than the whole recording."""

    pause_seconds = 0.01

    def notes(self) -> Mapping[str, str]:
        return {}

    def poll(self, reading: Reading) -> Iterator[Event]:
        time.sleep(0.3)
        yield Event(1, 1, None, None, b"SELECT 1")

    def finish(self, reading: Reading) -> Iterator[Event]:
        reading.left_out["lost"] += 1
        yield Event(1, 2, None, None, b"SELECT 2")


def test_the_end_is_not_missed_by_an_answer_that_goes_on_beyond_it() -> None:
    reading = Reading()
    asking = _Asking(Slow(), reading, 0.2)
    assert [event.statement for event in asking.events()] == [b"SELECT 1", b"SELECT 2"]
    assert reading.left_out == {"lost": 1}
    assert asking.cost().startswith("2 questions kept one connection busy for ")
