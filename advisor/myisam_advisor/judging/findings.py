"""What became of each rule: a finding, ok, not evaluated (needs X), or not applicable (why)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from myisam_advisor.catalogue.forecasts import Forecast
from myisam_advisor.catalogue.rules import SEVERITIES
from myisam_advisor.remedies.memory_budget import MemoryBudget
from myisam_advisor.remedies.option_lines import OptionLine
from myisam_advisor.remedies.price import Price
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.remedies.statements.base import text_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.server.sql import Sql


@dataclass(frozen=True, slots=True)
class ShownFact:
    """A fact that led to a finding, with the threshold it was held against; `label` is what a person calls it."""

    fact: str
    value: Value
    unit: str
    threshold: Value = None
    source: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class QuotedProof:
    """A proof that a finding quotes: what was tried on which tables, what came of it for this finding, and when (seconds since 1970).

    `used` is False where it holds no more; `why_not` says why.
    """

    id: str
    experiment: str
    objects: tuple[str, ...]
    times: float
    low: float
    high: float
    verdict: str
    taken_at: float
    used: bool
    why_not: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of advice: what is wrong, how we know, what to do, what it costs, how to undo and verify it.

    `memory_bytes` is what the change takes beyond what is taken now; `resource` what holds the server back, where that is what was found
    (the lowest `resource_order` of several).
    `to_do` is the recommendation in a few words, `price` what it asks of the server.
    `refused` is what the rule would have had run and this server's state forbids, with what to do instead (the recommendation ends with it).
    `proved` quotes what a trial or a replay on this server's own tables said of the change, `measured` what was measured elsewhere.
    `forecast` is what the change is expected to gain, where the rule reckons it; a proof takes its place.
    `first_seen` and `last_seen` are moments (seconds since 1970) where
    a daemon's history knows them; `begin_seen` when it was seen not to hold just before the first: else it may be older.
    `away_seconds` is how long ago it was found last, where this look did not find it and it is told on (told.py).
    """

    rule: str
    title: str
    severity: str
    confidence: str
    scope: str
    object: str
    variable: str | None
    message: str
    evidence: tuple[ShownFact, ...]
    recommendation: str
    expect: str
    cost: str
    undo: str
    verify: str
    sources: tuple[str, ...]
    remedy: Remedy = field(default_factory=Remedy)
    refused: tuple[str, ...] = ()
    to_do: str = ""
    price: Price = field(default_factory=Price)
    memory_bytes: float = 0.0
    measured: str = ""
    proved: str = ""
    proof: QuotedProof | None = None
    forecast: Forecast | None = None
    resource: str = ""
    resource_order: int = 0
    first_seen: float | None = None
    last_seen: float | None = None
    begin_seen: bool = False
    away_seconds: float | None = None

    @property
    def commands(self) -> tuple[Sql | ShellLine, ...]:
        """What to run, as text."""
        return tuple(map(text_of, self.remedy.commands))

    @property
    def undo_commands(self) -> tuple[Sql, ...]:
        """What takes it back, as text."""
        return tuple(command.sql for command in self.remedy.undo_commands)

    @property
    def my_cnf(self) -> tuple[OptionLine, ...]:
        """The lines of my.cnf, or of what there is in its place (`remedy.label`)."""
        return self.remedy.my_cnf

    @property
    def init_file(self) -> tuple[Sql, ...]:
        """The lines of the init_file, as text."""
        return tuple(command.sql for command in self.remedy.init_file)


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """A rule that could not be judged: what it needs, in words, and how to have it.

    `facts` are the columns, any of which would do; `why` says why they are not there. `object` is what alone could not be judged, where the rule
    could judge others. `is_stopped` where a shipped rule that may have something serious to say ran out of time or memory; `is_open` where it was
    asked and found nothing, and an unknown fact might have had it speak.
    """

    rule: str
    needs: str
    how: str = ""
    facts: tuple[str, ...] = ()
    why: str = ""
    object: str = ""
    is_stopped: bool = False
    is_open: bool = False


# What may not have been seen, rules that came to no end, and rates that are not known because counters were set back.
TABLES, LOAD, STOPPED, COUNTERS = "tables", "load", "stopped", "counters"


@dataclass(frozen=True, slots=True)
class Blind:
    """Something that was not seen, so that silence about it means nothing: `what` names it for programs, `sentence` for people.

    `rules` are those that could not judge for it.
    """

    what: str
    sentence: str
    why: str
    remedy: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A rule that has nothing to say about this server, and why."""

    rule: str
    why: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """A finding that is not shown among the others, and why.

    Another one made it pointless, memory has no room for its remedy, it was shown not to pay, or its rule could decide on other objects only.
    `contradicted` when a second sign said that nothing is wrong: its rule is quiet.
    """

    rule: str
    object: str
    why: str
    contradicted: bool = False


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that the site does not want to see, and why."""

    finding: Finding
    reason: str
    until: str = ""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Facts that contradict each other: they are set aside, and nothing is concluded from them."""

    facts: tuple[str, ...]
    object: str
    why: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """All outcomes over one set of facts.

    `warnings` concern the site's configuration and what is cut short, `memory` is the account of what remedies take, `blind` what was not seen, `mooted` are rules
    of `not_applicable` that lacked a fact, and would be pointless with it.
    """

    findings: Sequence[Finding] = ()
    quiet: Sequence[str] = ()
    not_evaluated: Sequence[NotEvaluated] = ()
    not_applicable: Sequence[NotApplicable] = ()
    dropped: Sequence[Dropped] = ()
    suppressed: Sequence[Suppressed] = ()
    suspicious: Sequence[Suspicion] = ()
    warnings: Sequence[str] = ()
    memory: MemoryBudget = field(default_factory=MemoryBudget)
    seconds: dict[str, float] = field(default_factory=dict)
    blind: Sequence[Blind] = ()
    mooted: Sequence[str] = ()

    def count(self, severity: str) -> int | None:
        """How many findings have this severity; None where there is none, and what was not seen may hold some.

        What is critical shows without a load; without the tables it does not.
        """
        found = sum(finding.severity == severity for finding in self.findings)
        hidden = any(spot.what != LOAD or severity != SEVERITIES[0] for spot in self.blind)
        return None if not found and hidden else found

    @property
    def worst(self) -> str | None:
        """The worst severity among the findings, or None."""
        return min((finding.severity for finding in self.findings), key=SEVERITIES.index, default=None)
