"""Numbers and names in sentences: the filters of the rules' templates, used by the reports too."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Literal

from myisam_exporter.errors import brief
from myisam_exporter.server.sql import Sql, quote_identifier, quote_value

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.runtime import Context
    from jinja2.sandbox import SandboxedEnvironment

UNKNOWN = "unknown"
MILLION = 1_000_000
# Shares beyond these would read as 1e-05 %, and as 100 % of what is not used up.
LEAST_SHARE, NEARLY_WHOLE = 0.0001, 0.995
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
# The largest number that a server counts has twenty digits.
UNREADABLE = 1e21
_COUNTED = re.compile(
    r"^((?:\w+ )?(?:block|cache|channel|connection|core|day|file|handle|index|node|number|request|result|row|statement|table|thread|wait))(?:s|es)\b"
)
_PLAIN_NAME = re.compile(r"[0-9A-Za-z_$]+")


def _of_known_numbers(unit: str) -> Callable[[Callable[[float], str]], Callable[[float | None], str]]:
    """The filter for None, text, NaN, infinities and whole numbers of any length too: none of them is a number that is known.

    What has more digits than a person reads is said by three of them, in this unit, whatever the filter says of others.
    """

    def filtering(say: Callable[[float], str]) -> Callable[[float | None], str]:
        @wraps(say)
        def said(value: float | None) -> str:
            try:
                known = value is not None and math.isfinite(value)
            except (OverflowError, TypeError):  # TypeError: text, where a server or a file has no number
                known = False
            if not known or value is None:
                return UNKNOWN
            return f"{value:.3g}{unit}" if abs(value) >= UNREADABLE else say(value)

        return said

    return filtering


@_of_known_numbers(" B")
def size(value: float) -> str:
    """Bytes with a binary unit."""
    scaled, unit = float(value), 0
    while abs(scaled) >= 1024 and unit < len(_UNITS) - 1:
        scaled, unit = scaled / 1024, unit + 1
    return (
        f"{scaled:.0f} {_UNITS[unit]}"
        if unit == 0 or scaled >= 100 or scaled == int(scaled)
        else f"{scaled:.1f} {_UNITS[unit]}"
    )


@_of_known_numbers("")
def count(value: float) -> str:
    """A number with thousands separators; fractions only where they say something."""
    if isinstance(value, int):
        return f"{value:,d}"
    return (
        f"{value:,.0f}"
        if abs(value) >= 100 or value == int(value)
        else f"{value:,.1f}"
        if abs(value) >= 1
        else f"{value:.2g}"
    )


def so_many(value: int, noun: str) -> str:
    """So many of a thing whose plural has an s: 1 statement, 0 statements."""
    return f"{count(value)} {noun if value == 1 else noun + 's'}"


def times_more(number: int) -> str:
    """Once more, 2 times more."""
    return "once more" if number == 1 else f"{count(number)} times more"


@_of_known_numbers("")
def rounded(value: float) -> str:
    """A number that was measured: three of its digits."""
    for length, name in ((1e9, "billion"), (1e6, "million")):
        if abs(value) >= 0.9995 * length:
            return f"{_three_digits(value / length)} {name}"
    return _three_digits(value)


def _three_digits(value: float) -> str:
    if abs(value) < 1:
        return count(value)
    shown = float(f"{value:.3g}")
    return count(shown) if abs(shown) >= 1000 else f"{shown:g}"


@_of_known_numbers("/s")
def rate(value: float) -> str:
    """A number per second, of which three digits are known."""
    return f"{rounded(value)}/s"


@_of_known_numbers(" times")
def percent(value: float) -> str:
    """A ratio as a percentage: a part is never said to be the whole, nor nothing by a number that nobody reads."""
    if 0 < value < LEAST_SHARE:
        return f"less than {LEAST_SHARE * 100:g} %"
    if NEARLY_WHOLE <= value < 1:
        return f"{math.floor(value * 1000) / 10:.1f} %"
    return f"{value * 100:.0f} %" if value >= 0.1 else f"{value * 100:.2g} %"


@_of_known_numbers(" s")
def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    for length, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {name}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.1g} s"


def figure(value: float | None) -> str:
    """A number in a column of numbers, to three digits where it is small; a dash where there is none."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if 100 <= abs(value) < UNREADABLE else f"{value:.3g}"


def with_unit(value: object, unit: str) -> str:
    """A value of evidence, with its unit."""
    if value is None:
        return UNKNOWN
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float):
        return str(value)
    if unit in _SPOKEN:
        return _SPOKEN[unit](value)
    # What is counted is exact up to a million: a setting is one that somebody may compare.
    exact = isinstance(value, int) and abs(value) < MILLION and "per second" not in unit
    number = count(value) if exact else rounded(value)
    return number if unit in _UNITLESS else f"{number} {_one(unit) if value == 1 else unit}"


# Of what has no unit, and of settings, whose number is the value itself.
_UNITLESS = frozenset({"number", "setting"})


def beside(label: str, value: object, unit: str) -> str:
    """A value of evidence behind its label: without the unit where the label has all of its words (`MyISAM tables 4`)."""
    words = {_one(word.lower()) for word in label.split()}
    is_said = unit not in _SPOKEN and all(_one(word) in words for word in unit.split() if word != "a")
    return with_unit(value, "number" if is_said else unit)


def limit(value: object, unit: str) -> str:
    """A threshold: the value that it stands beside has the unit, where that is a word."""
    return with_unit(value, unit if unit in _SPOKEN else "number")


def _one(unit: str) -> str:
    """The singular of what is counted: 1 table."""
    return _COUNTED.sub(r"\1", unit)


@_of_known_numbers(" B/s")
def _size_rate(value: float) -> str:
    return f"{size(value)}/s"


@_of_known_numbers(" s/s")
def _time_rate(value: float) -> str:
    """Seconds that pass, of all threads together, in each second."""
    return f"{_three_digits(value)} s/s" if value >= 1 else f"{_three_digits(value * 1000)} ms/s"


@_of_known_numbers("")
def _version(value: float) -> str:
    """A version that was one number: 101119."""
    return f"{int(value) // 10000}.{int(value) // 100 % 100}.{int(value) % 100}"


_SPOKEN: dict[str, Callable[[float | None], str]] = {
    "bytes": size,
    "ratio": percent,
    "seconds": duration,
    "per second": rate,
    "bytes per second": _size_rate,
    "seconds per second": _time_rate,
    "version": _version,
    "per second and core": rate,
}


def object_name(*parts: str) -> str:
    """A table's name as a person writes it: quoted only where it must be."""
    return ".".join(part if _PLAIN_NAME.fullmatch(part) else quote_identifier(part) for part in parts)


def sentence(text: str) -> str:
    """With the mark at its end that it lacks: words that end in a question keep theirs."""
    return text if text.endswith(("?", "!")) else f"{text.rstrip('.')}."


def printable(text: str, keep_newlines: bool = False) -> str:
    """Text that cannot steer a terminal: control characters, and those that reorder or hide text, are written as escapes."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character == " " or character.isprintable() or (keep_newlines and character == "\n")
        else escaped(character)
        for character in text
    )


def all_printable(values: Mapping[str, object]) -> dict[str, object]:
    """The values of a template for people, each text `printable`."""
    return {name: printable(value) if isinstance(value, str) else value for name, value in values.items()}


def escaped(character: str | re.Match[str]) -> str:
    """One character, or a match of one, as its escape, with a backslash."""
    letter = character if isinstance(character, str) else character[0]
    return letter.encode("unicode_escape").decode("ascii") if not _is_surrogate(letter) else f"\\u{ord(letter):04x}"


def _is_surrogate(letter: str) -> bool:
    return ord(letter) in range(0xD800, 0xE000)


def _quoted_text(value: object) -> Sql:
    """A value as SQL: a number as it is, a text as a string literal. What is unknown is no value."""
    if not isinstance(value, str | int | float):
        raise TextError(f"{value!r} is not a value of a variable: say what stands there when it is unknown")
    return quote_value(value)


class TextError(Exception):
    """A template that could run without end, or build a text of any length; the message says how."""


# A text may choose and print, and nothing that repeats: no deadline can stop a template.
OWN_FILTERS: dict[str, Callable[..., str]] = {
    "bytes": size,
    "count": count,
    "rate": rate,
    "rounded": rounded,
    "percent": percent,
    "duration": duration,
    "identifier": quote_identifier,
    "text": _quoted_text,
}
ALLOWED_FILTERS = OWN_FILTERS.keys() | {"abs", "default", "float", "int", "length", "lower", "round", "trim", "upper"}
# Of Jinja's language what chooses and prints, by the names of its nodes. What joins texts and is kept under a name, in whatever way (set, with, a block's
# call), could be joined with itself again and again: forty times is a terabyte.
ALLOWED_PARTS = frozenset({
    "Template", "Output", "TemplateData", "Name", "Const", "Tuple", "List", "Getattr", "Getitem", "Slice", "Filter", "Keyword", "Test",
    "If", "CondExpr", "Compare", "Operand", "And", "Or", "Not", "Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow", "Neg", "Pos", "Concat",
})  # fmt: skip
LONGEST_NUMBER_BITS = 1024  # that of the longest whole number that a floating-point one can be
MOST_PLACES = 20
REPEATING_OPERATORS = frozenset({"*", "**", "%", "+"})
MAXIMUM_TEMPLATE_CHARACTERS = 20_000
# What it prints: a value may have 64 KiB, a template prints it thousands of times, and a rule finds a thousand things.
MAXIMUM_TEXT_CHARACTERS = 1 << 17
_BEGINS_A_TAG = "{"


def _rounded_to(value: float, precision: int = 0, method: Literal["common", "ceil", "floor"] = "common") -> float:
    """Jinja's `round`; of a whole number Python reckons 10 to the power of the places, and would reckon for hours."""
    from jinja2.filters import do_round

    if not -MOST_PLACES <= precision <= MOST_PLACES:
        raise TextError(f"a text may round to {MOST_PLACES} places at most, not to {brief(precision)}")
    return do_round(value, precision, method)


def _whole(value: Any, default: Any = 0, base: int = 10) -> Any:
    """Jinja's `int`, but for what has no end, or more digits than a person reads."""
    from jinja2.filters import do_int

    try:
        whole = do_int(value, default, base)
    except OverflowError:
        return UNKNOWN
    # A default may be a word.
    return count(whole) if isinstance(whole, int) and abs(whole) >= UNREADABLE else whole


def make_environment(finalize: Callable[[object], object] | None = None) -> SandboxedEnvironment:
    """Jinja2 as the rules use it: sandboxed, and a name that a rule's query does not give is an error.

    `finalize` is asked for each value that is printed.
    """
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    class Environment(SandboxedEnvironment):
        """Arithmetic on numbers only: 'x' * 10**9 is a text without end."""

        intercepted_binops = REPEATING_OPERATORS

        def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
            if operator == "**" or not (isinstance(left, int | float) and isinstance(right, int | float)):
                raise TextError(f"a text may not use {operator} on {brief(left)} and {brief(right)}")
            if any(isinstance(one, int) and one.bit_length() > LONGEST_NUMBER_BITS for one in (left, right)):
                # Each product is as long as both factors together: a dozen lines would reckon for hours.
                raise TextError(f"a text may not use {operator} on a number of more than {LONGEST_NUMBER_BITS} bits")
            return super().call_binop(context, operator, left, right)

    made = Environment(undefined=StrictUndefined, autoescape=False, finalize=finalize)
    made.globals.clear()
    made.filters.update({**OWN_FILTERS, "int": _whole, "round": _rounded_to})
    return made


@lru_cache(maxsize=1)
def environment() -> SandboxedEnvironment:
    """The one for prose."""
    return make_environment()


@lru_cache(maxsize=512)
def template(text: str, used: SandboxedEnvironment | None = None) -> Template:
    """A compiled template, for prose unless an environment is given. Raises TextError for one that loops or calls."""
    from jinja2 import nodes

    used = used or environment()
    if len(text) > MAXIMUM_TEMPLATE_CHARACTERS:
        raise TextError(f"a text may not be longer than {MAXIMUM_TEMPLATE_CHARACTERS} characters")
    try:
        parsed = used.parse(text)
        found = next((node for node in parsed.find_all(nodes.Node) if type(node).__name__ not in ALLOWED_PARTS), None)
        if found is not None:
            raise TextError(
                f"a text may not loop, call, include or set a name ({type(found).__name__}, line {found.lineno})"
            )
        strange = {node.name for node in parsed.find_all(nodes.Filter)} - ALLOWED_FILTERS
        if strange:
            # Before it is compiled: Jinja works out what is constant, {{ 'x' | center(1000000000) }} too, in gigabytes.
            raise TextError(
                f"a text may not use the filter {min(strange)}; allowed are {', '.join(sorted(ALLOWED_FILTERS))}"
            )
        return used.from_string(text)
    except (RecursionError, MemoryError, IndentationError):
        raise TextError("a text may not be nested so deeply") from None


def fill(text: str, values: dict[str, object]) -> str:
    """The template's text with line breaks within a paragraph removed; a choice that chose nothing leaves no trace.

    Raises TextError for one that is too long.
    """
    paragraphs = (" ".join(_rendered(part, values).split()) for part in re.split(r"\n\s*\n", text.strip()))
    filled = "\n\n".join(filter(None, paragraphs))
    if len(filled) > MAXIMUM_TEXT_CHARACTERS:
        raise TextError(f"a text may not become longer than {count(MAXIMUM_TEXT_CHARACTERS)} characters")
    return filled


def _rendered(text: str, values: dict[str, object]) -> str:
    """Words alone are said as they are: a text of a thousand tables is filled a thousand times."""
    if _BEGINS_A_TAG not in text and len(text) <= MAXIMUM_TEMPLATE_CHARACTERS:
        return text
    return template(text).render(values)
