"""Changes that were measured on more than one kind of processor: what is left to measure again, and how often the second says what the first said."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.advice.changes import pieces
from benchmarks.advice.outcomes import IMPROVES, NOTHING, WORSENS
from benchmarks.advice.record import MEASURED, Line, advice_of, of_kind
from benchmarks.advice.tally import Case

# What was unclear there is seldom clear here.
CLEAR = (IMPROVES, NOTHING, WORSENS)


@dataclass(frozen=True, slots=True)
class Twice:
    """A change and its last measurement on each of two kinds of processor, the older first."""

    scenario: str
    server: str
    key: str
    both: tuple[Line, Line]

    @property
    def outcomes(self) -> tuple[str, str]:
        """What came of it, on each."""
        first, second = self.both
        return str(first["outcome"]), str(second["outcome"])

    @property
    def is_contradicted(self) -> bool:
        """Whether it made the load faster on one, and slower on the other."""
        return set(self.outcomes) == {IMPROVES, WORSENS}


def processor(machine: str) -> str:
    """The kind of processor in a machine's name ("2 cores (AMD EPYC), 23.5 GiB of memory")."""
    return machine.partition(", ")[0]


def of_this_processor(known: Sequence[Line], machine: str) -> list[Line]:
    """Without what other kinds of processors measured of changes; a line that was just made names no machine yet."""
    own = processor(machine)
    return [line for line in known if line.get("kind") != MEASURED or processor(line.get("machine", machine)) == own]


def wanted_again(cases: Sequence[Case], adviser: str, machine: str) -> Mapping[tuple[str, str], Collection[str]]:
    """The changes that this adviser proposed the last time, clear on another kind of processor and not measured on this one, by scenario and server.

    What cannot touch the load is none of them.
    """
    found = {}
    for case in cases:
        advice = advice_of(case.lines).get(adviser)
        clear = {
            line["key"]
            for line in of_kind(case.lines, MEASURED)
            if line["outcome"] in CLEAR and line["ratio"] is not None and case.untouching.why_key(line["key"]) is None
        }
        here = {line["key"] for line in of_kind(of_this_processor(case.lines, machine), MEASURED)}
        keys = {piece.key for piece in pieces(advice.changes)} & clear - here if advice else set()
        if keys:
            found[case.scenario.name, case.server] = keys
    return found


def measured_twice(cases: Sequence[Case]) -> list[Twice]:
    """Each change with a ratio from two kinds of processors, however it was proposed; of three the last two count."""
    return [
        Twice(case.scenario.name, case.server, key, (lines[-2], lines[-1]))
        for case in cases
        for key, lines in by_processor(case.lines).items()
        if len(lines) > 1
    ]


def in_words(found: Sequence[Twice]) -> str:
    """How often the second measurement says what the first said."""
    clear = [one for one in found if one.outcomes[0] in CLEAR]
    same = sum(first == second for first, second in (one.outcomes for one in clear))
    wrong = sum(one.is_contradicted for one in found)
    measured = f"On two kinds of processors {len(found)} change{'s were' if len(found) != 1 else ' was'} measured"
    if not clear:
        return f"{measured}, none whose first outcome was clear."
    return (
        f"{measured}. Of the {len(clear)} whose first outcome was clear, the second is the same for {same}; "
        f"{wrong} made a load faster on one and slower on the other."
    )


def by_processor(known: Sequence[Line]) -> dict[str, list[Line]]:
    """Of each change with a ratio the last measurement of each kind of processor, in the order in which they were made."""
    found: dict[str, dict[str, Line]] = {}
    for line in of_kind(known, MEASURED):
        if line["ratio"] is not None:
            own = found.setdefault(line["key"], {})
            own.pop(processor(line["machine"]), None)
            own[processor(line["machine"])] = line
    return {key: list(lines.values()) for key, lines in found.items()}
