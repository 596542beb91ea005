"""What is listed of the answers to recorded SELECTs, and which writes may be under way at once."""

from pathlib import Path

import pytest

from myisam_advisor.trial.engines import recorded
from myisam_advisor.trial.engines.recorded import MOST_LISTED, RecordedStatements, told
from myisam_advisor.trial.engines.result import Answers
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.statements.answers import Compared
from myisam_advisor.trial.statements.schedule import ONE_BY_ONE
from myisam_advisor.trial.tables.sources import Source
from tests.support.workloads import event
from tests.unit.advisor.trial.statements.test_schedule import tickets_of


def test_what_differs_is_listed_apart_from_what_comes_in_another_order() -> None:
    assert told(Compared(2, ["turned"], ["fewer", "refused"], {"refused": (0, 1214)})) == Answers(5, 2, ("turned",), ("fewer", "refused"))


def test_no_more_are_listed_than_anybody_reads() -> None:
    said = told(Compared(differ=[str(number) for number in range(MOST_LISTED + 5)]))
    assert (said.compared, len(said.differ)) == (MOST_LISTED + 5, MOST_LISTED)


@pytest.mark.parametrize(("knows_moments", "waits_for"), [(True, 0), (False, 1)])
def test_writes_that_overlapped_may_do_so_again_where_the_recording_knows_moments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows_moments: bool, waits_for: int
) -> None:
    """In single file InnoDB, which is made for writes at the same time, would look slower than it is."""
    monkeypatch.setattr(recorded, "compare_answers", lambda *_: {})
    events = [event(1, 0, b"INSERT INTO log VALUES (1)", duration=100), event(2, 50, b"INSERT INTO log VALUES (2)", duration=100)]
    log = Source("shop", "log", "shop", "log", 0, 0, ())
    statements = RecordedStatements([], [log], lambda: iter(events), tmp_path, Listener(), knows_moments=knows_moments)
    schedule, _, _ = statements._prepared()
    assert tickets_of(schedule) == [(0, 0, 0), (0, 1, waits_for)]
    assert statements.notes == ([] if knows_moments else [ONE_BY_ONE])
