"""Coverage-guided inputs for one target until it fails or has had enough; started by `python -m tests.fuzz`, which cleans up behind it."""

import ctypes
import signal
import sys
import tempfile
from pathlib import Path

import atheris

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # whoever waits no longer wants no more inputs
    name = sys.argv.pop(1)
    with atheris.instrument_imports(include=["myisam_exporter", "myisam_advisor", "h11", "pymysql"]):
        from tests.fuzz.seeds import seeds
        from tests.fuzz.targets import TARGETS

        beginnings = list(seeds(name))
        for seed in (b"", *beginnings):
            TARGETS[name](seed)  # everything is imported, instrumented: also what is only imported on the way
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(beginnings):
            (Path(folder) / str(number)).write_bytes(seed)
        atheris.Setup([*sys.argv, folder], TARGETS[name])
        atheris.Fuzz()


main()
