"""What was found before: episodes of findings, when somebody looked at all, and what silence about a finding means.

Three things are kept apart: a finding held, it was seen not to hold, and nobody knows. A daemon that did not run, a server that did not answer and
a rule that lacked a fact saw neither health nor illness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from myisam_advisor.catalogue.site import Site
from myisam_advisor.judging.asking import MAXIMUM_FINDINGS_PER_RULE
from myisam_advisor.judging.findings import LOAD, Finding, Judgement
from myisam_advisor.judging.resolver import SUSPECTED
from myisam_advisor.judging.verdict import NO_SAMPLE
from myisam_advisor.texts.moments import moment_in_words, span_in_words
from myisam_advisor.texts.templates import duration, so_many
from myisam_exporter.declaring.lean_dataclasses import dataclass

HOLDS, GONE, NOT_KNOWN = "holds", "gone", "unknown"
# Looks come in time, more or less: after so many pauses without one, nobody looked.
LOOKS_MISSED = 3
# That a finding is gone is seen a look or so after it was seen last; later, it is said when.
LATE_SECONDS = 300.0
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Episode:
    """A finding, from when it was seen first to when it was seen last. Short absences are part of it.

    `severity` and `message` are of the last look at which it was at its worst.
    `begin_seen` when it was seen not to hold just before: else it may be older. `gone_at` is when it was seen not to hold any more, None when
    it never was. `pauses` are the absences within, which took `away_seconds`.
    """

    target: str
    rule: str
    object: str
    severity: str
    first_seen: float
    last_seen: float
    message: str
    begin_seen: bool
    gone_at: float | None = None
    pauses: int = 0
    away_seconds: float = 0.0

    @property
    def key(self) -> Key:
        """What it is about."""
        return self.rule, self.object

    @property
    def seconds(self) -> float:
        """How long it has been seen, with its pauses."""
        return max(self.last_seen - self.first_seen, 0.0)

    def in_words(self, standing: str, now: float) -> str:
        """When it held: what is not known is not said. A moment that is still to come is of a clock that was wrong."""
        if max(self.first_seen, self.last_seen) > now + 1:
            return f"{span_in_words(self.first_seen, self.last_seen, now)}, by a clock that was wrong"
        first = moment_in_words(self.first_seen, now)
        if standing == HOLDS:
            words = f"since {first}, still" if self.begin_seen else f"since {first} or before, still"
        else:
            words = span_in_words(self.first_seen, self.last_seen, now)
            if not self.begin_seen:
                words = f"{words}, perhaps from before"
        return ", ".join(
            filter(None, (f"{words} ({length_in_words(self.seconds)})", self._pauses(), self._end(standing, now)))
        )

    def _pauses(self) -> str:
        if not self.pauses:
            return ""
        return f"on and off ({so_many(self.pauses, 'pause')}, {duration(self.away_seconds)} in all)"

    def _end(self, standing: str, now: float) -> str:
        if standing == NOT_KNOWN:
            return "not known since"
        if self.gone_at is not None and self.gone_at - self.last_seen > LATE_SECONDS:
            return f"known to be gone at {moment_in_words(self.gone_at, now)}"
        return ""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Looks at a server without a gap between them, `pause_seconds` apart."""

    begin: float
    end: float
    pause_seconds: float

    @property
    def is_due(self) -> float:
        """Until when the next look does not come late."""
        return self.end + LOOKS_MISSED * self.pause_seconds


@dataclass(frozen=True, slots=True)
class Past:
    """What is remembered of a server, from `begin` until the look at `end`: its episodes, the latest first, and when it was looked at.

    `titles` and `resources` are those of the rules, by id; `unnamed` how many more episodes there were.
    """

    begin: float
    end: float
    episodes: Sequence[Episode] = ()
    unnamed: int = 0
    stretches: Sequence[Stretch] = ()
    restarts: Sequence[float] = ()
    titles: Mapping[str, str] | None = None
    resources: Mapping[str, str] | None = None

    def standing(self, episode: Episode) -> str:
        """What became of it by the last look."""
        return standing(episode, self.stretches, self.end)

    @property
    def former(self) -> list[Episode]:
        """Those that do not hold now."""
        return [one for one in self.episodes if self.standing(one) != HOLDS]

    def gaps(self) -> list[tuple[float, float]]:
        """When nobody looked, since the first look that is remembered."""
        known = [one for one in sorted(self.stretches, key=lambda one: one.begin) if one.begin <= self.end]
        found = []
        seen_until = known[0].end if known else self.end
        for one in known[1:]:
            if one.begin > seen_until:
                found.append((max(seen_until, self.begin), one.begin))
            seen_until = max(seen_until, one.end)
        return [(begin, end) for begin, end in found if end > begin]


def length_in_words(seconds: float) -> str:
    """How long something was seen; one look has no length."""
    return duration(seconds) if seconds >= 1 else "seen once"


def standing(episode: Episode, stretches: Sequence[Stretch], now: float) -> str:
    """HOLDS only where the last look saw it, and is no older than looks are."""
    if episode.gone_at is not None:
        return GONE
    seen_last = (one for one in stretches if one.begin <= episode.last_seen and one.end <= episode.last_seen <= now)
    return HOLDS if any(now <= one.is_due for one in seen_last) else NOT_KNOWN


@dataclass(frozen=True, slots=True)
class Silence:
    """What it means that a judgement has no finding of a rule about an object: that it does not hold, or nothing."""

    judged: frozenset[str]
    hidden: frozenset[Key]

    def says_gone(self, key: Key) -> bool:
        """Whether the rule looked, and nothing else stood before its finding."""
        return key[0] in self.judged and key not in self.hidden


NO_SILENCE = Silence(frozenset(), frozenset())


def silence_of(judgement: Judgement, interval_seconds: float | None) -> Silence:
    """Of a look that had no interval to judge, silence says nothing."""
    if not interval_seconds:
        return NO_SILENCE
    found = [finding.rule for finding in judgement.findings]
    spoken = {rule for rule in found if found.count(rule) < MAXIMUM_FINDINGS_PER_RULE}
    judged = spoken | {*judgement.quiet} | {outcome.rule for outcome in judgement.not_applicable}
    judged |= {one.rule for one in judgement.dropped} | {one.finding.rule for one in judgement.suppressed}
    # Asked, with nothing found: what it had found has gone, whatever it never knew.
    judged |= {outcome.rule for outcome in judgement.not_evaluated if outcome.is_open}
    unseen = {rule for spot in judgement.blind if spot.what != LOAD for rule in spot.rules}
    unseen |= {outcome.rule for outcome in judgement.not_evaluated if not outcome.is_open} | {*judgement.mooted}
    hidden = {(one.rule, one.object) for one in judgement.dropped if not one.contradicted}
    hidden |= {(one.finding.rule, one.finding.object) for one in judgement.suppressed}
    return Silence(frozenset(judged - unseen), frozenset(hidden))


def worth_remembering(judgement: Judgement, interval_seconds: float | None) -> Sequence[Finding]:
    """What is noted as found at this look.

    What is told on is not found. Without an interval suspicions rest on what was counted since the server's start, which may be long over: the next look tells.
    """
    found = [one for one in judgement.findings if one.away_seconds is None]
    if interval_seconds:
        return found
    return [one for one in found if one.confidence != SUSPECTED and one.rule != NO_SAMPLE]


def named(past: Past, site: Site) -> Past:
    """With the titles of the rules that spoke, and what they say is short."""
    spoke = {one.rule for one in past.episodes}
    rules = [rule for rule in site.rules if rule.id in spoke]
    return replace(
        past, titles={rule.id: rule.title for rule in rules}, resources={rule.id: rule.resource for rule in rules}
    )


def dated(judgement: Judgement, since: Mapping[Key, Episode], now: float) -> Judgement:
    """The findings with when each was first seen, where that is known."""
    return replace(
        judgement, findings=[_dated(one, since.get((one.rule, one.object)), now) for one in judgement.findings]
    )


def _dated(finding: Finding, episode: Episode | None, now: float) -> Finding:
    if episode is None:
        return finding
    last = now if finding.away_seconds is None else episode.last_seen
    return replace(finding, first_seen=episode.first_seen, last_seen=last, begin_seen=episode.begin_seen)
