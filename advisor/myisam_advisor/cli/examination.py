"""Every source examined: working, degraded, off, or not for this machine; what is missing, how to have it, and which rules would gain by it."""

from __future__ import annotations

import os
import pwd
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.factbase.hosting import HERE, Hosting, hosting_of
from myisam_advisor.texts.drawing import drawn, without_padding
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.texts.templates import count, printable
from myisam_advisor.texts.width import UNFOLDED, WIDEST
from myisam_exporter.collectors.base import Collector, Context, all_collectors
from myisam_exporter.collectors.server import SERVER
from myisam_exporter.collectors.variables import VARIABLES
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.server.granting import is_anonymous, shown
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.server.version_number import PRODUCT_NAMES

WORKING, DEGRADED, OFF, NOT_HERE = "working", "degraded", "off", "not here"
# Of a remedy with another way that does for some problems only.
OR_ELSE = "; or "
NAMED_RULES = 5
KEY_COLUMNS = frozenset({"schema_name", "table_name", "name"})
STYLES = {WORKING: "green", DEGRADED: "yellow", OFF: "red", NOT_HERE: "dim"}


@dataclass(frozen=True, slots=True)
class Examination:
    """One collector's state."""

    collector: str
    state: str
    problems: tuple[Unknown, ...]
    rules: tuple[str, ...]
    seconds: float
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    """The columns (`table.column`) that are not known, and why."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """One thing to do, what it mends (a source and its problem), and the rules that would gain by it."""

    what: str
    mended: tuple[tuple[str, str], ...]
    rules: tuple[str, ...]


def who_asks(target: Target, timeout_seconds: int) -> str:
    """As whom the server is asked, as whom this machine is looked at, and which server it is."""
    with Session(target, timeout_seconds) as session:
        account, version = session.account(), session.version
        lets_everybody_in = session.asks_nobody()
    product = f"{PRODUCT_NAMES[version.flavour]} {'.'.join(map(str, version.number))}"
    whom = f"the anonymous account {shown(account)}" if is_anonymous(account) else account
    if lets_everybody_in:
        whom = "anybody (skip-grant-tables: the server asks nobody who they are, and lets them do everything)"
    return f"{product} at {target.label}, connected as {whom}, running as {_system_user()}"


def _system_user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # in a container there may be no name for the number
        return f"the user of number {os.geteuid()}"


def examine(
    target: Target, timeout_seconds: int, key_caches: tuple[str, ...], rules: Sequence[Rule]
) -> list[Examination]:
    """Run every collector once and say how it went."""
    with Session(target, timeout_seconds) as session:
        snapshot = take_snapshot(Context(target, session, key_caches=key_caches))
    hosting = _hosting(snapshot.samples)
    return [
        _examined(collector, snapshot.samples[collector.name], snapshot.durations[collector.name], rules, hosting)
        for collector in all_collectors()
    ]


def _hosting(samples: Mapping[str, Any]) -> Hosting:
    """Where the server runs, as far as it could be asked."""
    server, variables = samples[SERVER.name], samples[VARIABLES.name]
    if isinstance(server, Unknown) or isinstance(variables, Unknown):
        return HERE
    is_seen = not isinstance(server.location.data_directory, Unknown)
    return hosting_of({"local": int(is_seen), "data_directory": server.data_directory}, variables.values)


def _examined(
    collector: Collector[Any], sample: Any, seconds: float, rules: Sequence[Rule], hosting: Hosting
) -> Examination:
    if isinstance(sample, Unknown):
        sample = hosting.known_way(sample)
        gained = {
            f"{table}.{column.name}"
            for table, columns in collector.sections.items()
            for column in columns
            if column.name not in KEY_COLUMNS
        }
        # Off without a remedy: this machine or this version has no such thing, or it is not needed.
        state = NOT_HERE if sample.off and not sample.remedy else OFF
        unknown: Mapping[str, Unknown] = dict.fromkeys(sorted(gained), sample)
        return Examination(collector.name, state, (sample,), _rules_that_use(gained, rules), seconds, unknown)
    unknown = {column: hosting.known_way(why) for column, why in collector.unknown_columns(sample).items()}
    noted = map(hosting.known_way, collector.notes(sample))
    problems = tuple({problem.reason: problem for problem in (*noted, *unknown.values())}.values())
    # What is off here and cannot be switched on is no defect.
    state = DEGRADED if any(problem.remedy or not problem.off for problem in problems) else WORKING
    # By a remedy no rule gains what no remedy makes known.
    mended = {column for column, why in unknown.items() if why.remedy} or set(unknown)
    return Examination(collector.name, state, problems, _rules_that_use(mended, rules), seconds, dict(unknown))


def _rules_that_use(facts: set[str], rules: Sequence[Rule]) -> tuple[str, ...]:
    """The rules that name one of these facts, or its table, among what they need or show."""
    tables = {fact.partition(".")[0] for fact in facts if "." not in fact}

    def uses(rule: Rule) -> bool:
        named = {fact for need in rule.needs for fact in need} | {evidence.fact for evidence in rule.evidence}
        named |= {one.fact for one in rule.not_quiet_without}
        return any(name in facts or name.partition(".")[0] in tables for name in named)

    return tuple(rule.id for rule in rules if uses(rule))


def examination_as_document(examinations: Sequence[Examination], who: str, history: Path) -> dict[str, object]:
    """The same for programs; and whether whoever runs this may keep a history there."""
    return {
        **heading(),
        "who": who,
        "sources": [_source_document(examination) for examination in examinations],
        "history": {"path": str(history), "problem": _why_not_writable(history.parent)},
    }


def _source_document(examination: Examination) -> dict[str, object]:
    return {
        "name": examination.collector,
        "state": examination.state,
        "seconds": round(examination.seconds, 6),
        "problems": [asdict(problem) for problem in examination.problems],
        "unknown": {column: asdict(why) for column, why in examination.unknown.items()},
        "rules": list(examination.rules),
    }


def _why_not_writable(folder: Path) -> str:
    """Why nothing can be kept in a folder, or in the nearest one above it that is there; "" where it can."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    may = os.access(folder, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)
    return "" if may else f"{folder} cannot be written by this user"


def remedies_of(examinations: Sequence[Examination]) -> list[Remedy]:
    """What there is to do, each thing once, what mends most first."""
    mended: dict[str, list[tuple[str, str]]] = {}
    rules: dict[str, dict[str, None]] = {}
    told = {problem.remedy for examination in examinations for problem in examination.problems if problem.remedy}
    for examination in examinations:
        for problem in examination.problems:
            if problem.remedy:
                what, also = _right_and_more(problem.remedy, told)
                mended.setdefault(what, []).append((examination.collector, problem.reason + also))
                rules.setdefault(what, {}).update(dict.fromkeys(examination.rules))
    found = [Remedy(what, tuple(problems), tuple(sorted(rules[what]))) for what, problems in mended.items()]
    return sorted(found, key=lambda remedy: (-len(remedy.rules), -len(remedy.mended)))


def _right_and_more(remedy: str, told: Container[str]) -> tuple[str, str]:
    """The right that mends a problem, and what would do for this one besides, where another problem has that right alone for its remedy."""
    right, way, besides = remedy.partition(OR_ELSE)
    return (right, f" ({way.removeprefix('; ')}{besides})") if besides and right in told else (remedy, "")


def summary_of(examinations: Sequence[Examination], remedies: Sequence[Remedy]) -> str:
    """How many sources see all that they could, and what is to be done for the others."""
    here = [examination for examination in examinations if examination.state != NOT_HERE]
    whole = sum(examination.state == WORKING for examination in here)
    elsewhere = len(examinations) - len(here)
    counted = f"{whole} of {len(here)} sources work" if whole < len(here) else "Every source works"
    aside = f" ({elsewhere} more {'is' if elsewhere == 1 else 'are'} not for this machine)" if elsewhere else ""
    things = "do this" if len(remedies) == 1 else f"do these {len(remedies)} things"
    return f"{counted}{aside}{f'; {things} to see more' if remedies else ''}."


def examination_as_text(examinations: Sequence[Examination], reader: TextIO | None = None, who: str = "") -> str:
    """Who asks, a line for each source, what to do about what is missing, and how many work; for the stream `reader` (None: a file)."""
    return without_padding(drawn(_parts(examinations, who), reader, piped_width=UNFOLDED, maximum_width=WIDEST))


def _parts(examinations: Sequence[Examination], who: str) -> Iterable[RenderableType]:
    if who:
        yield Text(printable(who), style="bold")
    remedies = remedies_of(examinations)
    numbers = {remedy.what: number for number, remedy in enumerate(remedies, 1)}
    width = max(len(examination.collector) for examination in examinations)
    for examination in examinations:
        yield from _source(examination, width, numbers)
    for number, remedy in enumerate(remedies, 1):
        yield _numbered(number, remedy.what)
        for reason, sources in _by_reason(remedy.mended).items():
            yield Padding(Text(f"{', '.join(sources)}: {printable(reason)}"), (0, 0, 0, 3))
        if remedy.rules:
            yield Padding(Text(_gaining(remedy.rules), style="dim"), (0, 0, 0, 3))
    yield Text(summary_of(examinations, remedies), style="bold")


def _numbered(number: int, what: str) -> Table:
    """What to do, with its number in front of all its lines."""
    grid = Table.grid()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(f"{number}. ", style="bold"), Text(printable(what), style="cyan"))
    return grid


def _source(examination: Examination, width: int, numbers: Mapping[str, int]) -> Iterable[RenderableType]:
    ways = sorted(
        {numbers[_right_and_more(problem.remedy, numbers)[0]] for problem in examination.problems if problem.remedy}
    )
    yield Text.assemble(
        f"{examination.collector:{width}}  ",
        (f"{examination.state:8}", STYLES[examination.state]),
        (f"  {examination.seconds * 1000:6.1f} ms", "dim"),
        f"  see {', '.join(map(str, ways))} below" if ways else "",
    )
    for problem in examination.problems:
        # What no server has, of a source that is here, is nothing to read here: --format json and `table` tell it.
        told = not problem.off or examination.state in (OFF, NOT_HERE)
        if told and not problem.remedy:
            yield Padding(Text(printable(problem.reason), style="dim" if problem.off else ""), (0, 0, 0, width + 4))
    if examination.rules and any(not problem.remedy and not problem.off for problem in examination.problems):
        yield Padding(Text(_gaining(examination.rules), style="dim"), (0, 0, 0, width + 4))


def _gaining(rules: Sequence[str]) -> str:
    """How many rules gain, and the first of them: without rights a list of forty filled half a screen. The document names all."""
    if len(rules) <= NAMED_RULES:
        return f"rules that gain: {', '.join(rules)}"
    named = ", ".join(rules[: NAMED_RULES - 1])
    return f"{count(len(rules))} rules gain: {named} and {count(len(rules) - NAMED_RULES + 1)} more (--format json names them)"


def _by_reason(mended: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for source, reason in mended:
        found.setdefault(reason, []).append(source)
    return found
