"""`myisam-advisor verify`: what a change did, from the history of a daemon."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from myisam_advisor.cli.completion import rule_ids as offered_rule_ids
from myisam_advisor.cli.described import CHANGE, FAILED_ALONE, Described
from myisam_advisor.cli.options import Duration, LongDuration, SiteOptions, format_option, history_option, site_options
from myisam_exporter.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import RenderableType

    from myisam_advisor.catalogue.rules import Measure, Rule
    from myisam_advisor.history.ledger import Forecast
    from myisam_advisor.history.noticed_changes import Change
    from myisam_advisor.history.verification import MeasureOutcome, Window

EXIT_STATUSES = {"improved": 0, "unchanged": 0, "worse": 1, "not enough data": 3}
WIDTH = 140
MOMENTS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%H:%M")


class Compared(NamedTuple):
    """What was compared, of which moments there are samples (seconds since 1970), and what the daemon forecast before the change.

    `bounds` are other changes of what was changed, where these end the time before or after.
    """

    window: Window
    outcomes: list[MeasureOutcome]
    load: MeasureOutcome | None
    forecasts: Mapping[str, Forecast]
    moments: tuple[float, ...]
    bounds: tuple[float, float]


class Moment(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has none
    """A moment: 2026-11-21 14:30, 14:30 of today, or how long ago (-2h)."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds since 1970."""
        text = str(value).strip()
        if text.startswith("-"):
            return time.time() - float(LongDuration().convert(text[1:], param, ctx))
        moment = next((found for form in MOMENTS if (found := _parsed(text, form)) is not None), None)
        if moment is None:
            self.fail(f"{value!r} is not a time: write '2026-11-21 14:30', 14:30, or -2h for two hours ago", param, ctx)
        if moment > time.time():
            day = "" if "-" in text else " (a time alone is of today: write the day with it)"
            self.fail(f"{value!r} is still to come{day}", param, ctx)
        return moment


def _parsed(text: str, form: str) -> float | None:
    """The moment in local time; a time of day is today's."""
    try:
        moment = datetime.strptime(text, form)
    except ValueError:
        return None
    if "%Y" not in form:
        today = datetime.now()
        moment = moment.replace(year=today.year, month=today.month, day=today.day)
    return moment.timestamp()


@click.command(
    cls=Described,
    task=CHANGE,
    examples=(
        ("myisam-advisor verify", "The effect of the last change that the daemon noticed."),
        (
            "myisam-advisor verify key-buffer-too-small --at '2026-11-21 14:30'",
            "The effect of a change made at that time.",
        ),
    ),
    statuses=(
        ("0", "Improved or unchanged."),
        ("1", "Something got worse."),
        FAILED_ALONE,
        ("3", "Not enough data."),
    ),
)
@click.argument("rule_ids", nargs=-1, metavar="[RULE|FACT]...", shell_complete=offered_rule_ids)
@history_option
@click.option(
    "--at", "moment", type=Moment(), help="When the change was made [default: the last one that the daemon noticed]."
)
@click.option(
    "--window",
    type=LongDuration(),
    default="1h",
    show_default=True,
    help="How much time to compare before and after the change.",
)
@click.option(
    "--settle",
    type=Duration(),
    default="1min",
    show_default=True,
    help="Time after the change to leave out, while caches are cold.",
)
@click.option("--target", "label", default="", help="The server to show, if the history has several.")
@click.option("--changes", "list_changes", is_flag=True, help="List the changes that the daemon noticed.")
@format_option()
@site_options
def verify(
    rule_ids: tuple[str, ...],
    history_file: Path | None,
    moment: float | None,
    window: float,
    settle: float,
    label: str,
    list_changes: bool,
    format_name: str,
    site: SiteOptions,
) -> None:
    """Compare the daemon's history before and after a change: improved, unchanged, worse, or not enough data.

    What came of a rule's change alone, under a like load, is noted beside what was forecast of it (`myisam-advisor history --forecasts`).
    RULE compares what the rule's remedy should move, FACT any recorded fact (lower counts as better; +FACT: higher). Exits with 1 when
    something became worse, with 3 when there is not enough data.
    """
    from myisam_advisor.history.paths import path_to_read
    from myisam_advisor.history.reader import changes_of, targets_of
    from myisam_advisor.history.remedies_made import doubts, is_made, last_change, undisturbed

    path = path_to_read(history_file)
    target = _target(targets_of(path), label, path)
    changes = changes_of(path, target)
    if list_changes:
        _print_changes(changes)
        return
    rules = site.load().rules
    chosen = [rule for rule in rules if rule.id in rule_ids]
    # What is noted of a time that is still to come is of a clock that was wrong.
    past = [change for change in changes if change.noticed_at <= time.time()]
    at = moment if moment is not None else last_change(past, chosen)
    measures = _measures(rule_ids, rules)
    bounds = undisturbed(at, past)
    found = _compared(path, target, measures, [rule.id for rule in chosen], at, window, settle, bounds)
    compared, outcomes, load = found.window, found.outcomes, found.load
    near = [change for change in changes if compared.before_begin <= change.noticed_at <= compared.after_end]
    own = [rule for rule in chosen if is_made(rule, near, said=moment is not None)]
    cautions = [*doubts(chosen, near), *filter(None, [_caution(load)])]
    if format_name == "json":
        print(_as_json(at, near, found, cautions))
    else:
        print(_as_text(target, at, near, found, cautions), end="")
    if own and not _caution(load):
        _note(target, at, own, outcomes, found.forecasts)
    sys.exit(EXIT_STATUSES[_verdict(found)])


def _verdict(found: Compared) -> str:
    """Of all measures together; under another load nothing can be told of the change."""
    from myisam_advisor.history.verification import NOT_ENOUGH, overall

    return NOT_ENOUGH if _caution(found.load) else overall(found.outcomes)


def _note(
    target: str, at: float, rules: Sequence[Rule], outcomes: Sequence[MeasureOutcome], forecasts: Mapping[str, Forecast]
) -> None:
    """Put each rule's outcome into the ledger, beside what the daemon's findings forecast before the change."""
    from myisam_advisor.cli.ending import tell_beside
    from myisam_advisor.history.ledger import Entry, Measured, own_ledger
    from myisam_advisor.history.verification import NOT_ENOUGH, UNCHANGED, overall

    for rule in rules:
        # In the rule's own order: what is forecast is its first measure.
        facts = [measure.fact for measure in rule.measures]
        of_rule = sorted(
            (one for one in outcomes if _fact_of(one) in facts), key=lambda one: facts.index(_fact_of(one))
        )
        # What follows of its first measure is not known where only the others are: that they are unchanged is no outcome.
        told = overall(of_rule)
        if told == NOT_ENOUGH or (told == UNCHANGED and of_rule[0].verdict == NOT_ENOUGH):
            continue
        measured = tuple(Measured(one.name, one.ratio, one.low, one.high, one.verdict) for one in of_rule)
        if _fact_of(of_rule[0]) != facts[0]:
            # Nothing else is held against the forecast in its place.
            measured = (Measured(facts[0], None, None, None, NOT_ENOUGH), *measured)
        try:
            own_ledger().note(Entry(target, rule.id, at, time.time(), forecasts.get(rule.id), measured, told))
        except UserError as error:
            tell_beside(f"not noted: {error}")


def _fact_of(outcome: MeasureOutcome) -> str:
    return outcome.name.partition(" / ")[0].partition("[")[0]


def _target(targets: Sequence[str], label: str, path: Path) -> str:
    if label and label not in targets:
        raise UserError(f"{path} holds nothing of {label!r}; it holds {', '.join(targets) or 'nothing'}.")
    if not label and len(targets) > 1:
        raise UserError(f"{path} holds several servers: choose one with --target ({', '.join(targets)}).")
    if not targets:
        from myisam_advisor.history.curves import NO_SAMPLES

        raise UserError(f"{path} {NO_SAMPLES}")
    return label or targets[0]


def _measures(names: Sequence[str], rules: Sequence[Rule]) -> list[Measure]:
    """What is compared: what the rules name, the facts that were named, or what any change may move."""
    from myisam_advisor.catalogue.rules import Measure
    from myisam_advisor.texts.near import did_you_mean

    known = {rule.id: rule for rule in rules}
    measures: list[Measure] = []
    for name in names:
        if name in known:
            if not known[name].measures:
                raise UserError(
                    f"{name} names nothing that a history could show: give a fact (`myisam-advisor history --list`)."
                )
            measures += known[name].measures
        elif "." in name:
            measures.append(Measure(name.lstrip("+"), "higher" if name.startswith("+") else "lower"))
        else:
            raise UserError(
                f"{name!r} is neither a rule (`myisam-advisor explain`) nor a fact (`myisam-advisor history --list`)."
                f"{did_you_mean(name, known)}"
            )
    if not names:
        measures = [measure for rule in rules for measure in rule.measures]
    return list(dict.fromkeys(measures))


def _compared(
    path: Path, target: str, measures: Sequence[Measure], rules: Sequence[str], at: float, window: float, settle: float,
    bounds: tuple[float, float],
) -> Compared:  # fmt: skip
    from myisam_advisor.catalogue.rules import Measure
    from myisam_advisor.history.forecasts import forecast_before, is_forecast_of
    from myisam_advisor.history.reader import Curve, samples_of_target
    from myisam_advisor.history.verification import LOAD, Window, compare_measure

    facts = {fact for measure in measures for fact in (measure.fact, measure.per)} | {LOAD}

    def wanted(name: str) -> bool:
        return name in facts or name.partition("[")[0] in facts or is_forecast_of(name, rules)

    read_until = at + settle + window
    samples = samples_of_target(path, target, at - window, read_until, wanted)
    # A sample is about the interval before it: one that began before the change is of neither side.
    interval = max((seconds or 0 for moment, seconds, _ in samples if moment > at), default=0.0)
    away = max(settle, interval)
    changed_before = bounds[0] if bounds[0] > at - window - away else -inf
    changed_again = bounds[1] if bounds[1] <= at + away + window else inf
    before_end, after_end = at - 0.001, min(at + away + window, changed_again - 0.001)
    # Where the same was changed just before, or was at once changed again, a side is empty; the change itself stays between them.
    before_begin = min(max(at - window, changed_before + away), before_end)
    compared = Window(before_begin, before_end, min(at + away, after_end), after_end)
    further = samples_of_target(path, target, read_until, compared.after_end, wanted)
    samples += [one for one in further if one[0] > read_until]
    names = sorted({name for _, _, sample in samples for name in sample})

    def curve(name: str) -> Curve:
        return Curve(target, name, tuple((moment, sample.get(name)) for moment, _, sample in samples))

    asked = [
        (measure, name)
        for measure in measures
        for name in names
        if name == measure.fact or name.startswith(f"{measure.fact}[")
    ]
    outcomes = []
    for measure, name in asked:
        per = {moment: sample.get(measure.per) for moment, _, sample in samples} if measure.per else None
        outcomes.append(compare_measure(measure, curve(name), per, compared, len(asked)))
    load = compare_measure(Measure(LOAD, "higher"), curve(LOAD), None, compared) if LOAD in names else None
    before = [sample for moment, _, sample in samples if compared.before_begin <= moment <= compared.before_end]
    forecasts = {rule: told for rule in rules if (told := forecast_before(rule, before))}
    moments = tuple(moment for moment, _, _ in samples)
    return Compared(compared, outcomes, load, forecasts, moments, (changed_before, changed_again))


def _print_changes(changes: Sequence[Change]) -> None:
    from myisam_advisor.texts.templates import printable

    now = time.time()
    for change in changes:
        wrong = ", by a clock that was wrong" if change.noticed_at > now else ""
        click.echo(f"{_said(change.noticed_at)}  {printable(str(change))}{wrong}")
    if not changes:
        click.echo("no change was noticed")


def _said(moment: float) -> str:
    """With the zone where the clock was put forward or back since: 02:30 may come twice in a night."""
    told = time.localtime(moment)
    zoned = told.tm_gmtoff != time.localtime().tm_gmtoff
    return time.strftime(f"%Y-%m-%d %H:%M:%S{' %Z' if zoned else ''}", told)


def _as_text(target: str, at: float, near: Sequence[Change], found: Compared, cautions: Sequence[str]) -> str:
    from myisam_advisor.texts.drawing import drawn, terminal_width
    from myisam_advisor.texts.width import file_width

    # COLUMNS says for pipes too how many there are: watch(1) sets it.
    width = terminal_width(sys.stdout) or file_width(WIDTH)
    parts = _parts(target, at, near, found, cautions, width)
    return drawn(parts, sys.stdout, piped_width=WIDTH, maximum_width=WIDTH)


def _parts(
    target: str, at: float, near: Sequence[Change], found: Compared, cautions: Sequence[str], width: int
) -> Iterable[RenderableType]:
    from rich.text import Text

    from myisam_advisor.cli.outcome_lines import outcome_lines
    from myisam_advisor.history.missing_samples import has_enough_samples
    from myisam_advisor.history.noticed_changes import separate
    from myisam_advisor.history.verification import NOT_ENOUGH, overall
    from myisam_advisor.texts.templates import printable

    yield Text(printable(f"{target}: before and after {_said(at)}"), style="bold")
    for change in near:
        yield Text(printable(f"  {_said(change.noticed_at)}  {change}"))
    sides = [
        f"{word} {_said(one)}" for word, one in zip(("before", "from"), found.bounds, strict=True) if isfinite(one)
    ]
    if sides:
        yield Text(f"Left out is the time {' and '.join(sides)}: what was changed had other values.", style="dim")
    if len(separate(near)) > 1:
        yield Text("Several changes fall into this time: what follows may be the work of any of them.", style="yellow")
    told = [one for one in found.outcomes if has_enough_samples(one)]
    if told:
        yield from outcome_lines(told, found.load, width)
        if len(told) < len(found.outcomes):
            yield Text(f"{len(found.outcomes) - len(told)} more have too few samples.", style="dim")
        yield from (Text(printable(caution), style="yellow") for caution in cautions)
    yield Text(_verdict(found).capitalize() + ".", style="bold")
    if overall(found.outcomes) == NOT_ENOUGH:
        yield Text(_what_is_lacking(found, has_samples=bool(told)))


def _what_is_lacking(found: Compared, *, has_samples: bool) -> str:
    """Why nothing can be told, and what would change that."""
    from myisam_advisor.history.missing_samples import what_is_missing

    if has_samples:
        return (
            "The samples or their load differ too much for an answer, or were on their way before the change or are still so: "
            "a longer --window has more of them, and --settle leaves out the time in which caches fill."
        )
    counts = [one.samples for one in (*found.outcomes, *([found.load] if found.load else []))]
    most = (max((one for one, _ in counts), default=0), max((one for _, one in counts), default=0))
    return what_is_missing(most, found.moments, found.window, time.time(), found.bounds)


def _caution(load: MeasureOutcome | None) -> str:
    from myisam_advisor.history.verification import ALIKE_LOADS, MINIMUM_SAMPLES

    if load is None or min(load.samples) < MINIMUM_SAMPLES:
        return ""
    if load.ratio is None:
        return "Before the change there was no load: choose a time with a like one (--at, --window)."
    if ALIKE_LOADS[0] <= load.ratio <= ALIKE_LOADS[1]:
        return ""
    return (
        f"The load was {load.ratio:.1f} times as high afterwards: this compares two loads rather than two settings. "
        "Choose a time with a like load (--at, --window)."
    )


def _as_json(at: float, near: Sequence[Change], found: Compared, cautions: Sequence[str]) -> str:
    import json
    from dataclasses import asdict

    from myisam_advisor.texts.json_documents import heading

    document = {
        **heading(),
        "changed_at": at,
        "window": asdict(found.window),
        "changes": [asdict(change) for change in near],
        "measures": [asdict(outcome) for outcome in found.outcomes],
        "load": asdict(found.load) if found.load else None,
        "caution": " ".join(cautions) or None,
        "verdict": _verdict(found),
    }
    return json.dumps(document, indent=1)
