"""The tables of which there is no copy, for a person: those that share a reason in one line. Two thousand lines were read by nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from myisam_advisor.texts.lists import listed
from myisam_advisor.texts.templates import count, sentence, size
from myisam_advisor.trial.upgrade.upgrade_result import NotTried

# So many, and no more, stand each in a line of its own.
MOST_ALONE = 3


def told(tables: Sequence[NotTried]) -> Iterator[str]:
    """A line for each table, or for all that share a reason; JSON has each by itself."""
    for group in _by_reason(tables):
        if len(group) > MOST_ALONE:
            yield _together(group)
        else:
            yield from (sentence(_why(one)) for one in group)


def _by_reason(tables: Sequence[NotTried]) -> list[list[NotTried]]:
    groups: dict[str, list[NotTried]] = {}
    for one in tables:
        groups.setdefault(_reason(one), []).append(one)
    return list(groups.values())


def _together(group: Sequence[NotTried]) -> str:
    held = [one.bytes for one in group if one.bytes is not None]
    # Of some the size may not be known.
    amount = f", {'' if len(held) == len(group) else 'at least '}{size(sum(held))}" if held else ""
    names = listed([one.name for one in group])
    return sentence(
        f"{count(len(group))} tables{amount}: {_reason(group[0])}. They are {names} (--format json names all)"
    )


def _names_itself(one: NotTried) -> bool:
    return one.why.startswith((f"{one.name} ", f"{one.name}:"))


def _reason(one: NotTried) -> str:
    """Without the name, with which many reasons begin."""
    return one.why.removeprefix(one.name).lstrip(": ") if _names_itself(one) else one.why


def _why(one: NotTried) -> str:
    """The name once."""
    return one.why if _names_itself(one) else f"{one.name}: {one.why}"
