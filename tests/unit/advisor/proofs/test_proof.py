"""What several workloads say together, and when one proof takes the place of another."""

import json

import pytest

from myisam_advisor.proofs.proof import Kind, together
from tests.support.proofs import kind, proof


def of(*verdicts: str) -> list[Kind]:
    return [Kind(**kind(verdict, {"worth it": 1.4, "worse": 0.7}.get(verdict, 1.0), verdict)) for verdict in verdicts]


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        (("worth it",), "worth it"), (("worth it", "no difference", "unclear"), "worth it"), (("worse", "no difference"), "worse"), (("worth it", "worse"), "unclear"),
        (("no difference", "no difference"), "no difference"), (("no difference", "unclear"), "unclear"),
    ],
)  # fmt: skip
def test_one_loss_is_not_outweighed_by_a_gain(verdicts: tuple[str, ...], verdict: str) -> None:
    assert together(of(*verdicts)).verdict == verdict


def test_a_trial_is_clear_where_one_workload_gained_and_another_lost_and_a_replay_is_not() -> None:
    kinds = [kind("points", 1.4, "worth it"), kind("ranges", 0.7, "worse")]
    trial, replay = (proof(verdict="unclear", kinds=kinds, experiment=name) for name in ("pack-keys", "replay"))
    assert (trial.is_clear, trial.decides) == (True, True)
    assert (replay.is_clear, replay.decides) == (False, False)
    one = proof(verdict="unclear", kinds=kinds[:1])
    assert (one.is_clear, one.decides) == (False, True)


def test_the_interval_holds_those_of_all() -> None:
    said = together(of("worth it", "no difference"))
    assert (said.times, said.low, said.high) == pytest.approx((1.4**0.5, 0.95, 1.47))


def test_the_same_trial_again_takes_the_place_of_the_one_before() -> None:
    first = proof()
    assert proof(days=1, times=1.2, low=1.1, high=1.35).id == first.id
    others = [proof(objects=["log.other"]), proof(rule_id="x"), proof(experiment="replay"), proof(server="other"), proof(change=["x=1"])]
    assert len({one.id for one in (first, *others)}) == 1 + len(others)
    assert json.dumps(first.id)
