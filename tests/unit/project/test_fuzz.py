"""Everything that reads bytes from elsewhere, fuzzed for a moment; script/fuzz does it a million times."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS
from tests.support.repository import ROOT
from tests.support.thoroughness import times

RUNS = times(10_000, 300)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_its_own_errors(name: str, tmp_path: Path) -> None:
    pytest.importorskip("atheris", reason="atheris is not to be had for this Python or machine")
    command = [sys.executable, "-m", "tests.fuzz", name, f"-runs={RUNS}", "-timeout=10", "-rss_limit_mb=1024", "-max_len=4096", f"-artifact_prefix={tmp_path}/"]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=times(900, 120), check=False, env=os.environ | {"TMPDIR": str(scratch)})
    assert not list(scratch.iterdir())
    assert done.returncode == 0, done.stderr[-3000:]
    # libFuzzer may tell one more, with a seed that it had not tried: 301 of 300.
    told = re.search(r"^Done (\d+) runs", done.stderr, re.MULTILINE)
    assert int(told[1] if told else 0) >= RUNS, done.stderr[-3000:]


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_get_far(name: str) -> None:
    """Without the fuzzer too, the inputs it begins with are taken."""
    for seed in seeds(name):
        TARGETS[name](seed)


@pytest.mark.slow
def test_a_fault_would_be_found(tmp_path: Path) -> None:
    """The harness fails where a target does."""
    pytest.importorskip("atheris", reason="atheris is not to be had for this Python or machine")
    code = "import sys, atheris\ndef target(data):\n    if data[:1] == b'Q': raise ValueError('found')\natheris.Setup(sys.argv, target)\natheris.Fuzz()"
    command = [sys.executable, "-c", code, "-runs=100000", f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0
