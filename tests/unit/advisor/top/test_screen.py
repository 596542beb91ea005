"""One screen as text: all that a page has is there, however low the screen."""

from dataclasses import replace
from io import StringIO

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.verdict import verdict_of
from myisam_advisor.reports.seen_statements import MISSES
from myisam_advisor.top.moment import Moment
from myisam_advisor.top.screen import PIPED_HEIGHT, once
from myisam_advisor.workload.kinds.seen import Gathered, MyisamTables, Sums

MOMENT = Moment(facts_from_document({"schema": 1, "interval_seconds": 2}), Judgement(), verdict_of(Judgement(), 2.0), 1.0)


class Looks:
    def __init__(self, moment: Moment) -> None:
        self.moment = moment

    def look(self) -> Moment:
        return self.moment

    def glance(self) -> None:
        pass

    def rest(self) -> None:
        pass

    def give_up(self) -> None:
        pass


class Piped(StringIO):
    encoding = "utf-8"


def test_the_page_of_statements_is_not_cut_off() -> None:
    gathered = Gathered()
    for number in range(12):
        gathered.add(b"SELECT " + b", ".join(b"column_%d_%d" % (number, one) for one in range(40)) + b" FROM orders", b"shop", Sums(1, 1.0))
    seen = gathered.seen("a test", 2.0, MyisamTables([("shop", "orders")]), ["The last note."])
    text = once(Looks(replace(MOMENT, statements=seen)), "here", 0.0, Piped())
    assert len(text.splitlines()) > PIPED_HEIGHT + 20
    assert "The last note." in text
    assert MISSES.split()[-1] in text


def test_without_statements_there_is_one_screen() -> None:
    text = once(Looks(MOMENT), "here", 0.0, Piped())
    assert len(text.splitlines()) < PIPED_HEIGHT
    assert "Statements" not in text
