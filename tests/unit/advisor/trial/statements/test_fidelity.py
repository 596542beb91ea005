"""How much of a replay is not answered as it was recorded."""

from collections import Counter
from pathlib import Path

import pytest

from myisam_advisor.trial.statements.fidelity import differing_share
from myisam_advisor.trial.statements.replay_result import Latency
from myisam_advisor.trial.statements.schedule import Schedule, ThreadPlan
from myisam_advisor.trial.statements.survey import KindUse
from myisam_advisor.trial.statements.tally import ReplayRun


def share(differences: dict[tuple[int, int], int], *sent: tuple[int, int]) -> float:
    """Of kinds of which so many were sent, with so many microseconds."""
    plan = ThreadPlan()
    plan.kinds.extend(kind for kind, (statements, _) in enumerate(sent) for _ in range(statements))
    uses = {kind: KindUse(0, *one) for kind, one in enumerate(sent)}
    schedule = Schedule(Path(), ["a", "b", "select * from information_schema.tables"], [plan], [], 1, 0, {}, frozenset(), 0, uses)
    return differing_share(schedule, ReplayRun(1.0, 10, Latency(1, 1, 1), 0.1, {}, 0, 0, 0.1, 0.5, differences=Counter(differences)))


def test_it_is_the_larger_share_of_statements_and_of_their_time() -> None:
    assert share({}, (90, 90), (10, 900)) == 0
    assert share({(0, 0): 40, (0, 1062): 50}, (90, 90), (10, 900)) == pytest.approx(0.9)
    assert share({(1, 1054): 5}, (90, 100), (10, 900)) == pytest.approx(0.45)
    assert share({(2, 0): 5}, (90, 100), (0, 0), (10, 900)) == 0  # what a server tells of itself is never alike on two
    assert share({(1, 1054): 5}, (90, 0), (10, 0)) == pytest.approx(0.05)
