"""How advice that gives no plain value is read: written down once, and the same for every adviser. Decision 060 has it as a table.

An adviser that says "more" without saying how much leaves a person the choice. What is chosen here is what a careful person would begin with: the usual
step of these settings, a doubling. Where a sentence offers a choice, the first of it is taken. A reading is never made up: what gives no
variable, no direction or no figure to begin with is no change, and stays a sentence.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from myisam_exporter.outside.quantities import size_in

SENTENCE_BYTES = 4000
# "a 2 digit MiB value": the power of two in the middle (by ratio) of 10 to 99.
TWO_DIGITS_OF_MEBIBYTES = 32 << 20
# Advisers round what they print: "> 2M" is what the server has where that is 2,097,152.
ROUNDING = 0.05


@dataclass(frozen=True)
class Known:
    """What is set on the server, by lower-case name, and what its release begins with where nothing is set."""

    values: Mapping[str, str]
    defaults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """One variable and the value that was read."""

    variable: str
    value: str


_NAME = r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)"
_FIGURE = r"\d+(?:\.\d+)?(?:\s?[KMGT](?:i?B)?\b)?"
_VALUE = rf"(?P<value>'[\w,.-]*'|{_FIGURE}|[\w.,-]*[\w-])"
_RELATION = r"(?P<relation>>=|<=|=|>|<|~|≥|≤)"
_TERSE = [
    re.compile(rf"{_NAME}\s*\([^()]*\)\s*{_RELATION}\s*{_VALUE}"),  # table_definition_cache (400) > 1234
    re.compile(
        rf"{_NAME}(?:\s+should be)?\s*\(?\s*{_RELATION}\s*{_VALUE}"
    ),  # x (> 16M)   x=ON   x should be (=4M) if possible
    re.compile(rf"{_NAME}\s*\((?P<relation>start at)\s+{_VALUE}\)"),
    re.compile(rf"{_NAME}\s*\((?P<relation>)(?P<value>{_FIGURE})\)"),  # x (16M)
    re.compile(rf"(?P<relation>limit)\s+{_NAME}\s+under\s+{_VALUE}"),
]
_BETWEEN = re.compile(rf"{_NAME}\s+between\s+(?P<low>{_FIGURE})\s+and\s+(?P<high>{_FIGURE})")
_PROCESSORS = re.compile(rf"{_NAME}\s*\(set to number of v?CPUs\)")


def terse(phrase: str, known: Known) -> Reading | None:
    """A line of a list of settings, as "sort_buffer_size (> 2M)"; None where it names no setting or no value."""
    text = phrase.strip()[:SENTENCE_BYTES]
    between = _BETWEEN.match(text)
    if between:
        low, high = _number(between["low"]), _number(between["high"])
        return None if low is None or high is None else _reading(between["name"], (low + high) // 2)
    if found := _PROCESSORS.match(text):
        return _reading(found["name"], os.cpu_count() or 1)
    for pattern in _TERSE:
        if found := pattern.match(text):
            return related(found["name"], found["relation"], found["value"], known)
    return None


def related(name: str, relation: str, value: str, known: Known) -> Reading | None:
    """A name, how it is to be to a value, and the value."""
    word = value.strip("'")
    if relation not in (">", "<"):
        number = _number(word)
        return Reading(plain_name(name), word) if number is None else _reading(name, number)
    number = _number(word)
    if number is None:
        return None
    return _reading(name, (above if relation == ">" else below)(number, _present(name, known)))


def above(figure: float, present: float | None) -> float:
    """More than a figure: twice it where it is what the server has, otherwise the next power of two, which holds what the adviser counted."""
    if figure > 0 and present is not None and math.isclose(figure, present, rel_tol=ROUNDING):
        return 2 * present
    return float(1 << int(figure).bit_length()) if figure >= 1 else 1.0


def below(figure: float, present: float | None) -> float:
    """Less than a figure: half of it where it is what the server has, otherwise the power of two before it."""
    if present is not None and math.isclose(figure, present, rel_tol=ROUNDING):
        return _half(present)
    return float(1 << (math.ceil(figure) - 1).bit_length() - 1) if figure > 1 else 0.0


def plain_name(name: str) -> str:
    """A variable's name as SHOW VARIABLES has it."""
    return name.strip().lower().replace("-", "_")


# What speaks against what it names, or tells what happens: "Setting x to 0 has no benefits".
_AGAINST = re.compile(r"\b(?:has no|should not|must not|never|don't|do not|can cause|cannot)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
# Of a choice the first: "increase a, or decrease b", "to 1s or 2s"; "a and/or b" is both.
_CHOICE = re.compile(r"(?<!and/)\bor\b", re.IGNORECASE)
_NAMES = r"(?P<names>[A-Za-z]\w*(?:(?:\s*,\s*|\s+and\s+|\s+and/or\s+|\s*/\s*)[A-Za-z]\w*_\w*)*)"
_SET = r"\bset(?:ting)?\s+"
_DEFAULT_SIZE = re.compile(r"\bthe default (?=\d)")
_More = Callable[[float], float]


def prose(text: str, known: Known, subject: str | None = None) -> list[Reading]:
    """What whole sentences say is to be set: only variables that the server has, of each what is said first. `subject` is what "it" is."""
    plain = " ".join(text[:SENTENCE_BYTES].split())
    said = list(_over_sentences(plain, known))
    for sentence in _SENTENCE.split(plain):
        first = _CHOICE.split(_DEFAULT_SIZE.sub("", sentence))[0]
        readings = [*_limits(first, known, subject), *_left_alone(first, known, subject)]
        if not readings and not _AGAINST.search(first):
            readings = [*_assigned(first, known), *_moved(first, known), *_subject_set(first, known, subject)]
        said += readings
    first_of = {reading.variable: reading for reading in reversed(said)}
    return [reading for reading in dict.fromkeys(said) if first_of[reading.variable] == reading]


_GOOD_START = re.compile(rf"{_SET}{_NAME}\b[^.]*\. (?P<value>{_FIGURE}) is a good start", re.IGNORECASE)


def _over_sentences(text: str, known: Known) -> Iterator[Reading]:
    for match in _GOOD_START.finditer(text):
        yield from _set_to(match["name"], match["value"], known)


_OF_ANOTHER = re.compile(rf"{_SET}{_NAME}\s+to\s+(?P<percent>\d+)% of (?:the size of )?(?P<other>\w+)", re.IGNORECASE)
_DIGITS = re.compile(rf"{_SET}{_NAME}\s+to\s+a 2 digit MiB value", re.IGNORECASE)
_SET_TO = re.compile(
    rf"{_SET}{_NAME}\s+to\s+(?!a\b)(?P<value>'[\w,.-]+'|{_FIGURE}(?![\d.]|\s?%)|[A-Z][A-Z_,-]+\b)", re.IGNORECASE
)
_COMPARED = re.compile(rf"(?<![\w.]){_NAME}\s*{_RELATION}\s*(?P<value>'[\w,.-]+'|{_FIGURE}|[A-Z][\w,-]*\b)")
_LOWER = re.compile(
    rf"\b(?:set(?:ting)?|adjust(?:ing)?)\s+{_NAME}\s+to\s+a\s+(?P<which>lower|higher)\s+value", re.IGNORECASE
)


def _assigned(text: str, known: Known) -> Iterator[Reading]:
    for match in _OF_ANOTHER.finditer(text):
        other = _present(match["other"], known)
        if other is not None:
            yield from _set_to(match["name"], str(int(other * int(match["percent"]) / 100)), known)
    for match in _DIGITS.finditer(text):
        yield from _set_to(match["name"], str(TWO_DIGITS_OF_MEBIBYTES), known)
    for match in _SET_TO.finditer(text):
        yield from _set_to(match["name"], match["value"], known)
    for match in _LOWER.finditer(text):
        yield from _changed(match["name"], _half if match["which"].lower() == "lower" else _twice, known)
    for match in _COMPARED.finditer(text):
        reading = related(match["name"], match["relation"], match["value"], known)
        if reading and reading.variable in known.values:
            yield reading


_INCREASE = re.compile(rf"\b(?:increas|rais)(?:e|ing)\s+(?:the (?:size|value) of\s+)?{_NAMES}", re.IGNORECASE)
_DECREASE = re.compile(
    rf"\b(?:(?:decreas|reduc)(?:e|ing)|lower(?:ing)?)\s+(?:the (?:size|value) of\s+)?{_NAMES}", re.IGNORECASE
)
_TOO = re.compile(rf"{_NAME}\s+being\s+too\s+(?:(?P<little>low|small)|large|high|big)\b", re.IGNORECASE)
_CHANGING = re.compile(rf"\bchanging\s+{_NAME}\s+\(usually by (?P<which>increas|decreas)ing\)", re.IGNORECASE)


def _moved(text: str, known: Known) -> Iterator[Reading]:
    """A direction without a figure: twice or half of what there is."""
    for pattern, move in ((_INCREASE, _twice), (_DECREASE, _half)):
        for match in pattern.finditer(text):
            for name in re.findall(r"\w+", match["names"]):
                yield from _changed(name, move, known)
    for match in _TOO.finditer(text):
        yield from _changed(match["name"], _twice if match["little"] else _half, known)
    for match in _CHANGING.finditer(text):
        yield from _changed(match["name"], _twice if match["which"].lower() == "increas" else _half, known)


_AT_MOST = re.compile(rf"(?:not be|not be set|need to be) larger than (?P<value>{_FIGURE})", re.IGNORECASE)
_MORE_THAN = re.compile(rf"(?:must|should) be (?:set )?(?:greater|larger) than (?P<value>{_FIGURE})", re.IGNORECASE)
_AS_LARGE = re.compile(rf"{_NAME} should be at least as large as (?P<other>\w+)", re.IGNORECASE)


def _limits(text: str, known: Known, subject: str | None) -> Iterator[Reading]:
    for match in _AS_LARGE.finditer(text):
        other = _present(match["other"], known)
        if other is not None:
            yield from _set_to(match["name"], str(int(other)), known)
    if subject is None:
        return
    for match in _AT_MOST.finditer(text):
        yield from _set_to(subject, match["value"], known)
    for match in _MORE_THAN.finditer(text):
        reading = related(subject, ">", match["value"], known)
        if reading and reading.variable in known.values:
            yield reading


_DEFAULT = re.compile(r"\bbe left at its default\b", re.IGNORECASE)


def _left_alone(text: str, known: Known, subject: str | None) -> Iterator[Reading]:
    if subject and _DEFAULT.search(text) and subject in known.defaults:
        yield from _set_to(subject, known.defaults[subject], known)


_IT = re.compile(
    rf"\b(?:should|should probably) (?:be set|set it) to (?:some value such as )?(?P<value>{_FIGURE}|[A-Z][A-Z_,]+\b)"
)


def _subject_set(text: str, known: Known, subject: str | None) -> Iterator[Reading]:
    for match in _IT.finditer(text) if subject else ():
        yield from _set_to(str(subject), match["value"], known)


def _set_to(name: str, value: str, known: Known) -> Iterator[Reading]:
    reading = related(name, "=", value, known)
    if reading and reading.variable in known.values:
        yield reading


def _changed(name: str, move: _More, known: Known) -> Iterator[Reading]:
    present = _present(name, known)
    if present:
        yield _reading(name, move(present))


def _twice(present: float) -> float:
    return 2 * present


def _half(present: float) -> float:
    return present // 2 if present > 1 else present / 2


def _present(name: str, known: Known) -> float | None:
    return _number(known.values.get(plain_name(name), ""))


def _number(text: str) -> float | None:
    found = size_in(text)
    return found if found is not None and math.isfinite(found) else None


def _reading(name: str, value: float) -> Reading:
    return Reading(plain_name(name), str(int(value)) if value == int(value) or value > 1 << 10 else f"{value:g}")
