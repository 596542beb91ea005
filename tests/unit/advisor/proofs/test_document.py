"""A proof as a file holds it: what is written is read back, and whatever else stands there is refused by name and never quoted."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.proofs.document import MAXIMUM_BYTES, MAXIMUM_TEXT, ProofError, proof_of, text_of
from myisam_advisor.proofs.proof import ProvedLoad
from tests.support.proofs import kind, proof

WHOLE = proof(kinds=[kind("inserts of 10 rows", 1.4, "worth it", 0.5)], workload={"statements_per_second": 12.5, "tables": {"log.hits": 4096}}, server="ab")
SECRET = "never quote me"


def written(**changes: Any) -> str:
    return json.dumps({**json.loads(text_of(WHOLE)), **changes})


def test_what_is_written_is_read_back() -> None:
    assert proof_of(text_of(WHOLE)) == WHOLE
    assert json.loads(text_of(WHOLE))["version"] == 1
    recorded = replace(WHOLE, recorded_at=WHOLE.taken_at - 5)
    assert proof_of(text_of(recorded)) == recorded


def test_what_was_written_before_recordings_had_a_date_is_read() -> None:
    document = json.loads(text_of(WHOLE))
    del document["recorded_at"]
    assert proof_of(json.dumps(document)) == WHOLE


def test_what_was_written_before_structures_were_noted_is_read_and_knows_none() -> None:
    document = json.loads(text_of(replace(WHOLE, structures=("00ff",))))
    assert proof_of(json.dumps(document)).structure_of == {"log.hits": "00ff"}
    del document["structures"]
    assert proof_of(json.dumps(document)) == WHOLE
    assert WHOLE.structure_of == {}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"format": SECRET}, "not a proof of this program"),
        ({"version": 2}, "another version of this program wrote it: that one reads it"),
        ({SECRET: 1}, "a key that no proof has"),
        ({"rule_id": [SECRET]}, "rule_id is not text"),
        ({"rule_id": "x" * (MAXIMUM_TEXT + 1)}, "rule_id is not text of at most"),
        ({"change": SECRET}, "change is not a list"),
        ({"objects": [1]}, "objects is not text"),
        ({"structures": SECRET}, "structures is not a list"),
        ({"structures": [1]}, "structures is not text"),
        ({"structures": ["a", "b"]}, "structures are not as many as objects"),
        ({"objects": ["x"] * 1001}, "objects is not a list of at most"),
        ({"times": True}, "times is not a number"),
        ({"times": -1}, "times is not a number"),
        ({"times": 1e300}, "times is not a number"),
        ({"low": 2.0, "high": 1.0}, "low is more than high"),
        ({"verdict": SECRET}, "verdict is none"),
        ({"taken_at": 1e18}, "taken_at is not a number"),
        ({"recorded_at": SECRET}, "recorded_at is not a number"),
        ({"kinds": [SECRET]}, "kinds is not a mapping"),
        ({"kinds": [kind("a", 1, "worth it", 2)]}, "share is not a number"),
        ({"kinds": [kind("a", 1, "worth it")] * 201}, "kinds is not a list of at most"),
        ({"workload": {"tables": {"a": SECRET}}}, "workload.tables is not a number"),
        ({"workload": {"tables": {f"t{number}": 1 for number in range(1001)}}}, "workload.tables is not a mapping"),
        ({"workload": {"statements_per_second": SECRET}}, "statements_per_second is not a number"),
        ({"server": {}}, "server is not text"),
    ],
)
def test_what_is_no_proof_is_refused_by_name(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ProofError, match=why) as caught:
        proof_of(written(**changes))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "\0", "[" * 100_000, '{"times": NaN}', '"\\ud800"', "1" * 5000])
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(ProofError):
        proof_of(text)


@pytest.mark.parametrize(
    "one",
    [replace(WHOLE, times=math.nan), replace(WHOLE, objects=("log.\ud800",)), replace(WHOLE, change=("x" * MAXIMUM_TEXT,) * 100, workload=ProvedLoad(None, {"y" * 1000 + str(n): 1 for n in range(999)}))],
)  # fmt: skip
def test_what_would_not_be_read_back_is_not_written(one: Any) -> None:
    with pytest.raises(ProofError):
        text_of(one)
    assert MAXIMUM_BYTES < 1_000_000
