"""Did you mean: of the names that there are, those that are written nearly as the one that was given."""

from __future__ import annotations

from collections.abc import Iterable

MOST, SIMILAR_ENOUGH, A_SLIP = 3, 0.6, 0.9
# Likeness costs the product of both lengths, for each name that there is.
LONGEST_NAME, MOST_NAMES = 200, 20_000


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """The most alike of the known names, the best first, and that alone where it is but a slip of the pen: small letters and capitals are the same, `-` and `_` too."""
    from difflib import get_close_matches

    spelled: dict[str, str] = {}
    for one in known:
        spelled.setdefault(_folded(one), one)
        if len(spelled) >= MOST_NAMES:
            break
    wanted = _folded(name)
    slip = get_close_matches(wanted, spelled, 1, A_SLIP)
    if slip:
        return [spelled[slip[0]]]
    found = get_close_matches(wanted, spelled, MOST, SIMILAR_ENOUGH)
    # A name that was cut, or has a word too many, is less alike by letters than it is to a reader.
    parts = [one for one in spelled if len(wanted) > 3 and (wanted in one or one in wanted)]
    return [spelled[one] for one in dict.fromkeys([*found, *parts])][:MOST]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean A or B?`, with the blank before it; nothing where no name is alike."""
    near = near_names(name, known)
    if not near:
        return ""
    return f" Did you mean {near[0] if len(near) == 1 else ', '.join(near[:-1]) + ' or ' + near[-1]}?"


def _folded(name: str) -> str:
    return name[:LONGEST_NAME].casefold().replace("_", "-")
