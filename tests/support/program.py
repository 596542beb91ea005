"""The program as a user runs it, without any option file of this machine.

`run` is the whole program in the tests' own process: its words, its streams, its environment, the one place where it ends. What only a process
can show (signals, descriptors, limits, an end in time, what is imported at start) is asked of `run_process`, at ten times the price; or of `Kept`,
where how it starts does not matter.
"""

import io
import json
import os
import resource
import select
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from myisam_advisor.cli.ending import speak_any_text, status_of
from myisam_advisor.cli.group import cli
from tests.support.repository import ROOT

PROGRAM = Path(sys.executable).with_name("myisam-advisor")


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}


def _stream(encoding: str, content: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding, write_through=True)


def _text_of(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def run(*words: object, stdin: str | None = None, encoding: str = "utf-8", environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The program's status and what it said, on streams of this encoding, with this beside the usual environment, without starting a process."""
    arguments = [str(word) for word in words]
    output, complaints = _stream(encoding), _stream(encoding)
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        whole = {**_environment(), **(environment or {})}
        for name in set(os.environ) - set(whole):
            patch.delenv(name)
        for name, value in whole.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", [str(PROGRAM), *arguments])
        patch.setattr(sys, "stdin", _stream("utf-8", (stdin or "").encode()))
        stack.enter_context(redirect_stdout(output))
        stack.enter_context(redirect_stderr(complaints))
        speak_any_text()
        status = status_of(lambda: cli.main(arguments, prog_name=PROGRAM.name, standalone_mode=False), arguments)
        return subprocess.CompletedProcess(arguments, status, _text_of(output), _text_of(complaints))


def run_process(*words: object, stdin: str | None = None, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """The program as a process of its own."""
    return subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True, input=stdin, env=_environment(), timeout=timeout, check=False)


_ANSWER = """
import json, sys
from tests.support.program import run
for line in sys.stdin:
    done = run(*json.loads(line))
    sys.__stdout__.write(json.dumps([done.returncode, done.stdout, done.stderr]) + "\\n")
    sys.__stdout__.flush()
"""


class Kept:
    """A process that is the program again and again: within a limit of memory, and by whatever signal one of its ends kills it."""

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._process: subprocess.Popen[str] | None = None

    def run(self, *words: object, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """As `run`; where it took the process with it, that process's status and last words."""
        process = self._process or self._start()
        self._process = None
        assert process.stdin
        assert process.stdout
        arguments = [str(word) for word in words]
        process.stdin.write(json.dumps(arguments) + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], timeout)[0]:
            process.kill()
            process.communicate()
            raise TimeoutError(f"no end after {timeout} s: {arguments}")
        line = process.stdout.readline()
        if not line:
            _, errors = process.communicate()
            return subprocess.CompletedProcess(arguments, process.returncode, "", errors)
        self._process = process
        return subprocess.CompletedProcess(arguments, *json.loads(line))

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen([sys.executable, "-c", _ANSWER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        resource.prlimit(process.pid, resource.RLIMIT_AS, (self._memory_bytes, self._memory_bytes))
        return process

    def close(self) -> None:
        """End it."""
        if self._process:
            self._process.communicate()
