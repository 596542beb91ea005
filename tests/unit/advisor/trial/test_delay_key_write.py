"""What a trial of delay_key_write concludes: the gain beside its price, and nothing where a crash was not tried."""

from typing import cast

import pytest

from myisam_advisor.trial.bench import Bench
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.experiments.delay_key_write import AT_ONCE, CRASH, INSERTS, LATE, conclude
from myisam_advisor.trial.results import WorkloadResult

BENCH = cast(Bench, None)


def inserts(speed: float) -> WorkloadResult:
    return WorkloadResult(INSERTS, "rows", {AT_ONCE: [Run(1.0, 1000.0)] * 4, LATE: [Run(1.0, 1000.0 * speed)] * 4})


def crashes(*late: tuple[float, float, float]) -> WorkloadResult:
    figures = [Run(seconds, 5000.0, figures={"index_was_damaged": damaged, "rows_lost": lost}) for seconds, damaged, lost in late]
    whole = [Run(0.1, 5000.0, figures={"index_was_damaged": 0.0, "rows_lost": 0.0})] * len(late)
    return WorkloadResult(CRASH, "rows", {AT_ONCE: whole, LATE: figures})


@pytest.mark.parametrize(("speed", "judged"), [(2.0, "is worth it for inserts: 2.00 times"), (1.0, "is not clearly worth it for inserts: 1.00 times"), (0.5, "is not clearly worth it for inserts: 0.50 times")])
def test_the_gain_is_judged_by_the_inserts_alone(speed: float, judged: str) -> None:
    assert judged in conclude(BENCH, [inserts(speed), crashes((1.0, 1.0, 0.0), (2.0, 1.0, 0.0), (9.0, 1.0, 0.0))])


def test_the_price_is_beside_it() -> None:
    said = conclude(BENCH, [inserts(2.0), crashes((1.0, 1.0, 0.0), (2.0, 0.0, 3.0), (9.0, 1.0, 0.0))])
    assert "Of 3 crashes 2 left an index that had to be repaired; 2.0 s for 5,000 rows until the table could be used, and 3 rows lost at most." in said
    assert "a machine that loses power loses more" in said


def test_without_a_crash_nothing_is_said_of_one() -> None:
    assert "crash" not in conclude(BENCH, [inserts(2.0)])
