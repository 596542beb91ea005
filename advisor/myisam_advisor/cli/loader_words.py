"""What the system's loader says of a library that it could not load. `main.py` asks before anything else is loaded, so nothing is imported here."""

from __future__ import annotations

# Of a library for which memory ended; and of a room of the loader's own, on which no limit of memory decides.
NOT_MAPPED = ("failed to map segment", "cannot allocate memory")
NOT_OF_MEMORY = "static tls"


def is_unmapped(error: ImportError | OSError) -> bool:
    """Whether a library had no place in memory. Python has only the loader's words for it, and the system's in them begin with a capital."""
    said = str(error).casefold()
    return NOT_OF_MEMORY not in said and any(words in said for words in NOT_MAPPED)
