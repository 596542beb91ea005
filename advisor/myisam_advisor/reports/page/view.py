"""The page's content as words and numbers, ready to be set: no HTML here, and no decision in the template."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from time import localtime, strftime

from myisam_advisor.judging.findings import Judgement, NotEvaluated
from myisam_advisor.judging.past import Past
from myisam_advisor.judging.verdict import UNKNOWN as NOT_KNOWN
from myisam_advisor.judging.verdict import Verdict
from myisam_advisor.remedies.option_lines import OptionRemark
from myisam_advisor.remedies.script import Portion, portions
from myisam_advisor.remedies.statements.base import Command
from myisam_advisor.reports.page.earlier import EarlierView, Mark, earlier_view, marks
from myisam_advisor.reports.page.host_paths import without_host_paths, without_paths
from myisam_advisor.reports.page.links import Links
from myisam_advisor.reports.page.look import Look
from myisam_advisor.reports.page.map_view import MapView, TableLine, map_view, table_lines
from myisam_advisor.reports.page.sparkline import Sparkline, sparkline
from myisam_advisor.reports.told import Told, ToldRule, told, told_facts
from myisam_advisor.reports.wording import headline
from myisam_advisor.texts.templates import count, printable, size, so_many, with_unit
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import number_of

CURVE_SECONDS = 86_400.0
SHOWN_COMMANDS = 40
SHOWN_BYTES = 6_000
SHOWN_OUTCOMES = 40
# The curves of the page: fact, title, unit.
CURVES = (
    ("status.Questions.per_second", "Statements", "per second"),
    ("mysqld.threads_running", "Threads running", "number"),
    ("mysqld.page_cache_hit_ratio", "Page-cache hits of mysqld", "ratio"),
    ("key_cache.reads_per_second[default]", "Key-cache misses", "per second"),
    ("mysqld.voluntary_switches_per_second", "Context switches, voluntary", "per second"),
    ("status.Table_locks_waited.per_second", "Table locks waited for", "per second"),
    ("status.Opened_tables.per_second", "Tables opened", "per second"),
    ("host.cpu_iowait_ratio", "CPU waiting for a disk", "ratio"),
)
Curve = Sequence[tuple[float, float | None]]


@dataclass(frozen=True, slots=True)
class Block:
    """Something to copy. `altered` when a character had to be shown by an escape."""

    title: str
    text: str
    altered: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class FindingView:
    """The findings of one rule: the first in full, the others by what they say."""

    number: int
    rule: str
    severity: str
    title: str
    messages: tuple[str, ...]
    likewise: str
    since: str
    evidence: tuple[tuple[str, str, str], ...]
    blocks: tuple[Block, ...]
    texts: tuple[tuple[str, str], ...]
    undo_blocks: tuple[Block, ...]
    is_open: bool


@dataclass(frozen=True, slots=True)
class KeyCacheView:
    """A key cache as a line; `used` is a share or None."""

    name: str
    size: str
    used: float | None
    used_words: str
    dirty: str
    requests: str
    misses: str
    segments: str


@dataclass(frozen=True, slots=True)
class CurveView:
    """A curve with its numbers in words."""

    title: str
    line: Sparkline
    latest: str
    lowest: str
    highest: str
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """All that the template sets."""

    title: str
    headline: str
    taken: str
    taken_iso: str
    verdict: Verdict
    findings: tuple[FindingView, ...] = ()
    counted: tuple[tuple[str, int], ...] = ()
    key_caches: tuple[KeyCacheView, ...] = ()
    map: MapView | None = None
    tables: tuple[TableLine, ...] = ()
    curves: tuple[CurveView, ...] = ()
    hours: str = ""
    earlier: EarlierView = field(default_factory=EarlierView)
    unknown: tuple[tuple[str, str, str], ...] = ()
    blind: tuple[tuple[str, str, str], ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()
    warning: str = ""
    others: tuple[tuple[str, str], ...] = ()
    links: Links | None = None


def view_of(
    look: Look,
    curves: Mapping[str, Curve] | None = None,
    *,
    warning: str = "",
    others: Sequence[tuple[str, str]] = (),
    links: Links | None = None,
    paths: bool = True,
) -> View:
    """The page of a look.

    `warning` stands above all; `others` are (name, address) of further servers; `links` lead into the daemon, where there is one;
    `paths` are those below the data directory.
    """
    facts = look.facts
    clean, command = cleaner(look, paths)
    known = told(look.judgement, facts)
    verdict = known.verdict
    drawn = tuple(_curves(curves or {}, look.taken_at, look.past))
    return View(
        title=look.name,
        headline=clean(headline(facts)),
        taken=moment(look.taken_at),
        taken_iso=strftime("%Y-%m-%dT%H:%M:%S%z", localtime(look.taken_at)),
        verdict=replace(verdict, headline=clean(verdict.headline), detail=clean(verdict.detail)),
        findings=tuple(finding_views(known.rules, clean, command)),
        counted=_counted(look.judgement),
        key_caches=tuple(_key_cache(row) for row in facts.tables["key_cache"].dictionaries()),
        map=map_view(look.tables, links) if look.tables.tables else None,
        tables=tuple(table_lines(look.tables, links)),
        curves=drawn,
        hours=_hours(drawn),
        earlier=EarlierView() if look.past is None else earlier_view(look.past, clean),
        unknown=tuple(_unknown(known.unknown, clean)),
        blind=tuple((clean(one.sentence), clean(one.why), clean(one.remedy)) for one in known.blind),
        remarks=tuple(_remarks(known, len(look.judgement.not_applicable), clean)),
        warning=clean(warning),
        others=tuple((printable(name), address) for name, address in others),
        links=links,
    )


def empty_view(warning: str, others: Sequence[tuple[str, str]] = (), links: Links | None = None) -> View:
    """The page before there is a look."""
    verdict = Verdict(NOT_KNOWN, "Nothing is known yet.", printable(without_host_paths(warning)))
    named = tuple((printable(name), to) for name, to in others)
    return View("myisam-advisor", "", "", "", verdict, others=named, links=links)


def cleaner(look: Look | None, paths: bool) -> tuple[Callable[[object], str], Callable[[str], str]]:
    """What makes texts of this look fit for a browser, and what makes commands: without paths, or with those of the data directory."""
    directory, odd = (look.data_directory, look.odd_paths) if look else (None, ())
    shown = without_host_paths if paths else without_paths

    def clean(text: object) -> str:
        return printable(shown(str(text), directory, odd))

    def command(line: str) -> str:
        # An option file is no path below the data directory: it is not for a browser.
        return line if paths and not isinstance(line, OptionRemark) else without_paths(line, directory, odd)

    return clean, command


def moment(seconds: float) -> str:
    """A moment as a person of the server's place writes it."""
    return strftime("%Y-%m-%d %H:%M:%S %Z", localtime(seconds))


def _counted(judgement: Judgement) -> tuple[tuple[str, int], ...]:
    severities = [finding.severity for finding in judgement.findings]
    return tuple((name, severities.count(name)) for name in ("critical", "warning", "info") if name in severities)


def finding_views(
    rules: Sequence[ToldRule], clean: Callable[[object], str], command: Callable[[str], str]
) -> Iterable[FindingView]:
    """Each rule's findings; the first and whatever is worse than a hint is open."""
    for place, rule in enumerate(rules):
        first = rule.first
        yield FindingView(
            number=rule.number,
            rule=first.rule,
            severity=first.severity,
            title=clean(first.title),
            messages=tuple(map(clean, rule.sentences)),
            likewise=clean(rule.likewise_sentence()),
            since=rule.since,
            evidence=tuple(
                (clean(one.label), clean(one.value), clean(one.threshold or "")) for one in told_facts(first.evidence)
            ),
            blocks=tuple(_blocks(rule, command)),
            texts=tuple(_texts(rule, clean)),
            undo_blocks=tuple(_commands(rule.undo_commands, command, "Undo")),
            is_open=place == 0 or first.severity != "info",
        )


def _blocks(rule: ToldRule, command: Callable[[str], str]) -> Iterable[Block]:
    my_cnf = [command(line) for line in rule.my_cnf]
    yield from _commands(rule.commands, command)
    if my_cnf:
        yield _block(
            rule.label, Portion(in_shell=False, lines=tuple(my_cnf), is_altered=False), SHOWN_COMMANDS, SHOWN_BYTES
        )
    yield from _commands([rule.init_file], command, "init_file")


def _commands(remedies: Iterable[Sequence[Command]], command: Callable[[str], str], title: str = "") -> Iterable[Block]:
    """Each portion by itself, as far as there is room; `title` is for what has but one."""
    lines = SHOWN_COMMANDS
    length = SHOWN_BYTES
    all_portions = portions(remedies)
    for place, portion in enumerate(all_portions):
        name = title or portion.title(is_first=place == 0).capitalize()
        block = _block(name, replace(portion, lines=tuple(map(command, portion.lines))), lines, length)
        lines -= len(portion.lines)
        length -= len(block.text)
        is_last = block.cut or lines <= 0 or length <= 0
        yield replace(block, cut=block.cut or (is_last and place + 1 < len(all_portions)))
        if is_last:
            return


def _block(title: str, portion: Portion, lines: int, length: int) -> Block:
    """The lines as a person may copy them, as far as there is room, and the first however long."""
    shown: list[str] = []
    for line in portion.lines[:lines]:
        length -= len(line)
        if length < 0 and shown:
            break
        shown.append(line)
    return Block(title, "\n".join(shown), portion.is_altered, len(shown) < len(portion.lines))


def _texts(rule: ToldRule, clean: Callable[[object], str]) -> Iterable[tuple[str, str]]:
    for title, text in (
        ("Do", rule.recommendation), ("Expect", rule.expectation), ("Cost", rule.cost),
        ("Undo", rule.undo), ("Verify", rule.verify),
    ):  # fmt: skip
        if text:
            yield title, "\n".join(map(clean, text.split("\n")))


def _key_cache(row: Mapping[str, Value]) -> KeyCacheView:
    total, unused, block = (
        number_of(row["usable_bytes"]),
        number_of(row["blocks_unused"]),
        number_of(row["block_size_bytes"]),
    )
    used = None
    if total and unused is not None and block:
        used = min(max(1 - unused * block / total, 0.0), 1.0)
    dirty = number_of(row["blocks_dirty"])
    segments = row["segments"]
    return KeyCacheView(
        printable(str(row["name"])),
        size(number_of(row["size_bytes"])),
        used,
        "unknown" if used is None else f"{used * 100:.0f} %",
        size(dirty * block) if dirty is not None and block is not None else "unknown",
        with_unit(row["read_requests_per_second"], "per second"),
        with_unit(row["reads_per_second"], "per second"),
        "unknown" if segments is None else str(segments),
    )


def _curves(curves: Mapping[str, Curve], end: float, past: Past | None) -> Iterable[CurveView]:
    for fact, title, unit in CURVES:
        line = sparkline(curves.get(fact, ()), end, CURVE_SECONDS)
        if line is not None:
            latest, lowest, highest = (with_unit(value, unit) for value in (line.latest, line.lowest, line.highest))
            marked = marks(past, line.begin, end) if past is not None else ()
            yield CurveView(title, line, latest, lowest, highest, marked)


def _hours(curves: Sequence[CurveView]) -> str:
    hours = max((curve.line.hours for curve in curves), default=0.0)
    minutes = round(hours * 60)
    return f"{hours:.0f} hours" if hours >= 1.5 else f"{minutes} minutes" if minutes > 1 else "minute"


def _unknown(outcomes: Sequence[NotEvaluated], clean: Callable[[object], str]) -> Iterable[tuple[str, str, str]]:
    """Rules that lack a fact, those that can be helped first."""
    ordered = sorted(outcomes, key=lambda outcome: not outcome.how)
    for outcome in ordered[:SHOWN_OUTCOMES]:
        yield outcome.rule, clean(outcome.needs), clean(outcome.how)


def _remarks(known: Told, skipped: int, clean: Callable[[object], str]) -> Iterable[tuple[str, str]]:
    yield from (("Suspicious", clean(sentence)) for sentence in known.suspicious[:SHOWN_OUTCOMES])
    dropped = sorted({(one.rule, one.why) for one in known.dropped})
    yield from (("Dropped", clean(f"{rule}: {why}")) for rule, why in dropped[:SHOWN_OUTCOMES])
    if known.suppressed:
        yield "Hidden", f"{count(len(known.suppressed))} suppressed by the configuration."
    for note in known.notes:
        yield "Note", clean(f"{note.reason}.{f' Remedy: {note.remedy}' if note.remedy else ''}")
    dismissed = len(known.dismissed)
    quiet = len(known.quiet) - dismissed
    if quiet:
        yield "Quiet", f"{so_many(quiet, 'rule')} found nothing."
    if dismissed:
        yield "Explained", f"{so_many(dismissed, 'rule')} found what another sign explains: check --verbose says what."
    if skipped:
        yield "Skipped", f"{count(skipped)} rules do not apply here."
