"""What was not seen, so that nobody takes silence for health: tables out of sight, counters that were set back, and an interval in which next to nothing happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from myisam_advisor.factbase.partial import may_be_part
from myisam_advisor.judging.findings import COUNTERS, LOAD, STOPPED, TABLES, Blind, NotEvaluated
from myisam_advisor.texts.templates import count, duration, so_many
from myisam_exporter.collectors.myi import WRITE_COMMANDS
from myisam_exporter.collectors.processlist import RUNNING
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.interval import RESET

FACTS_OF_TABLES = frozenset({"tables", "indexes", "totals"})
# The rule that people would least like to miss, and so the one that is named.
GRAVEST_RULE = "table-crashed"
# Less than this in an interval says nothing of a load: a statement a second, what reading a few small tables takes, and
# as many requests as the rules want to see before they judge a key cache (insufficient-sample).
IDLE_STATEMENTS_PER_SECOND = 1.0
IDLE_ROWS_READ = 20_000.0
IDLE_KEY_REQUESTS = 1_000.0
ROWS_READ = ("Handler_read_next", "Handler_read_prev", "Handler_read_rnd", "Handler_read_rnd_next", "Handler_read_key")
UNSEEN_ONES = "Whether these are crashed, or near their limits, is not known"
BESIDE_THE_SERVER = "on the server's own host: sudo myisam-advisor check"


def tables_are_seen(facts: FactSet) -> bool:
    """Whether it is known which MyISAM tables there are, be it none. One whose file could not be read is enough to say no."""
    if facts.single("totals").get("myisam_tables") is not None:
        return True
    return "tables" not in facts.unknown and not may_be_part(facts)


def blind_spots(facts: FactSet, not_evaluated: Sequence[NotEvaluated]) -> tuple[Blind, ...]:
    """What could not be seen, the gravest first."""
    return (*_tables(facts, not_evaluated), *_stopped(not_evaluated), *_counters(not_evaluated), *_load(facts))


def _is_far(facts: FactSet) -> bool:
    return facts.single("server").get("local") == 0


def _tables(facts: FactSet, not_evaluated: Sequence[NotEvaluated]) -> Iterable[Blind]:
    if tables_are_seen(facts):
        return
    reason = facts.why_unknown("totals", "myisam_tables")
    seen = facts.tables["tables"]
    if seen.has("crashed") and not _is_far(facts):
        # The headers were read, but for these: every rule judged the others, and the tables that nobody looked at are what matters.
        yield Blind(TABLES, f"{_capital(reason.reason)}.", UNSEEN_ONES, reason.remedy)
        return
    lacking = tuple(outcome.rule for outcome in not_evaluated if lacks_tables(outcome))
    what = f"Only {count(len(seen.rows))} of the tables can be seen" if seen.rows else "Tables cannot be seen"
    named = f", {GRAVEST_RULE} among them," if GRAVEST_RULE in lacking and len(lacking) > 1 else ""
    rules = f"{so_many(len(lacking), 'rule')}{named} could not judge"
    # As long as anything is missing the others are too: without a rule that lacks it, the fact itself is what is said.
    sentence = f"{what}: {rules}." if lacking else f"{what}."
    remedy = reason.remedy or (BESIDE_THE_SERVER if _is_far(facts) else "")
    yield Blind(TABLES, sentence, _capital(reason.reason), remedy, lacking)


def _stopped(not_evaluated: Sequence[NotEvaluated]) -> Iterable[Blind]:
    """Rules that came to no end for want of time or memory: what they would have said may be the worst of all."""
    stopped = [outcome for outcome in not_evaluated if outcome.is_stopped]
    if stopped:
        rules = tuple(dict.fromkeys(outcome.rule for outcome in stopped))
        named = GRAVEST_RULE if GRAVEST_RULE in rules else rules[0]
        others = f" and {so_many(len(rules) - 1, 'more rule')}" if len(rules) > 1 else ""
        sentence = f"{_capital(named)}{others} could not be asked to the end."
        yield Blind(STOPPED, sentence, _capital(stopped[0].needs.partition(": ")[2]), stopped[0].how, rules)


def _counters(not_evaluated: Sequence[NotEvaluated]) -> Iterable[Blind]:
    """Rules that rest on rates which nobody knows: what they said at the look before may hold as well as not."""
    rules = tuple(outcome.rule for outcome in not_evaluated if outcome.why == RESET.reason)
    if rules:
        sentence = f"{_capital(RESET.reason)}: {so_many(len(rules), 'rule')} could not judge."
        yield Blind(COUNTERS, sentence, "Without counters at both ends there are no rates", RESET.remedy, rules)


def lacks_tables(outcome: NotEvaluated) -> bool:
    """Whether a rule could not judge for want of facts of tables alone."""
    return bool(outcome.facts) and all(fact.partition(".")[0] in FACTS_OF_TABLES for fact in outcome.facts)


def _capital(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}"


def _load(facts: FactSet) -> Iterable[Blind]:
    seconds = facts.interval_seconds
    rates = facts.tables["status"].by_name("per_second")

    def rate(name: str) -> float | None:
        return number_of(rates.get(name))

    asked = rate("Questions")
    # Without a MyISAM table there is no load that could tell more.
    if not seconds or asked is None or facts.single("totals").get("myisam_tables") == 0:
        return
    own = number_of(facts.single("server").get("own_statements_per_second"))
    statements = max(asked - (own or 0.0), 0.0)
    rows = sum(rate(name) or 0.0 for name in ROWS_READ) * seconds
    requests = (rate("Key_read_requests") or 0.0) * seconds
    if statements >= IDLE_STATEMENTS_PER_SECOND or rows >= IDLE_ROWS_READ or requests >= IDLE_KEY_REQUESTS:
        return
    # They are some of the statements, whatever a file of facts says of them.
    written = min(max(sum(rate(name) or 0.0 for name in WRITE_COMMANDS), 0.0), statements)
    asked_for = round(statements * seconds)
    said = f"{so_many(asked_for, 'statement')}, {count(round(written * seconds))} of them writes"
    under_way, longest = _under_way(facts, seconds)
    meanwhile = f", while {count(under_way)} {'are' if under_way > 1 else 'is'} under way{', the longest' if under_way > 1 else ''} for {duration(longest)}"
    yield Blind(
        LOAD,
        f"There was hardly any activity: {said if asked_for else 'not one statement'}{',' if asked_for else ''} in {duration(seconds)}{meanwhile if under_way else ''}.",
        "So quiet a time says little about the load",
        "see what holds them up: SHOW FULL PROCESSLIST"
        if under_way
        else "look again under load, over a longer time: myisam-advisor check --interval 5min",
    )


def _under_way(facts: FactSet, seconds: float) -> tuple[int, float]:
    """How many statements had begun before the interval and did not end, about, and how long the longest lasts: one that waits (for a replica, say) is counted once it ends."""
    lasting = [
        (int(number_of(row["threads"]) or 0), longest)
        for row in facts.tables["processlist"].dictionaries()
        if row["command"] in RUNNING and (longest := number_of(row["longest_seconds"]) or 0.0) >= seconds
    ]
    return sum(threads for threads, _ in lasting), max((longest for _, longest in lasting), default=0.0)
