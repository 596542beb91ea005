"""Host paths in texts for a browser: those of the data directory are facts about tables, the others are nobody's business.

Whoever did not log in is shown no path at all: where the files lie is of use to who may read them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from myisam_advisor.remedies.option_lines import OptionRemark
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.texts.templates import printable
from myisam_exporter.look.fact_set import FactRows, FactSet

# At the beginning of a word, and of two parts at least: rows/s and 1/2 are none.
_BEGIN, _REST = r"(?<![\w.\-/])", r"[^\s'\"`<>();,]*"
_PATH = re.compile(rf"{_BEGIN}/(?:[^\s/'\"`<>();,]+/)+{_REST}")
HARMLESS = ("/proc/", "/sys/")
SHOWN = "(a path)"


def odd_paths(facts: FactSet) -> tuple[str, ...]:
    """The paths that the server told of which a text cannot show where they end: in their names are spaces, or they have one part only. The longest first."""
    named = {
        path
        for table in ("variable", "variable_origin")
        if table in facts.tables
        for path in facts.tables[table].once("odd paths", _odd)
    }
    return tuple(sorted(named, key=lambda path: (-len(path), path)))


def _odd(rows: FactRows) -> frozenset[str]:
    column = "option_file" if "option_file" in rows.columns else "value"
    told = {value for row in rows.dictionaries() if isinstance(value := row[column], str) and value.startswith("/")}
    # Of several directories for temporary files a text may name one.
    parts = {part for value in told for part in (value, *value.split(":")) if part.startswith("/") and part.strip("/")}
    return frozenset(printable(part) for part in parts if not _PATH.fullmatch(part))


def without_paths(text: str, data_directory: str | None, odd: Sequence[str] = ()) -> str:
    """The text with every absolute path replaced, those below the data directory too, whatever characters its name has.

    A line for a shell that loses a path would be none: what it does stands in its place, as a comment. Of a remark that names an option file, whose
    name may have spaces, the words without it. `odd` are the paths whose end cannot be seen in a text.
    """
    if isinstance(text, OptionRemark):
        return str(text.in_words)
    if isinstance(text, ShellLine):
        shown = without_paths(str(text), data_directory, odd)
        return text if shown == text else without_paths(text.in_words, data_directory, odd)
    text = _without_odd(text, odd)
    root = (data_directory or "").rstrip("/")
    if root and root in text:
        text = re.sub(re.escape(root) + _REST, lambda found: SHOWN + _stop(found[0]), text)
    return without_host_paths(text)


def document_without_paths(document: Any, data_directory: str | None, odd: Sequence[str] = ()) -> Any:
    """A JSON-ready value with every path in its texts replaced."""
    if isinstance(document, str):
        return without_paths(document, data_directory, odd)
    if isinstance(document, Mapping):
        return {name: document_without_paths(value, data_directory, odd) for name, value in document.items()}
    if isinstance(document, list | tuple):
        return [document_without_paths(value, data_directory, odd) for value in document]
    return document


def without_host_paths(text: str, data_directory: str | None = None, odd: Sequence[str] = ()) -> str:
    """The text with every absolute path replaced that is not below the data directory, /proc or /sys."""
    root = data_directory.rstrip("/") + "/" if data_directory else None
    text = _without_odd(text, [path for path in odd if root is None or not (path + "/").startswith(root)])

    def shown(found: re.Match[str]) -> str:
        path = found[0]
        kept = path.startswith(HARMLESS) or (root is not None and (path + "/").startswith(root))
        return path if kept and "/../" not in path else SHOWN + _stop(path)

    return _PATH.sub(shown, text)


def _without_odd(text: str, odd: Sequence[str]) -> str:
    for path in odd:
        if path in text:
            # What lies below it goes with it; of /tmp what ends so is another path.
            text = re.sub(_BEGIN + re.escape(path) + _REST, lambda found: SHOWN + _stop(found[0]), text)
    return text


def _stop(path: str) -> str:
    """The full stop of the sentence, or what else ends it, is no part of the path."""
    return path[len(path.rstrip(".:!?")) :]
