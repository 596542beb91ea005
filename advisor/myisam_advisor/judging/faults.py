"""Rules that are themselves at fault: whose fault it is, what is said of it, and which are asked no more."""

from __future__ import annotations

import logging
from dataclasses import field

from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.judging.findings import NotEvaluated
from myisam_exporter.declaring.lean_dataclasses import dataclass

# What a template or planner can stumble over when a rule's columns are not what it expects.
FAULTS = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError)
# A site's own rules that ran into a limit may take so much of one look; those that are left have their turn in the next.
STOPPED_SECONDS = 4.0
# A rule that was stopped is too slow by itself where it had a processor for so much of its time; on a busy machine that may be little.
OWN_SHARE = 0.1
# Of a shipped rule the log has so many different faults: some name a value, which differs from look to look.
LOGGED_OF_A_RULE = 5
OUR_FAULT = "report it: this is a fault of myisam-advisor and not of the server"
_log = logging.getLogger(__name__)


class RuleError(Exception):
    """A rule that is itself at fault: its query or its planner fails, or its text names what is not there."""


@dataclass(slots=True)
class KnownFaults:
    """What is known from look to look of rules that do not work, until a reload brings new ones.

    The site's own that ran into a limit of time or memory by themselves are asked no more: `reasons` has why. What is wrong with a shipped one is logged
    once. A daemon keeps one for all servers and looks: a rule that takes all of its time would take it in every look at each.
    """

    reasons: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    logged: dict[str, set[str]] = field(default_factory=dict)

    def begin_look(self) -> None:
        """The time that stopped rules took is counted for each look."""
        self.seconds = 0.0

    def why_not(self, rule: Rule) -> NotEvaluated | None:
        """Why a rule is not asked, or None."""
        if rule.is_shipped:
            return None
        if rule.id in self.reasons:
            why = f"a query that keeps within its limits: {self.reasons[rule.id]}; it is not asked any more"
            return NotEvaluated(rule.id, why, f"mend {rule.path}, then reload the daemon")
        if self.seconds > STOPPED_SECONDS:
            return NotEvaluated(rule.id, "time: rules that were stopped took it in this look", "wait for the next look")
        return None

    def fault(self, rule: Rule, needs: str, error: BaseException | None = None) -> NotEvaluated:
        """A rule that cannot be judged because of what it says. The site mends its own; a shipped one is our fault, and the log tells where."""
        if not rule.is_shipped:
            return NotEvaluated(rule.id, needs, f"mend {rule.path}")
        logged = self.logged.setdefault(rule.id, set())
        if needs not in logged and len(logged) < LOGGED_OF_A_RULE:
            logged.add(needs)
            _log.error("the shipped rule %s is at fault; it needs %s", rule.id, needs, exc_info=error)
        return NotEvaluated(rule.id, needs, OUR_FAULT)

    def stop(self, rule: Rule, why: str, seconds: float, worked_seconds: float) -> bool:
        """Note that a rule was stopped after so much time, in which it had a processor for so long: whether it is asked no more.

        Shipped rules are asked again, and those that mostly waited for a processor, or stood still with the whole program: that is not their fault.
        """
        if rule.is_shipped:
            return False
        self.seconds += seconds
        if worked_seconds < OWN_SHARE * seconds:
            return False
        self.reasons[rule.id] = why
        return True
