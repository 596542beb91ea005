"""Host paths in texts for a browser: those of the data directory are facts about tables, the others are nobody's business."""

from __future__ import annotations

import re

# At the beginning of a word, and of two parts at least: rows/s and 1/2 are none.
_PATH = re.compile(r"(?<![\w.\-/])/(?:[^\s/'\"`<>();,]+/)+[^\s'\"`<>();,]*")
HARMLESS = ("/proc/", "/sys/")
SHOWN = "(a path)"


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
