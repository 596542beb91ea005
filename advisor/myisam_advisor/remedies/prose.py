"""Words beside statements in lines that a terminal of 80 columns shows whole: broken between words, and nowhere in what somebody copies."""

from __future__ import annotations

import textwrap

from myisam_exporter.declaring.late_patterns import late_pattern

WIDTH = 80
_VERBS = (
    "ALTER", "ANALYZE", "CACHE", "CALL", "CHECK", "CHECKSUM", "CREATE", "DELETE", "DROP", "EXPLAIN", "FLUSH", "GRANT", "INSERT", "INSTALL", "KILL",
    "LOAD", "LOCK", "OPTIMIZE", "RENAME", "REPAIR", "RESET", "SELECT", "SET", "SHOW", "START", "STOP", "TRUNCATE", "UNINSTALL", "UNLOCK", "UPDATE", "USE",
)  # fmt: skip
_QUOTED = r"'(?:[^'\\]|\\.|'')*'|\"[^\"]*\"|`(?:[^`]|``)*`"
# A statement up to its semicolon (behind its verb no word of a sentence), or to a name that it ends with, a call of this program, code or a name between backticks, and a
# number with its unit.
_WHOLE = late_pattern(
    rf"(?:(?<=[.:;(] )|^)(?:{'|'.join(_VERBS)}) (?=[A-Z0-9`@(*'\"])(?:(?!\. )[^;'\"`]|{_QUOTED})*;|myisam-advisor [\w -]+\"[^\"]*\"|`(?:[^`]|``)*`"
    rf"|(?<![\w`])(?:{'|'.join(_VERBS)}) [A-Z]+ `(?:[^`]|``)*`(?:\.`(?:[^`]|``)*`)?"
    r"|(?:sudo )?myisam-advisor(?: [a-z]+)?(?: --?[\w-]+(?:[ =][A-Z][A-Z.]*\b|=[\w./-]+)?)*"
    r"|\b\d[\d.,]* (?:[KMGT]iB|bytes|ms|s|min|h|days?|%)(?!\w)"
)
# An error's number, behind which what it means goes on.
_HANGING = late_pattern(r"\s*(?:\d{3,4}\s+)?")
_KEPT = "\x1f"  # stands for a space that no line ends at; in no text for people: control characters are escaped before


def broken(line: str, width: int = WIDTH, further: str = "") -> list[str]:
    """One line as lines of this width; `further` comes before all but the first. A statement may be longer: it stays whole."""
    if len(line) <= width:
        return [line]
    start = _HANGING.match(line)
    margin = start[0] if start is not None else ""
    kept = _WHOLE.sub(lambda found: found[0].replace(" ", _KEPT), line[len(margin) :])
    wrapped = textwrap.wrap(
        kept,
        width,
        initial_indent=margin,
        subsequent_indent=" " * len(margin) + further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [one.replace(_KEPT, " ") for one in wrapped] or [line]
