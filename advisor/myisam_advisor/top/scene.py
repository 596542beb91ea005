"""What the screen shows, in words and numbers: of a moment, the trails and the view. Drawing only puts it in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from time import localtime, strftime

from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.verdict import CRITICAL, UNKNOWN, Verdict
from myisam_advisor.reports.wording import server_name
from myisam_advisor.texts.templates import duration, so_many
from myisam_advisor.top.columns import COLUMNS, Column, in_order, names_of, numbers_of
from myisam_advisor.top.figures import figure, octets, share
from myisam_advisor.top.moment import Failure, Moment
from myisam_advisor.top.trails import GAUGES, KEY_CACHE_REQUESTS, Gauge, Trails, requests_of
from myisam_advisor.top.view import View
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactRows, FactSet

FIRST_LOOK = "The first look at the server is still running."
SLOWER = 1.5
NOT_SAID = Unknown("not known here")


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a frame is made of. `label` is how the server is called; `now` in seconds since 1970; a `still` one hears no keys."""

    label: str
    view: View = field(default_factory=View)
    moment: Moment | None = None
    failure: Failure | None = None
    trails: Trails = field(default_factory=Trails)
    now: float = 0.0
    still: bool = False

    @property
    def facts(self) -> FactSet | None:
        """The facts of the last look that gave some."""
        return self.moment.facts if self.moment else None

    @property
    def tables(self) -> FactRows | None:
        """The tables of that look."""
        return self.moment.facts.tables["tables"] if self.moment else None


@dataclass(frozen=True, slots=True)
class ShownGauge:
    """A number with its curve."""

    label: str
    value: str
    points: Sequence[float | None]
    highest: float | None


@dataclass(frozen=True, slots=True)
class ShownCache:
    """A key cache: its cells below CACHE_HEADINGS, and the curve of what is asked of it."""

    name: str
    cells: tuple[str, ...]
    points: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A line of the list of tables: its cells below the headings of the columns."""

    name: str
    cells: tuple[str, ...]
    crashed: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """Numbers that are not known, all for one reason."""

    labels: tuple[str, ...]
    reason: Unknown


CACHE_HEADINGS = ("size", "filled", "reads/s", "misses/s", "missed", "writes/s", "written/s")


def title(scene: Scene, *, short: bool = False) -> str:
    """Which server this is; its version without what its maker added where that is to be short."""
    facts = scene.facts
    if facts is None:
        return scene.label
    uptime = facts.single("server").get("uptime_seconds")
    parts = [server_name(facts, short=short), scene.label]
    return " · ".join([*parts, f"up {duration(uptime)}"] if isinstance(uptime, int | float) else parts)


def moment_of(scene: Scene) -> str:
    """When it was seen so, and how long between two looks."""
    if scene.moment is None:
        return clock(scene.now)
    if scene.still:
        return clock(scene.moment.taken_at)
    # Where looks take long they are fewer than was asked for: feed.py.
    wanted, real = scene.view.interval_seconds, scene.moment.facts.interval_seconds or 0.0
    seconds = f"{real:.0f}" if real > SLOWER * wanted else f"{wanted:.3g}"
    state = "PAUSED" if scene.view.paused else f"every {seconds} s"
    return f"{state} · {clock(scene.moment.taken_at)}"


def clock(moment: float) -> str:
    """The time of day."""
    return strftime("%H:%M:%S", localtime(moment))


def said(scene: Scene) -> Verdict:
    """What is said first."""
    if scene.failure is not None:
        seen = f"; below is what was seen at {clock(scene.moment.taken_at)}" if scene.moment else ""
        headline = f"No answer since {clock(scene.failure.taken_at)}{seen}."
        return Verdict(UNKNOWN, headline, scene.failure.why, tone=CRITICAL)
    return Verdict(UNKNOWN, FIRST_LOOK) if scene.moment is None else scene.moment.verdict


def findings_in_short(scene: Scene) -> str:
    """How many findings there are."""
    findings = scene.moment.judgement.findings if scene.moment else ()
    if not findings:
        return ""
    counted = [
        (severity, sum(one.severity == severity for one in findings)) for severity in ("critical", "warning", "info")
    ]
    return f"{so_many(len(findings), 'finding')}: " + ", ".join(
        f"{number} {severity}{'s' if severity == 'warning' and number > 1 else ''}"
        for severity, number in counted
        if number
    )


def gauges(scene: Scene) -> list[ShownGauge]:
    """The machine and the server."""
    facts = scene.facts
    return [
        ShownGauge(one.label, one.say(one.value(facts) if facts else None), scene.trails.of(one.label), one.highest)
        for one in GAUGES
    ]


def caches(scene: Scene) -> list[ShownCache]:
    """The key caches, the one that is asked most first."""
    rows = scene.facts.tables["key_cache"].dictionaries() if scene.facts else []
    rows.sort(key=lambda row: (-(requests_of(row) or 0.0), str(row["name"])))
    return [_cache(row, scene.trails) for row in rows]


def _cache(row: Mapping[str, Value], trails: Trails) -> ShownCache:
    def number(name: str) -> float | None:
        return number_of(row.get(name))

    cells = (
        octets(number("size_bytes")),
        share(_filled(number("usable_bytes"), number("blocks_unused"), number("block_size_bytes"))),
        figure(number("read_requests_per_second")),
        figure(number("reads_per_second")),
        share(number("miss_ratio")),
        figure(number("write_requests_per_second")),
        figure(number("writes_per_second")),
    )
    return ShownCache(str(row["name"]), cells, trails.of(f"{KEY_CACHE_REQUESTS}{row['name']}"))


def _filled(usable_bytes: float | None, unused_blocks: float | None, block_bytes: float | None) -> float | None:
    if not usable_bytes or unused_blocks is None or block_bytes is None:
        return None
    return max(0.0, min(1.0, 1 - unused_blocks * block_bytes / usable_bytes))


def names(scene: Scene) -> list[str]:
    """The tables of the list, in its order."""
    if scene.tables is None:
        return []
    all_names = names_of(scene.tables)
    return [all_names[place] for place in places(scene)]


def places(scene: Scene) -> list[int]:
    """Where the tables of the list are among all, in the list's order."""
    view, rows = scene.view, scene.tables
    if rows is None:
        return []
    filtered = view.filtered if view.typing is None else view.typing
    return rows.once(
        ("top", "order", view.sort, view.backwards, filtered),
        lambda tables: in_order(tables, view.sort, backwards=view.backwards, filtered=filtered),
    )


def table(rows: FactRows, place: int, columns: Sequence[Column]) -> ShownTable:
    """One line of the list."""
    cells = tuple(column.say(numbers_of(column, rows)[place]) for column in columns)
    crashed = rows.rows[place][rows.columns.index("crashed")]
    return ShownTable(names_of(rows)[place], cells, bool(crashed))


def missing(scene: Scene) -> list[Missing]:
    """Why numbers are not known: those first that somebody can do something about."""
    facts = scene.facts
    if facts is None or facts.interval_seconds is None:
        return []
    found: dict[Unknown, list[str]] = {}
    for label, reason in _reasons(facts):
        if reason != NOT_SAID:
            found.setdefault(reason, []).append(label)
    together = [Missing(tuple(labels), reason) for reason, labels in found.items()]
    return sorted(together, key=lambda one: (not one.reason.remedy, -len(one.labels)))


def _reasons(facts: FactSet) -> Iterable[tuple[str, Unknown]]:
    for gauge in GAUGES:
        if gauge.value(facts) is None:
            yield gauge.label, _why_no_gauge(facts, gauge)
    rows = facts.tables["tables"]
    if not rows.rows:
        yield "tables", facts.why_unknown("tables", "data_bytes")
        return
    for column in COLUMNS:
        if all(number is None for number in numbers_of(column, rows)):
            yield column.heading, facts.why_unknown("tables", column.facts[0])


def _why_no_gauge(facts: FactSet, gauge: Gauge) -> Unknown:
    method = facts.single("mysqld").get("page_cache_method")
    if gauge.facts == ("mysqld.page_cache_hit_ratio",) and isinstance(method, str):
        return Unknown(method)
    reasons = (facts.why_unknown(*fact.split(".")) for fact in gauge.facts)
    return next((reason for reason in reasons if reason != NOT_SAID), NOT_SAID)


def findings_naming(findings: Iterable[Finding], name: str) -> list[Finding]:
    """Those about a table or one of its indexes, and those whose text names it."""
    whole_name = re.compile(rf"(?<![\w.$`]){re.escape(name)}(?![\w$`])")
    return [one for one in findings if whole_name.search(one.object) or whole_name.search(one.message)]
