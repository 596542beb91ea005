"""Numbers on the command line, in plain digits: what is none is told with the numbers that are allowed."""

from __future__ import annotations

import math
import re
from typing import Any

import click

from myisam_exporter.errors import brief

MOST_DIGITS = 15
_WHOLE = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}", re.ASCII)
_NUMBER = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DIGITS}}})?", re.ASCII)


class WholeNumber(click.IntRange):
    """A whole number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number. Fails for what int() takes besides: digits of other scripts, underscores, any number of digits."""
        text = str(value).strip()
        number = int(text) if _WHOLE.fullmatch(text) else None
        if number is None or not _is_within(number, self.min, self.max):
            self.fail(f"{brief(value)} is not a whole number {_told(self.min, self.max)}", param, ctx)
        return number


class Number(click.FloatRange):
    """A number in a range, with a fraction or without."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Fails for what float() takes besides: nan, which compares with no end of a range, exponents, underscores."""
        text = str(value).strip()
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        if math.isnan(number) or not _is_within(number, self.min, self.max):
            self.fail(f"{brief(value)} is not a number {_told(self.min, self.max)}", param, ctx)
        return number


def _is_within(value: float, least: float | None, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)


def _told(least: float | None, most: float | None) -> str:
    """The range, of which the beginning at least is known."""
    return (
        f"of {least or 0:g} or more, with {MOST_DIGITS} digits at most"
        if most is None
        else f"from {least or 0:g} to {most:g}"
    )
