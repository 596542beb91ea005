"""Whether a change that the daemon noticed is what a rule asks for: its variable, and the way that its remedy goes.

Two rules may be about one variable and want the opposite of each other, and whoever takes advice back changes the variable again: what comes of that
says nothing of the advice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from myisam_advisor.catalogue.rules import LARGER, SMALLER, Rule
from myisam_advisor.history.noticed_changes import NAMED_KEY_CACHES, RESTART, VARIABLES, Change, separate
from myisam_exporter.errors import UserError

# Words that a server has for numbers.
_NUMBERS = {"OFF": 0.0, "ON": 1.0, "DEMAND": 2.0}


def is_remedy(change: Change, rule: Rule) -> bool:
    """Whether it is about the rule's variable and goes the rule's way; any way where the rule does not say one."""
    if not change.is_of(rule.variable):
        return False
    old, new = change.values_of(rule.variable)
    if rule.becomes not in (LARGER, SMALLER):
        return not rule.becomes or new.upper() == rule.becomes.upper()
    before, after = (_size(change, value) for value in (old, new))
    if before is None or after is None:
        return False
    return after > before if rule.becomes == LARGER else after < before


def _size(change: Change, value: str) -> float | None:
    """What a value counts as; None where it has no number. Of key caches how many there are."""
    if change.name == NAMED_KEY_CACHES:
        return value.count(", ") + 1.0 if value else 0.0
    first = value.partition(" ")[0]
    try:
        return _NUMBERS[first.upper()] if first.upper() in _NUMBERS else float(first)
    except ValueError:
        return None


def last_change(changes: Sequence[Change], rules: Iterable[Rule]) -> float:
    """When the last of these rules' remedies was noticed; else the last change of their variables, else the last one of all. Raises UserError without any."""
    chosen = list(rules)
    made = [one for one in changes if any(is_remedy(one, rule) for rule in chosen)]
    about = [one for one in changes if any(one.is_of(rule.variable) for rule in chosen)]
    found = made or about or list(changes)
    if not found:
        raise UserError("the history knows of no change: say when it was made (--at '2026-11-21 14:30', or --at=-2h).")
    return found[-1].noticed_at


def undisturbed(at: float, changes: Iterable[Change]) -> tuple[float, float]:
    """When what was changed at that moment had been changed before, and was changed again; without end where it was not. Beyond them it had other values."""
    told = list(changes)
    # A moment that a person copies from a list of changes has whole seconds.
    until = at + 1
    names = {change.name for change in told if at <= change.noticed_at < until} - {RESTART}
    moments = [change.noticed_at for change in told if change.name in names]
    earlier, later = (one for one in moments if one < at), (one for one in moments if one >= until)
    return max(earlier, default=-inf), min(later, default=inf)


def is_made(rule: Rule, near: Sequence[Change], *, said: bool) -> bool:
    """Whether what was changed near that time is the rule's remedy, and nothing else. `said` is whether the user named the time.

    What the daemon does not notice, and what is no variable's, is taken on the user's word.
    """
    changes = separate(near)
    if said and (not changes or not rule.variable):
        return len(changes) <= 1
    moments = {change.noticed_at for change in changes}
    return len(moments) == 1 and all(is_remedy(change, rule) for change in changes)


def doubts(rules: Iterable[Rule], near: Sequence[Change]) -> list[str]:
    """What to know of rules whose remedy is not among the changes near that time: that nobody noticed it, or that the variable went the other way."""
    found = []
    for rule in rules:
        of_rule = [change for change in near if change.is_of(rule.variable)]
        if any(is_remedy(change, rule) for change in of_rule):
            continue
        if of_rule:
            found.append(f"{rule.variable} went another way than {rule.id} asks for: this says nothing of its advice.")
        elif rule.variable in VARIABLES:
            found.append(f"No change of {rule.variable} was noticed then: whether {rule.id} was followed is not known.")
    return found
