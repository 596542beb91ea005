"""Regular expressions that are compiled when they are first used.

Compiling is a hundred times slower than declaring: the statements' alone took 6 of the 300 ms of a `check` that had nothing to advise
(docs/decisions/051-lean-dataclasses.md). For patterns of programs that often end without them; what every run uses is compiled at once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

__all__ = ["late_pattern"]


def late_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, or stands for it until it is used; a text that is no pattern raises re.error no earlier."""
    return cast("re.Pattern[str]", _Late(text, flags))


class _Late:
    if TYPE_CHECKING:
        pattern: str

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # Asked for what this object does not have: kept, so that the next time finds it here.
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found
