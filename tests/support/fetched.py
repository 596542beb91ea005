"""What tests need that is not in the repository: skipped by name where it is missing, a failure in CI, for there each must run."""

import os
from pathlib import Path
from typing import NoReturn

import pytest

from tools.fetched_servers import cache_directory


def fetched(package: str, *below: str) -> Path:
    """What script/servers unpacked, or what lies below it."""
    path = cache_directory().joinpath(package, *below)
    if not path.exists():
        not_fetched(package)
    return path


def not_fetched(package: str) -> NoReturn:
    missing(f"{package} is not in the cache: run script/servers {package}")


def missing(message: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
