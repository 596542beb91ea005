"""For all tests of what users install and open."""

from pathlib import Path

import pytest

from tests.e2e.packages import built_packages


@pytest.fixture(scope="session")
def packages() -> dict[str, Path]:
    """What script/package makes of this tree, by how each name ends."""
    return built_packages()
