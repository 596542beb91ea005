"""`python -m tests.fuzz TARGET [libFuzzer's options]`: coverage-guided inputs for one target until it fails or has had enough.

libFuzzer ends its process by _Exit, and nothing in it is cleaned up: its temporary files are taken away from here.
"""

import os
import subprocess
import sys
import tempfile


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="myisam-fuzz-") as folder:
        command = [sys.executable, "-m", "tests.fuzz.fuzzer", *sys.argv[1:]]
        return abs(subprocess.run(command, env=os.environ | {"TMPDIR": folder}, check=False).returncode)


sys.exit(main())
