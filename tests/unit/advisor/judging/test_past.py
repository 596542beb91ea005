"""What silence about a finding means, what became of an episode, and how it is told."""

from dataclasses import replace

import pytest

from myisam_advisor.judging.asking import MAXIMUM_FINDINGS_PER_RULE
from myisam_advisor.judging.findings import (
    LOAD,
    TABLES,
    Blind,
    Dropped,
    Finding,
    Judgement,
    NotApplicable,
    NotEvaluated,
    Suppressed,
)
from myisam_advisor.judging.past import GONE, HOLDS, NOT_KNOWN, Episode, Past, Stretch, dated, silence_of, standing

pytestmark = pytest.mark.usefixtures("in_utc")
NOW = 1_763_816_400.0  # 2025-11-22 13:00 UTC


def finding(rule: str, about: str = "") -> Finding:
    return Finding(rule, "", "warning", "likely", "table", about, None, "words", (), "", "", "", "", "", ())


def episode(first: float, last: float, **further: object) -> Episode:
    return replace(Episode("db", "r", "", "warning", NOW + first, NOW + last, "words", True), **further)  # type: ignore[arg-type]


def test_only_a_rule_that_looked_says_by_its_silence_that_something_is_gone() -> None:
    judgement = Judgement(
        [finding("a", "s.held")], ["quiet"], [NotEvaluated("lacking", "rates")], [NotApplicable("absent", "why"), NotApplicable("mooted", "why")],
        [Dropped("a", "s.dropped", "another one"), Dropped("b", "s.no", "a second sign", contradicted=True)],
        [Suppressed(finding("a", "s.hidden"), "why")], blind=[Blind(TABLES, "", "", "", ("quiet-blind",)), Blind(LOAD, "", "", "", ())], mooted=["mooted"],
    )  # fmt: skip
    silence = silence_of(judgement, 10.0)
    for key in (("a", "s.other"), ("quiet", ""), ("absent", ""), ("b", "s.no")):
        assert silence.says_gone(key), key
    for key in (("a", "s.dropped"), ("a", "s.hidden"), ("lacking", ""), ("mooted", ""), ("quiet-blind", ""), ("removed", "")):
        assert not silence.says_gone(key), key
    assert not silence_of(judgement, None).says_gone(("quiet", "")), "a look without an interval is no look at rates"


def test_a_rule_that_found_more_than_is_told_says_nothing_of_the_others() -> None:
    many = [finding("a", f"s.t{number}") for number in range(MAXIMUM_FINDINGS_PER_RULE)]
    assert not silence_of(Judgement(many), 10.0).says_gone(("a", "s.other"))
    assert silence_of(Judgement(many[1:]), 10.0).says_gone(("a", "s.other"))


def test_what_the_last_look_saw_holds_while_looks_come_in_time() -> None:
    stretches = [Stretch(NOW - 9000, NOW - 5000, 60), Stretch(NOW - 3600, NOW - 30, 60)]
    holding = episode(-3000, -30)
    assert standing(holding, stretches, NOW) == HOLDS
    assert standing(holding, stretches, NOW + 400) == NOT_KNOWN, "the daemon was stopped"
    assert standing(replace(holding, gone_at=NOW - 10), stretches, NOW) == GONE
    assert standing(episode(-3000, -90), stretches, NOW) == NOT_KNOWN, "the last look could not tell"
    assert standing(episode(-8000, -5000), stretches, NOW) == NOT_KNOWN, "nobody looked after that"
    assert standing(holding, [], NOW) == NOT_KNOWN
    assert standing(episode(0, 9000), [Stretch(NOW, NOW + 9000, 60)], NOW + 10) == NOT_KNOWN, "of a clock that was ahead"


@pytest.mark.parametrize(
    ("one", "state", "words"),
    [
        (episode(-7200, 0), HOLDS, "since 11:00, still (2 h)"),
        (episode(-7200, 0, begin_seen=False), HOLDS, "since 11:00 or before, still (2 h)"),
        (episode(-7200, -3600, gone_at=NOW - 3540), GONE, "11:00 to 12:00 (60 min)"),
        (episode(-7200, -3600, gone_at=NOW - 1800), GONE, "11:00 to 12:00 (60 min), known to be gone at 12:30"),
        (episode(-7200, -3600), NOT_KNOWN, "11:00 to 12:00 (60 min), not known since"),
        (episode(-7200, -3600, begin_seen=False), NOT_KNOWN, "11:00 to 12:00, perhaps from before (60 min), not known since"),
        (episode(-7200, 0, pauses=2, away_seconds=600.0), HOLDS, "since 11:00, still (2 h), on and off (2 pauses, 10 min in all)"),
        (episode(-3600, -3600, gone_at=NOW - 3540), GONE, "12:00 (seen once)"),
        (episode(3600, 7200), NOT_KNOWN, "14:00 to 15:00, by a clock that was wrong"),
    ],
)
def test_an_episode_is_told_as_far_as_it_is_known(one: Episode, state: str, words: str) -> None:
    assert one.in_words(state, NOW) == words


def test_between_two_stretches_nobody_looked() -> None:
    past = Past(NOW - 86_400, NOW, stretches=(Stretch(NOW - 90_000, NOW - 80_000, 60), Stretch(NOW - 40_000, NOW - 20_000, 60), Stretch(NOW - 30_000, NOW, 60)))
    assert past.gaps() == [(NOW - 80_000, NOW - 40_000)]
    assert Past(NOW - 86_400, NOW).gaps() == []
    ahead = Past(NOW - 86_400, NOW, stretches=(Stretch(NOW - 50, NOW, 60), Stretch(NOW + 9000, NOW + 9999, 60)))
    assert ahead.gaps() == []


def test_findings_get_the_age_that_is_known() -> None:
    known = dated(Judgement([finding("r"), finding("other")]), {("r", ""): episode(-600, 0)}, NOW).findings
    assert [(one.first_seen, one.last_seen, one.begin_seen) for one in known] == [(NOW - 600, NOW, True), (None, None, False)]
