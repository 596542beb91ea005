"""Facts as numbers: one that is text, or unknown, is none."""

from __future__ import annotations

from collections.abc import Iterable

# Asked of every fact: `int | float` is put together anew each time that it is asked, which takes five times as long.
NUMBERS = (int, float)


def number_of(fact: object) -> int | float | None:
    """A fact that is a number; None for any other. Where nothing is as good as 0, who asks says so: `number_of(fact) or 0.0`."""
    return fact if isinstance(fact, NUMBERS) else None


def numbers_in(facts: Iterable[object]) -> list[int | float]:
    """Those facts that are numbers."""
    return [fact for fact in facts if isinstance(fact, NUMBERS)]


def real_of(fact: object) -> float | None:
    """The same as a floating-point number."""
    number = number_of(fact)
    return None if number is None else float(number)
