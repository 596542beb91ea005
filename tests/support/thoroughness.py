"""How often tests repeat what chance decides: often enough to notice a fault in `script/test`, as often as is promised in `script/test thorough`."""

import os

import pytest

THOROUGH = os.environ.get("MYISAM_ADVISOR_THOROUGH") == "1"
thorough_only = pytest.mark.skipif(not THOROUGH, reason="asked by script/test thorough")


def times(promised: int, usual: int) -> int:
    """`promised` repetitions when the run is to be thorough, else `usual` ones; a test of hours and one of seconds differ in nothing else."""
    return promised if THOROUGH else usual
