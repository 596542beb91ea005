"""SQLite's limits of one connection: strings, rows and patterns of bounded length.

Python has `setlimit` since 3.11. Before that the C function is called by itself, with the handle that CPython 3.10 keeps first in a
connection (Modules/_sqlite/connection.h). That is done only where two other functions tell of the handle what Python tells of the connection.

Source: sqlite.org/c3ref/limit.html, sqlite.org/c3ref/c_limit_attached.html
"""

from __future__ import annotations

import contextlib
import ctypes
import sqlite3
import sys

LENGTH, LIKE_PATTERN_LENGTH = 0, 8
DEFAULT_LENGTH_BYTES = 1_000_000_000


def set_limit(database: sqlite3.Connection, category: int, value: int) -> bool:
    """Set one limit of a connection; whether that was possible."""
    if sys.version_info >= (3, 11):
        database.setlimit(category, value)
        return True
    return _set_limit_by_handle(database, category, value)


def _set_limit_by_handle(database: sqlite3.Connection, category: int, value: int) -> bool:
    """The same by SQLite's own function, in the library that Python's module is linked with."""
    if sys.implementation.name != "cpython":
        return False
    with contextlib.suppress(ImportError, OSError, AttributeError, TypeError):
        import _sqlite3

        library = ctypes.CDLL(_sqlite3.__file__)
        handle = ctypes.c_void_p.from_address(id(database) + object.__basicsize__)
        if library.sqlite3_libversion_number() != _version_number() or not handle.value:
            return False
        changes = library.sqlite3_total_changes
        changes.argtypes = [ctypes.c_void_p]
        set_it = library.sqlite3_limit
        set_it.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
        if changes(handle) != database.total_changes:
            return False
        set_it(handle, category, value)
        return bool(set_it(handle, category, -1) == value)
    return False


def _version_number() -> int:
    major, minor, patch = sqlite3.sqlite_version_info
    return major * 1_000_000 + minor * 1000 + patch
