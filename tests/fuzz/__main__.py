"""`python -m tests.fuzz TARGET [libFuzzer's options]`: coverage-guided inputs for one target until it fails or has had enough."""

import sys
import tempfile
from pathlib import Path

import atheris


def main() -> None:
    name = sys.argv.pop(1)
    with atheris.instrument_imports(include=["myisam_exporter", "myisam_advisor", "h11", "pymysql"]):
        from tests.fuzz.targets import TARGETS, seeds

        beginnings = list(seeds(name))
        for seed in (b"", *beginnings):
            TARGETS[name](seed)  # everything is imported, instrumented: also what is only imported on the way
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(beginnings):
            (Path(folder) / str(number)).write_bytes(seed)
        atheris.Setup([*sys.argv, folder], TARGETS[name])
        atheris.Fuzz()


main()
