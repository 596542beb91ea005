"""What is to be done in several steps: one a line, with its number in front."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_advisor.texts.templates import printable
from myisam_exporter.declaring.late_patterns import late_pattern

_NUMBER = late_pattern(r"\A1\. ")


def in_steps(text: str, further: Iterable[str] = ()) -> str:
    """The paragraphs of a text, each a step; `further` is said of all of them. One paragraph is no list, and stays as it is."""
    steps = [paragraph for paragraph in text.split("\n\n") if paragraph]
    # It may quote a name, and what is in a name begins no line.
    rest = printable(" ".join(filter(None, further)))
    if len(steps) < 2:
        return " ".join(filter(None, (*steps, rest)))
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    return "\n".join([*numbered, *([rest] if rest else [])])


def first_step(text: str) -> str:
    """The text from its first step's words on."""
    return _NUMBER.sub("", text)
