import dataclasses
import json
from dataclasses import asdict
from typing import Any

import pytest

from myisam_advisor.trial.statements.replay_result import ReplayResult
from myisam_advisor.trial.typed_documents import ResultError, made

from .results import a_result


def test_a_result_is_the_same_again_after_json() -> None:
    result = a_result()
    assert made(ReplayResult, json.loads(json.dumps(asdict(result)))) == result


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("variants", {}),
        ("variants", [{"name": "x"}]),
        ("variants", ["x"]),
        ("kinds", None),
        ("fidelity", []),
        ("tables", [1]),
        ("taken_at", "now"),
        ("taken_at", 1e300),
        ("speed", None),
        ("workload", {"a": 1}),
        ("settings", "x"),
        ("course", {"rounds": "many"}),
    ],
)
def test_nothing_of_another_form_is_taken_for_a_result(name: str, value: Any) -> None:
    with pytest.raises(ResultError):
        made(ReplayResult, {**asdict(a_result()), name: value})


def test_neither_more_nor_less_is_taken() -> None:
    document = asdict(a_result())
    with pytest.raises(ResultError):
        made(ReplayResult, {**document, "more": 1})
    del document["fidelity"]
    with pytest.raises(ResultError):
        made(ReplayResult, document)


def test_the_documents_own_names_are_those_of_the_contract() -> None:
    document = asdict(a_result())
    assert {"variants", "kinds", "fidelity"} <= set(document)
    assert {"name", "times", "low", "high", "verdict"} <= set(document["variants"][0])
    assert set(document["kinds"][0]["variants"][0]) == {"name", "times", "low", "high", "verdict"}
    assert {field.name for field in dataclasses.fields(ReplayResult)} == set(document)
