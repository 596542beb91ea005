"""What a daemon told of a server in its last looks: a finding that is away for a few minutes is told on, with when it was found last.

Near a limit a steady load makes a finding come and go. Rules need not know of it, whatever they decide by: limits, glances, contradictions.
Why so, and what else was tried: docs/decisions/065-told-until-it-stays-away.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace

from myisam_advisor.catalogue.rules import SEVERITIES, Rule
from myisam_advisor.catalogue.site import Site
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.prepared import PreparedFacts
from myisam_advisor.judging.resolver import Candidate
from myisam_advisor.judging.verdict import NO_SAMPLE
from myisam_advisor.texts.templates import duration
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value

# Of looks a minute apart, absences of no more made ten episodes of 147 (docs/decisions/026-the-page-remembers.md); alerts wait as long.
HELD_SECONDS = 300.0
A_RATE = "per_second"


@dataclass(frozen=True, slots=True)
class _Last:
    """A candidate as it was found last, by the clock that is never set."""

    candidate: Candidate
    found_at: float


@dataclass(slots=True)
class Told:
    """Of one server; one look at a time. What is told on is held for HELD_SECONDS, while looks have an interval and nobody changed anything."""

    _last: dict[str, dict[str, _Last]] = field(default_factory=dict)
    _found: dict[str, dict[str, _Last]] = field(default_factory=dict)
    _site: Site | None = None
    _settings: Mapping[str, Value] = field(default_factory=dict)
    _now: float = 0.0
    _has_interval: bool = False

    def begin(self, ready: PreparedFacts, now: float) -> None:
        """A look begins, at this moment of the clock that is never set. Who changed a setting, or the site's configuration, is judged anew."""
        settings = _settings(ready)
        self._has_interval = bool(ready.judged.interval_seconds)
        if ready.site is not self._site or settings != self._settings or not self._has_interval:
            self._last = {}
        self._site, self._settings, self._now, self._found = ready.site, settings, now, {}

    def with_held(
        self, rule: Rule, found: Sequence[Candidate], may_be_held: Callable[[Candidate], bool]
    ) -> list[Candidate]:
        """What was found of a rule that could be judged, with what was told before and is away, or milder now."""
        # What counters since the server's start let suspect is answered by the next look, not told on beside its answer.
        if not is_of_load(rule) or not self._has_interval:
            return list(found)
        worst: dict[str, Candidate] = {}
        for one in found:
            known = worst.get(one.object)
            worst[one.object] = one if known is None or _rank(one) < _rank(known) else known
        kept = {about: _Last(one, self._now) for about, one in worst.items()}
        held: dict[str, Candidate] = {}
        for about, last in self._last.get(rule.id, {}).items():
            present = worst.get(about)
            is_lost = present is None or _rank(present) > _rank(last.candidate)
            if is_lost and self._now - last.found_at <= HELD_SECONDS and may_be_held(last.candidate):
                kept[about] = last
                held[about] = _held(last.candidate, self._now - last.found_at, present)
        self._found[rule.id] = kept
        return [one for one in found if one.object not in held] + list(held.values())

    def end(self, findings: Iterable[Finding]) -> None:
        """What was told in this look: what another finding made pointless, or memory had no room for, is not told on."""
        self._last = {}
        for one in findings:
            last = self._found.get(one.rule, {}).get(one.object)
            if last is not None:
                self._last.setdefault(one.rule, {})[one.object] = last
        self._found = {}


def is_of_load(rule: Rule) -> bool:
    """Whether it is judged by rates. What there is (a crashed table, a full disk, a setting) does not come and go: it is told while it is seen."""
    names = (name for need in rule.needs for name in need)
    return rule.id != NO_SAMPLE and any(A_RATE in name for name in names)


def _held(candidate: Candidate, seconds: float, present: Candidate | None) -> Candidate:
    """The candidate as of a former look. What is said of it begins with when that was: verdicts quote the first sentence alone."""
    away, stay = duration(seconds), duration(HELD_SECONDS)
    if present is None:
        held = (f"Not in this look, but {away} ago: ", f" It is shown until it has been gone for {stay}.")
        return replace(candidate, held=held, away_seconds=seconds)
    held = (
        f"{away} ago, {present.severity} in this look: ",
        f" It is shown as {candidate.severity} until it has been milder for {stay}.",
    )
    return replace(candidate, held=held)


def _rank(candidate: Candidate) -> int:
    return SEVERITIES.index(candidate.severity)


def _settings(ready: PreparedFacts) -> Mapping[str, Value]:
    """The variables that rules are about, and the sizes of key caches."""
    wanted = {rule.variable for rule in ready.site.rules}
    variables = ready.judged.tables["variable"].by_name("value")
    sizes = ready.judged.tables["key_cache"].by_name("size_bytes")
    return {name: value for name, value in variables.items() if name in wanted} | {
        f"key cache {name}": value for name, value in sizes.items()
    }
