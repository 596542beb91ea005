"""Work that a test has done by a process of another user: what refuses root, or starts programs that do."""

from __future__ import annotations

import json
import os
import tempfile
import traceback
from collections.abc import Callable
from typing import Any

from myisam_advisor.trial.private import unprivileged

OTHER_NUMBER = 54322


def by_somebody_else(work: Callable[[], Any]) -> Any:
    """What the work returns, as JSON holds it. Raises AssertionError with its own trace where it fails."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            unprivileged.root_may_control = False
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(OTHER_NUMBER, OTHER_NUMBER, OTHER_NUMBER)
                os.setresuid(OTHER_NUMBER, OTHER_NUMBER, OTHER_NUMBER)
            tempfile.tempdir = "/tmp"
            os.environ["TMPDIR"] = "/tmp"
            told = {"result": work()}
        except BaseException:
            told = {"failure": traceback.format_exc()}
        with os.fdopen(writing, "w") as pipe:
            json.dump(told, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = json.load(pipe)
    os.waitpid(child, 0)
    assert "failure" not in told, told["failure"]
    return told["result"]
