"""What findings that are told together say: what they say alike once, and of each object what is said of it alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from myisam_advisor.reports.wording import NAMED_PER_RULE
from myisam_advisor.texts.templates import printable
from myisam_exporter.declaring.late_patterns import late_pattern

# A line of its own, such as a statement, stays one. The number of a step is no sentence.
_SENTENCE_END = late_pattern(r"(?<=[.!?])(?<!\A\d\.)(?<!\A\d\d\.)(?<!\n\d\.)(?<!\n\d\d\.) +|(?<=\n)")


def said_of_all(said: Iterable[tuple[str, str]]) -> str:
    """One text of many, each with the object it is about: sentences that all have stand once, the others behind their object's name.

    What all begin with comes first, then what differs, then the rest of what all say. Of very many objects the last are counted.
    """
    # A name may hold what would end its line: what comes behind that would stand as if we had said it.
    given = [(printable(name), text.strip()) for name, text in said]
    if not given:
        return ""
    # Where one has lines, the last of each ends, too: nobody's next text goes on in it.
    end = "\n" if any("\n" in text for _, text in given) else ""
    texts = [(name, [one for one in _SENTENCE_END.split(text + end) if one.strip()]) for name, text in given]
    first = texts[0][1]
    shared = set(first).intersection(*(sentences for _, sentences in texts))
    begin = next((place for place, one in enumerate(first) if one not in shared), len(first))
    rest = [one for one in first[begin:] if one in shared]
    return _joined([*first[:begin], *_apart(texts, shared), *rest]).strip()


def _joined(parts: Iterable[str]) -> str:
    """In one line, but for what ends its own."""
    return "".join(part if part.endswith("\n") else f"{part} " for part in parts).rstrip(" ")


def _apart(texts: Sequence[tuple[str, Sequence[str]]], shared: set[str]) -> Iterable[str]:
    """What is said of some objects only, by their names."""
    names: dict[str, list[str]] = {}
    for name, sentences in texts:
        own = _joined(one for one in sentences if one not in shared)
        if own:
            names.setdefault(own, []).append(name)
    # Of one object nothing has to be told apart.
    is_one = len({name for name, _ in texts}) == 1
    for own, objects in list(names.items())[:NAMED_PER_RULE]:
        # Nothing stands before a statement in its line.
        yield own if is_one else f"{', '.join(objects)}:\n{own}" if "\n" in own else f"{', '.join(objects)}: {own}"
    unnamed = sum(map(len, list(names.values())[NAMED_PER_RULE:]))
    if unnamed:
        yield f"Likewise of {unnamed} more."
