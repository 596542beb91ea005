"""What a SET that people wrote assigns, with its values: of a site's own rules, and of changes that were tried."""

from __future__ import annotations

from collections.abc import Sequence

from myisam_advisor.remedies.statements.reading import words_with_places
from myisam_advisor.texts.table_names import unquoted
from myisam_advisor.workload.set_statement import assignments
from myisam_exporter.declaring.late_patterns import late_pattern
from myisam_exporter.declaring.lean_dataclasses import dataclass

_VARIABLE = late_pattern(r"[A-Za-z_]\w*")
_OPEN = frozenset("'\"`")


@dataclass(frozen=True, slots=True)
class Assigned:
    """One variable: its scope, its name, the key cache that it is of (empty for the default one), and its value as it is written."""

    scope: str
    variable: str
    cache: str
    value: str


def assigned(text: str) -> Sequence[Assigned]:
    """Each variable of a SET; nothing where it is another statement, several, or does anything that is not said so."""
    found = words_with_places(text)
    words = [word for word, _, _ in found]
    while words and words[-1] == ";":
        words.pop()
    # A quote by itself is one that does not end.
    if ";" in words or not _OPEN.isdisjoint(words):
        return ()
    made: list[Assigned] = []
    for one in assignments(words):
        *cache, variable = [unquoted(word) for word in one.name if word != "."] or [""]
        is_plain = len(one.name) in (1, 3) and len(cache) <= 1 and _VARIABLE.fullmatch(variable) is not None
        if not one.is_of_variable or not is_plain or one.begin >= one.end:
            return ()
        value = text[found[one.begin][1] : found[one.end - 1][2]]
        made.append(Assigned(one.scope, variable, "".join(cache), value))
    return made
