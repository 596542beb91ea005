"""A moment as JSON and back, and whatever else may answer."""

import json
import math
from typing import Any

import pytest

from myisam_advisor.judging.verdict import verdict_of
from myisam_advisor.top.document import MomentError, document_of, read_moment, shown_of
from myisam_advisor.top.moment import Moment
from myisam_advisor.top.scene import Scene, caches, gauges, missing, names, said
from tests.support.recorded import RecordedLook


def moment_of(look: RecordedLook) -> Moment:
    facts = shown_of(look.facts, look.facts.tables["tables"])
    return Moment(facts, look.judgement, verdict_of(look.judgement, facts.interval_seconds), 5.0)


def sent(look: RecordedLook) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(document_of(moment_of(look), "the server")))
    return found


def test_what_a_screen_shows_of_it_is_the_same_at_the_other_end(look: RecordedLook) -> None:
    read, label = read_moment(sent(look))
    here, there = Scene("x", moment=moment_of(look)), Scene("x", moment=read)
    assert label == "the server"
    assert read.taken_at == 5.0
    assert (said(there).headline, said(there).detail, said(there).tone) == (said(here).headline, said(here).detail, said(here).tone)
    assert names(there) == names(here)
    assert [one.cells for one in caches(there)] == [one.cells for one in caches(here)]
    assert [one.value for one in gauges(there)] == [one.value for one in gauges(here)]
    assert [one.reason for one in missing(there)] == [one.reason for one in missing(here)]
    assert [one.title for one in read.judgement.findings] == [one.title for one in look.judgement.findings]
    assert [one.sentence for one in read.judgement.blind] == [one.sentence for one in look.judgement.blind]


def test_it_is_small_and_holds_no_index_and_no_variable(look: RecordedLook) -> None:
    document = sent(look)
    assert set(document["facts"]) & {"indexes", "variable", "processlist", "mutex_wait"} == set()
    assert document["unknown"]["indexes"][1] == "sudo myisam-advisor top"


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2}, {"facts": None}, {"facts": {"schema": 1, "nonsense": 1}}, {"facts": {"schema": 1, "tables": [{"rows": "many"}]}}, {"unknown": []}, {"unknown": {"x": "y"}},
        {"unknown": {"x": [1, 2, 3]}}, {"verdict": {}}, {"verdict": {"kind": 1, "headline": "", "detail": "", "tone": "good"}}, {"verdict": {"kind": "", "headline": "", "detail": "", "tone": "pink"}},
        {"findings": [{}]}, {"findings": 3}, {"blind": ["x"]}, {"taken_at": "now"}, {"taken_at": True}, {"taken_at": -1.0}, {"taken_at": 1e300}, {"taken_at": 10**400}, {"taken_at": math.inf}, {"taken_at": math.nan}, {"label": 1},
    ],
)  # fmt: skip
def test_what_is_no_moment_is_refused_with_words(on_mariadb: RecordedLook, change: dict[str, Any]) -> None:
    with pytest.raises(MomentError, match=r"it "):
        read_moment(sent(on_mariadb) | change)


@pytest.mark.parametrize("document", [None, [], "x", 1, {}])
def test_what_is_no_document_is_refused(document: object) -> None:
    with pytest.raises(MomentError):
        read_moment(document)
