"""Facts as numbers: one that is text, or unknown, is none."""

from __future__ import annotations

from collections.abc import Iterable


def number_of(fact: object) -> int | float | None:
    """A fact that is a number; None for any other. Where nothing is as good as 0, who asks says so: `number_of(fact) or 0.0`."""
    return fact if isinstance(fact, int | float) else None


def numbers_in(facts: Iterable[object]) -> list[int | float]:
    """Those facts that are numbers."""
    return [fact for fact in facts if isinstance(fact, int | float)]


def real_of(fact: object) -> float | None:
    """The same as a floating-point number."""
    number = number_of(fact)
    return None if number is None else float(number)
