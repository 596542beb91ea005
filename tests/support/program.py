"""The program as a user runs it, without any option file of this machine.

`run` is the whole program in the tests' own process: its words, its streams, its environment, the one place where it ends. What only a process
can show (signals, descriptors, limits, an end in time, what is imported at start) is asked of `run_process`, at ten times the price.
"""

import io
import os
import subprocess
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from myisam_advisor.cli.ending import speak_any_text, status_of
from myisam_advisor.cli.main import cli

PROGRAM = Path(sys.executable).with_name("myisam-advisor")


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}


def _stream(encoding: str, content: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding, write_through=True)


def _text_of(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def run(*words: object, stdin: str | None = None, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    """The program's status and what it said, on streams of this encoding, without starting a process."""
    arguments = [str(word) for word in words]
    output, complaints = _stream(encoding), _stream(encoding)
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name in set(os.environ) - set(_environment()):
            patch.delenv(name)
        for name, value in _environment().items():
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
