"""What the results say of each adviser: faults named, pieces by what came of them, servers left in peace, and what it falls short of the best found."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from benchmarks.advice.averting import AVERTS, DOES_NOT_AVERT, averted_of, keys_of_all, proposed_by, verdict_of
from benchmarks.advice.changes import Untouching, keys_of, piece_of, pieces, untouching, whole
from benchmarks.advice.model import Advice, Change
from benchmarks.advice.outcomes import IMPROVES, NOT_APPLICABLE, NOTHING, UNSAFE, UNTOUCHED, WORSENS
from benchmarks.advice.record import BEST, RESULTS, Line, advice_of, all_records, measured_of, of_kind, whole_of
from benchmarks.advice.scenarios import FAULT, NamedBy, Scenario
from myisam_advisor.catalogue.rules import shipped_rules

# Words of an adviser for what it does not ask anybody to do.
QUIET = ("info", "notice", "note", "ok")
WARNING = ("warning", "critical")
WORTHWHILE = 1.05


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario on one server, and what is known of it."""

    scenario: Scenario
    server: str
    lines: Sequence[Line]

    @property
    def untouching(self) -> Untouching:
        """Which changes cannot touch this load."""
        return untouching(self.scenario.uses_innodb_on(self.server))


@dataclass
class Tally:
    """The counts of one adviser. `pieces` are counted for each scenario and server that it was asked about; `unmeasured` ones are not known yet."""

    adviser: str
    versions: set[str] = field(default_factory=set)
    faults: int = 0
    faults_named: int = 0
    felt: int = 0
    felt_named: int = 0
    others: int = 0
    in_peace: int = 0
    without_a_word: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    unmeasured: int = 0
    warnings: int = 0
    warnings_that_pay: int = 0
    warnings_of_speed: int = 0
    warnings_of_speed_that_pay: int = 0
    warnings_kept: int = 0
    provoked: int = 0
    averted: int = 0
    damages: list[tuple[str, str, Line]] = field(default_factory=list)
    told: list[tuple[str, str, Line]] = field(default_factory=list)
    whole: list[tuple[str, str, Line]] = field(default_factory=list)
    reached: list[float] = field(default_factory=list)

    @property
    def pieces(self) -> int:
        """How many of its pieces of advice are known in their outcome."""
        return self.outcomes.total()

    @property
    def median_reached(self) -> float | None:
        """What its whole advice gives, as a share of the best configuration found, in the median scenario; None where nothing was searched."""
        return statistics.median(self.reached) if self.reached else None

    def count(self, case: Case, advice: Advice, averting: Collection[tuple[str, str]] = ()) -> None:
        """One case more; `averting` are the warnings of damage, by server and rule, that averted it wherever it was provoked there.

        A change that cannot touch a load (it logs, it counts) counts as that, whatever was measured of it, and is no warning that could pay.
        """
        self.versions.add(advice.version)
        if case.scenario.kind == FAULT:
            self.faults += 1
            is_named = names(advice, case.scenario.named_by)
            is_felt = is_shown(case.lines)
            self.faults_named += is_named
            self.felt += is_felt
            self.felt_named += is_felt and is_named
        else:
            # Ours says how severe a sentence is, too; of the others only changes are counted.
            is_loud = any(change.severity.lower() not in QUIET for change in advice.changes) or any(
                f"[{word}]" in said.partition(":")[0] for said in advice.named for word in WARNING
            )
            self.others += 1
            self.in_peace += not is_loud
            self.without_a_word += not advice.changes and not advice.named
        measured = measured_of(case.lines)
        for piece in pieces(advice.changes):
            line = measured.get(piece.key)
            if case.untouching.why(piece) is not None:
                self.outcomes[UNTOUCHED] += 1
            elif line is None:
                self.unmeasured += 1
            else:
                self.outcomes[line["outcome"]] += 1
                if line["outcome"] in (IMPROVES, WORSENS, UNSAFE):
                    self.told.append((case.scenario.name, case.server, line))
        loud = [change for change in advice.changes if change.severity.lower() in WARNING]
        loud_keys = {piece_of(change).key for change in loud}
        of_speed = {piece_of(change).key for change in loud if promises_speed(change)}
        for piece in pieces(advice.changes):
            keys, line = keys_of([piece]), measured.get(piece.key)
            if (
                not loud_keys.isdisjoint(keys)
                and line is not None
                and line["outcome"] not in (UNTOUCHED, NOT_APPLICABLE)
                and case.untouching.why(piece) is None
            ):
                self.warnings += 1
                self.warnings_that_pay += pays(line)
                averts = False
                if not of_speed.isdisjoint(keys):
                    self.warnings_of_speed += 1
                    self.warnings_of_speed_that_pay += pays(line)
                else:
                    averts = any((case.server, one.rule) in averting for one in loud if piece_of(one).key in keys)
                self.warnings_kept += averts or pays(line)
        self._count_damage(case, advice)
        self._count_whole(case, advice, measured)

    def _count_damage(self, case: Case, advice: Advice) -> None:
        known = averted_of(case.lines)
        loud = {change.rule for change in advice.changes if change.severity.lower() in WARNING}
        for rule, own in proposed_by(advice, [rule for rule in case.scenario.damage if rule in loud]).items():
            line = known.get((rule, tuple(keys_of_all(own))))
            if line is None:
                continue
            verdict = verdict_of(line)
            self.damages.append((case.scenario.name, case.server, line))
            self.provoked += verdict in (AVERTS, DOES_NOT_AVERT)
            self.averted += verdict == AVERTS

    def _count_whole(self, case: Case, advice: Advice, measured: Mapping[str, Line]) -> None:
        line = line_of_whole(case.lines, advice, measured)
        if line is not None and line["ratio"] is not None:
            self.whole.append((case.scenario.name, case.server, line))
        best = best_of(case.lines)
        if best is None or best["ratio"] is None:
            return
        if not advice.changes:
            self.reached.append(1 / max(best["ratio"], 1.0))
        elif line is not None and line["ratio"] is not None:
            self.reached.append(line["ratio"] / max(best["ratio"], line["ratio"], 1.0))


def line_of_whole(lines: Sequence[Line], advice: Advice, measured: Mapping[str, Line]) -> Line | None:
    """What came of all of an adviser's changes together; None where it is not known, or it proposes nothing that can be done."""
    all_pieces = whole(advice)
    if any(piece.key not in measured for piece in all_pieces):
        return None
    applied = [piece for piece in all_pieces if measured[piece.key]["outcome"] not in (NOT_APPLICABLE, UNTOUCHED)]
    return measured[applied[0].key] if len(applied) == 1 else whole_of(lines).get(keys_of(applied))


def names(advice: Advice, by: NamedBy) -> bool:
    """Whether it names the fault: by a rule, a variable, a statement, or words. The same for every adviser."""
    variables = {(change.variable or "").lower().rpartition(".")[2].replace("-", "_") for change in advice.changes}
    statements = " ".join((change.statement or "") for change in advice.changes).lower()
    said = " ".join([*advice.named, *(change.said for change in advice.changes)]).lower()
    rules = {change.rule for change in advice.changes} | {
        word.strip(":,.") for one in advice.named for word in one.split()[:1]
    }
    return bool(
        rules & set(by.rules)
        or variables & set(by.variables)
        or any(one.lower() in statements for one in by.statements)
        or any(one.lower() in said for one in by.words)
    )


def best_of(lines: Sequence[Line]) -> Line | None:
    """The best configuration that a search found, measured in full; None where none was made. A second search has the last word."""
    best = [line for line in of_kind(lines, BEST) if line["ratio"] is not None or line["outcome"] == NOTHING]
    return best[-1] if best else None


def is_shown(lines: Sequence[Line]) -> bool:
    """Whether a fault can be felt, as far as is known: no search was made for what would help, or the best that it found helps."""
    best = best_of(lines)
    return best is None or bool(best["outcome"] == IMPROVES)


def promises_speed(change: Change) -> bool:
    """Whether its adviser says that something holds the server back: ours names what (a rule's `resource`), and warns of damage and of limits too; of others nobody knows."""
    return change.rule not in _of_safety()


@lru_cache(maxsize=1)
def _of_safety() -> frozenset[str]:
    return frozenset(rule.id for rule in shipped_rules() if not rule.resource)


def pays(line: Line) -> bool:
    """Whether it improves the load by 5 % or more, the whole interval above 1."""
    return bool(line["outcome"] == IMPROVES and line["ratio"] >= WORTHWHILE and line["low"] > 1)


def known_cases(scenarios: Sequence[Scenario], folder: Path = RESULTS) -> list[Case]:
    """Of all results those whose scenario there is."""
    by_name = {one.name: one for one in scenarios}
    return [
        Case(by_name[record.scenario], record.server, record.lines())
        for record in all_records(folder)
        if record.scenario in by_name
    ]


def tallies(cases: Sequence[Case]) -> list[Tally]:
    """The counts of every adviser that was asked at all."""
    found: dict[str, Tally] = {}
    averting = _averting(cases)
    for case in cases:
        for name, advice in advice_of(case.lines).items():
            found.setdefault(name, Tally(name)).count(case, advice, averting)
    return [found[name] for name in sorted(found)]


def _averting(cases: Sequence[Case]) -> Collection[tuple[str, str]]:
    """The rules, by server, whose damage was provoked there and came with none of their changes."""
    verdicts: dict[tuple[str, str], set[str]] = {}
    for case in cases:
        for (rule, _), line in averted_of(case.lines).items():
            verdicts.setdefault((case.server, rule), set()).add(verdict_of(line))
    return {one for one, said in verdicts.items() if said == {AVERTS}}
