"""What a daemon remembers of a server's findings from look to look: the episodes of the last day, when it looked, and restarts.

It is kept in memory, so that a page and a log line cost no query; `episodes.py` reads it from the file at the start, and writes what changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from heapq import nlargest

from myisam_advisor.catalogue.rules import SEVERITIES
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.past import NO_SILENCE, Episode, Key, Past, Silence, Stretch
from myisam_exporter.declaring.lean_dataclasses import dataclass

# A finding that is away for no longer is the same episode: rules near their threshold come and go (docs/decisions/026-the-page-remembers.md).
EPISODE_GAP_SECONDS = 900.0
REMEMBERED_SECONDS = 86_400.0
# Between looks, where nobody says otherwise.
DEFAULT_PAUSE_SECONDS = 60.0
# A clock that is set by less goes on; by more, what was written before is of another time.
CLOCK_STEP_SECONDS = 60.0
# Uptimes are whole seconds, and clocks are set a little: starts that lie no further apart are one.
SAME_START_SECONDS = 5.0
# Findings of a look that are followed, the worst of them; episodes that are kept in memory, and shown.
MAXIMUM_FOLLOWED = 500
MAXIMUM_EPISODES = 1000
MAXIMUM_SHOWN = 200
MAXIMUM_STRETCHES = 500
MAXIMUM_RESTARTS = 100
Place = tuple[Key, float]
CAME, WORSE, BACK, STILL, WENT, STAYED_AWAY = "came", "worse", "back", "still", "went", "stayed away"


@dataclass(frozen=True, slots=True)
class Turn:
    """A finding that came, went or got worse than it ever was in its episode.

    `STILL` is one that held before this daemon began to look, `STAYED_AWAY` one that is gone after pauses.
    """

    kind: str
    episode: Episode
    title: str


@dataclass(frozen=True, slots=True)
class Turns:
    """What changed since the last look; `restarted_at` is when the server started anew, None where it did not."""

    turns: Sequence[Turn] = ()
    restarted_at: float | None = None

    def without(self, told: Collection[Key]) -> Turns:
        """Without the findings that are there, of which these were told."""
        left = [one for one in self.turns if one.kind not in (CAME, STILL) or one.episode.key not in told]
        return Turns(left, self.restarted_at)


@dataclass(frozen=True, slots=True)
class Clocks:
    """A moment, by the clock on the wall and by the one that is never set; and how long the server says that it is up."""

    wall: float
    monotonic: float
    uptime_seconds: float | None = None

    @property
    def started_at(self) -> float | None:
        """When the server started."""
        return None if self.uptime_seconds is None else self.wall - self.uptime_seconds


@dataclass(slots=True)
class Memory:
    """Of one server. `unwritten` are the episodes that the file does not have as they are; of those in `turned`, how they went is new too."""

    target: str
    pause_seconds: float
    stretches: deque[Stretch] = field(default_factory=lambda: deque(maxlen=MAXIMUM_STRETCHES))
    restarts: deque[float] = field(default_factory=lambda: deque(maxlen=MAXIMUM_RESTARTS))
    unwritten: dict[Place, Episode] = field(default_factory=dict)
    turned: set[Place] = field(default_factory=set)
    started_at: float | None = None
    _episodes: dict[Place, Episode] = field(default_factory=dict)
    _latest: dict[Key, Episode] = field(default_factory=dict)
    _titles: dict[Key, str] = field(default_factory=dict)
    _silence: Silence = NO_SILENCE
    _clocks: Clocks | None = None

    def recall(self, episodes: Iterable[Episode], now: float) -> None:
        """Take what was remembered before."""
        for episode in sorted(episodes, key=lambda one: one.first_seen):
            self._episodes[episode.key, episode.first_seen] = episode
            self._latest.pop(episode.key, None)
            if episode.gone_at is None or _goes_on(episode, now):
                self._latest[episode.key] = episode

    def written(self) -> None:
        """The file has all of it."""
        self.unwritten.clear()
        self.turned.clear()

    def look(self, findings: Sequence[Finding], silence: Silence, clocks: Clocks) -> Turns:
        """Note what holds at this look, and what its silence tells; what changed since the last one."""
        is_first = self._clocks is None
        before = self._silence if self._goes_on(clocks.wall) else NO_SILENCE
        now = self.stretches[-1].end
        held: dict[Key, Turn | None] = {}
        for finding in findings[:MAXIMUM_FOLLOWED]:
            held[finding.rule, finding.object] = self._held(finding, before, now, is_first=is_first)
        followed = silence if len(findings) <= MAXIMUM_FOLLOWED else NO_SILENCE
        gone = [turn for key in list(self._latest) if key not in held and (turn := self._missed(key, followed, now))]
        restarted_at = self._restart(clocks)
        self._silence, self._clocks = followed, clocks
        self._forget(now)
        return Turns([*filter(None, held.values()), *gone], restarted_at)

    def since(self) -> Mapping[Key, Episode]:
        """The episodes that hold now."""
        end = self.stretches[-1].end if self.stretches else 0.0
        return {key: one for key, one in self._latest.items() if one.gone_at is None and one.last_seen >= end}

    def past(self) -> Past:
        """The last day, as pages and programs are told it.

        What began in the future, by a clock that was set back since, is no past: it would stand before all that is. The file keeps it.
        """
        end = self.stretches[-1].end if self.stretches else 0.0
        begin = end - REMEMBERED_SECONDS
        known = [one for one in self._episodes.values() if one.first_seen <= end + CLOCK_STEP_SECONDS]
        shown = nlargest(MAXIMUM_SHOWN, known, key=lambda one: (one.last_seen, one.first_seen))
        return Past(
            begin,
            end,
            tuple(shown),
            len(known) - len(shown),
            tuple(one for one in self.stretches if one.end >= begin),
            tuple(moment for moment in self.restarts if begin <= moment <= end),
        )

    def _goes_on(self, now: float) -> bool:
        """Whether the looks go on without a gap, and without a clock that was set; the last stretch ends now."""
        last = self.stretches[-1] if self.stretches else None
        if last is not None and last.end - CLOCK_STEP_SECONDS <= now <= last.is_due:
            self.stretches[-1] = replace(last, end=max(now, last.begin), pause_seconds=self.pause_seconds)
            return True
        self.stretches.append(Stretch(now, now, self.pause_seconds))
        return False

    def _held(self, finding: Finding, before: Silence, now: float, *, is_first: bool) -> Turn | None:
        key = (finding.rule, finding.object)
        self._titles[key] = finding.title
        known = self._latest.get(key)
        if known is None or not _goes_on(known, now):
            fresh = Episode(
                self.target, *key, finding.severity, now, now, finding.message, begin_seen=before.says_gone(key)
            )
            self._keep(fresh, turned=True)
            return Turn(CAME, fresh, finding.title)
        came_back = known.gone_at is not None
        away = max(now - known.gone_at, 0.0) if known.gone_at is not None else 0.0
        longer = replace(
            known,
            last_seen=max(now, known.first_seen),
            gone_at=None,
            pauses=known.pauses + came_back,
            away_seconds=known.away_seconds + away,
        )
        present = replace(longer, severity=finding.severity, message=finding.message)
        is_as_bad = _rank(finding.severity) <= _rank(known.severity)
        self._keep(present if is_as_bad else longer, turned=came_back)
        is_worse = _rank(finding.severity) < _rank(known.severity)
        kind = WORSE if is_worse else BACK if came_back else STILL if is_first else ""
        return Turn(kind, present, finding.title) if kind else None

    def _missed(self, key: Key, silence: Silence, now: float) -> Turn | None:
        """What the silence of this look tells of a finding that was there."""
        known = self._latest[key]
        title = self._titles.get(key, "")
        if known.gone_at is not None:
            if _goes_on(known, now):
                return None
            self._let_go(key)
            return Turn(STAYED_AWAY, known, title) if known.pauses else None
        if not -CLOCK_STEP_SECONDS <= now - known.last_seen <= REMEMBERED_SECONDS:
            self._let_go(key)  # by a clock that was wrong, or nobody could tell for a day
            return None
        if not silence.says_gone(key):
            return None
        gone = replace(known, gone_at=now)
        self._keep(gone, turned=True)
        return Turn(WENT, gone, title)

    def _restart(self, clocks: Clocks) -> float | None:
        """When the server started, where that was since the last look.

        Its uptime and ours are counted by clocks that may be set: only where both the uptime fell behind and the start moved was it one.
        """
        before, started_at = self._clocks, clocks.started_at
        if started_at is None or clocks.uptime_seconds is None:
            return None
        moved = self.started_at is not None and started_at - self.started_at > SAME_START_SECONDS
        if before is not None and before.uptime_seconds is not None:
            expected = before.uptime_seconds + clocks.monotonic - before.monotonic
            moved = moved and clocks.uptime_seconds < expected - SAME_START_SECONDS
        self.started_at = started_at
        if not moved:
            return None
        self.restarts.append(started_at)
        return started_at

    def _keep(self, episode: Episode, *, turned: bool) -> None:
        place = (episode.key, episode.first_seen)
        self._episodes[place] = self._latest[episode.key] = self.unwritten[place] = episode
        if turned:
            self.turned.add(place)

    def _let_go(self, key: Key) -> None:
        del self._latest[key]
        self._titles.pop(key, None)

    def _forget(self, now: float) -> None:
        """What ended a day ago, and the oldest of what is too much."""
        for place in [place for place, one in self._episodes.items() if one.last_seen < now - REMEMBERED_SECONDS]:
            self._drop(place)
        surplus = len(self._episodes) - MAXIMUM_EPISODES
        if surplus > 0:
            oldest = sorted(self._episodes, key=lambda place: self._episodes[place].last_seen)
            for place in oldest[:surplus]:
                self._drop(place)

    def _drop(self, place: Place) -> None:
        dropped = self._episodes.pop(place)
        if self._latest.get(place[0]) == dropped:
            self._let_go(place[0])


def _rank(severity: str) -> int:
    """How bad it is, the worst first; what a file tells may be none."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def _goes_on(episode: Episode, now: float) -> bool:
    """Whether a finding that is seen now is the same episode; one that a clock put into the future is not."""
    return max(episode.first_seen, episode.last_seen) <= now + CLOCK_STEP_SECONDS and (
        now - episode.last_seen <= EPISODE_GAP_SECONDS
    )
