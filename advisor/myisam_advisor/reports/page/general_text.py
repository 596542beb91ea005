"""What a rule's text says whatever was found: a template without the sentences that only a finding can complete."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field

from myisam_exporter.declaring.lean_dataclasses import dataclass

_TAGS = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})")
_SENTENCES = re.compile(r"(?<=[.!?])(?<!\.\.\.)\s+(?=[A-Z])")
_ENDS = (".", "!", "?")
# How a sentence begins that says nothing without the one before it: "Then remove the cause."
_REFERS_BACK = re.compile(r"(?:Then|Afterwards|Where (?:it|they))\b")
VALUE = "\0"


@dataclass(frozen=True, slots=True)
class GeneralText:
    """Sentences that always hold, and those that hold in some cases; `is_complete` when none had to be left out."""

    always: tuple[str, ...]
    in_some_cases: tuple[str, ...]
    is_complete: bool

    def __bool__(self) -> bool:
        return bool(self.always or self.in_some_cases)


@dataclass(slots=True)
class _Gathering:
    """Sentences as they come; one that has a value in it, goes on behind a condition, or speaks of such a one that went before, is left out."""

    always: list[str] = field(default_factory=list)
    in_some_cases: list[str] = field(default_factory=list)
    sentence: str = ""
    is_conditional: bool = False
    is_whole: bool = True
    is_complete: bool = True
    was_cut: bool = False

    def take(self, part: str, depth: int) -> None:
        """A part of a segment: at most one sentence."""
        if not self.sentence.strip():
            self.is_conditional, self.is_whole = depth > 0, True
        self.sentence += part
        said = self.sentence.rstrip()
        if said.endswith(_ENDS) and not said.endswith("..."):
            self.end()

    def end(self) -> None:
        """The sentence is over."""
        said = self.sentence.strip()
        self.sentence = ""
        if not said:
            return
        is_told = self.is_whole and VALUE not in said and not (self.was_cut and _REFERS_BACK.match(said))
        if is_told:
            (self.in_some_cases if self.is_conditional else self.always).append(said)
        self.was_cut = not self.is_whole
        self.is_complete = self.is_complete and is_told


def general_text(template: str) -> GeneralText:
    """The sentences of a template that need no value."""
    gathering = _Gathering()
    for segment, depth in _segments(template):
        if gathering.sentence.strip():
            gathering.is_whole = False
        for part in _SENTENCES.split(segment):
            gathering.take(part, depth)
    gathering.end()
    always, in_some_cases = (tuple(dict.fromkeys(said)) for said in (gathering.always, gathering.in_some_cases))
    return GeneralText(always, in_some_cases, gathering.is_complete)


def _segments(template: str) -> Iterable[tuple[str, int]]:
    """Stretches of text between conditions, with how many conditions stand around each; a value is one character."""
    text, depth = "", 0
    for token in _TAGS.split(" ".join(template.split())):
        if token.startswith("{{"):
            text += VALUE
        elif token.startswith("{%"):
            yield text, depth
            text = ""
            depth += _deeper(token)
        else:
            text += token
    yield text, depth


def _deeper(tag: str) -> int:
    words = tag.strip("{}%- ").split()
    return {"if": 1, "for": 1, "endif": -1, "endfor": -1}.get(words[0] if words else "", 0)
