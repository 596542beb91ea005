"""The program as a user runs it, without any option file of this machine."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("myisam-advisor")


def run(*words: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    return subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True, input=stdin, env=environment, timeout=60, check=False)
