"""`python -m tests.fuzz TARGET [libFuzzer's options]`: coverage-guided inputs for one target until it fails or has had enough."""

import sys
import tempfile
from pathlib import Path

import atheris


def main() -> None:
    name = sys.argv.pop(1)
    with atheris.instrument_imports(include=["myisam_exporter", "myisam_advisor", "h11"]):
        from tests.fuzz.targets import TARGETS, seeds

        TARGETS[name](b"")  # everything is imported, instrumented
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(seeds(name)):
            (Path(folder) / str(number)).write_bytes(seed)
            TARGETS[name](seed)
        atheris.Setup([*sys.argv, folder], TARGETS[name])
        atheris.Fuzz()


main()
