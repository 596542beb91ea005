"""PyMySQL, without what it would encrypt a password with by a key that whoever answers may have sent: this program never does (driver.py).

It goes without where the library cryptography is missing. Those are thirty modules: a thirtieth of what `check` takes, and memory of a daemon.

Source: pymysql/_auth.py.
"""

from __future__ import annotations

import sys
from types import ModuleType

_WANTED_FIRST = "cryptography.hazmat.backends"


def client_library() -> ModuleType:
    """The package pymysql. Raises ImportError where it is not installed."""
    is_left_out = not {"pymysql", _WANTED_FIRST} & sys.modules.keys()
    if is_left_out:
        sys.modules[_WANTED_FIRST] = None  # type: ignore[assignment]  # importlib: None there means that there is none
    try:
        import pymysql
    finally:
        if is_left_out:
            sys.modules.pop(_WANTED_FIRST, None)
    return pymysql
