"""The examples' image is that of the present version, and a release goes on with it."""

from datetime import datetime, timezone
from pathlib import Path

import pytest

from tools.release import NAMES_IMAGE, edits, present_version

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", NAMES_IMAGE)
def test_the_image_has_the_present_version_and_then_the_released_one(name: str) -> None:
    text, present = (ROOT / name).read_text("utf-8"), present_version(ROOT)
    assert f"myisam-advisor:{present}" in text
    after = edits("9.8.7", datetime.now(timezone.utc))[name](text)
    assert present not in after
    assert after.replace("9.8.7", present) == text
