"""A temporary directory that goes when its maker goes, even by SIGKILL.

It is removed by descriptors, without following a link (shutil.rmtree, rm -rf): what a server that we started left in it cannot lead astray.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

from myisam_advisor.errors import TrialError

# "$1" is the directory; the pipe's other end is its maker's. What a dying server still writes is removed the next time round.
REAPER = """
trap '' INT TERM HUP
read -r _
for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$1" 2>/dev/null; [ -e "$1" ] || exit 0; sleep 0.2; done
"""


def temporary_folder() -> Path:
    """Where temporary files go. Raises TrialError where TMPDIR takes none: Python would take /tmp, which may be memory, without a word."""
    wanted = os.environ.get("TMPDIR")
    if wanted:
        try:
            with tempfile.TemporaryFile(dir=wanted) as file:
                file.write(b"\n")
        except OSError as error:
            raise TrialError(
                f"no file can be written in {wanted} (TMPDIR): {error.strerror}. Choose another TMPDIR."
            ) from None
    return Path(tempfile.gettempdir())


class ReapedDirectory:
    """The directory (with a short name), and a shell that waits for the end of a pipe that only we hold open, to remove it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="myisam-", dir=temporary_folder()))
        self._reaper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ReapedDirectory:
        self.watch()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def watch(self) -> None:
        """Start the shell."""
        self._reaper = subprocess.Popen(
            ["/bin/sh", "-c", REAPER, "reaper", str(self.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def remove(self) -> None:
        """Remove the directory and end the shell."""
        shutil.rmtree(self.path, ignore_errors=True)
        reaper, self._reaper = self._reaper, None
        if reaper is not None and reaper.stdin is not None:
            reaper.stdin.close()
            reaper.wait()
