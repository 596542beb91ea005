"""Host paths in texts for a browser: those of the data directory are facts about tables, the others are nobody's business.

Whoever did not log in is shown no path at all: where the files lie is of use to who may read them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from myisam_advisor.remedies.option_lines import OptionRemark
from myisam_advisor.remedies.shell_lines import ShellLine

# At the beginning of a word, and of two parts at least: rows/s and 1/2 are none.
_PATH = re.compile(r"(?<![\w.\-/])/(?:[^\s/'\"`<>();,]+/)+[^\s'\"`<>();,]*")
HARMLESS = ("/proc/", "/sys/")
SHOWN = "(a path)"


def without_paths(text: str, data_directory: str | None) -> str:
    """The text with every absolute path replaced, those below the data directory too, whatever characters its name has.

    A line for a shell that loses a path would be none: what it does stands in its place, as a comment. Of a remark that names an option file, whose
    name may have spaces, the words without it.
    """
    if isinstance(text, OptionRemark):
        return str(text.in_words)
    if isinstance(text, ShellLine):
        shown = without_paths(str(text), data_directory)
        return text if shown == text else without_paths(text.in_words, data_directory)
    root = (data_directory or "").rstrip("/")
    if root and root in text:
        text = re.sub(re.escape(root) + r"[^\s'\"`<>();,]*", lambda found: SHOWN + _stop(found[0]), text)
    return without_host_paths(text)


def document_without_paths(document: Any, data_directory: str | None) -> Any:
    """A JSON-ready value with every path in its texts replaced."""
    if isinstance(document, str):
        return without_paths(document, data_directory)
    if isinstance(document, Mapping):
        return {name: document_without_paths(value, data_directory) for name, value in document.items()}
    if isinstance(document, list | tuple):
        return [document_without_paths(value, data_directory) for value in document]
    return document


def without_host_paths(text: str, data_directory: str | None = None) -> str:
    """The text with every absolute path replaced that is not below the data directory, /proc or /sys."""
    root = data_directory.rstrip("/") + "/" if data_directory else None

    def shown(found: re.Match[str]) -> str:
        path = found[0]
        kept = path.startswith(HARMLESS) or (root is not None and (path + "/").startswith(root))
        return path if kept and "/../" not in path else SHOWN + _stop(path)

    return _PATH.sub(shown, text)


def _stop(path: str) -> str:
    """The full stop of the sentence, or what else ends it, is no part of the path."""
    return path[len(path.rstrip(".:!?")) :]
