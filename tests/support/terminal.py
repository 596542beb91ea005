"""A program on a terminal of its own, as an emulator (pyte) shows it: keys go in, a screen comes out."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyte

PROGRAM = Path(sys.executable).with_name("myisam-advisor")
PATIENCE_SECONDS = 60.0
# Private modes (ECMA-48, xterm's ctlseqs): pyte keeps numbers of private modes shifted by five.
CURSOR_SHOWN, OTHER_BUFFER = 25 << 5, 1049 << 5


@dataclass
class OnTerminal:
    """A running program and its screen; `leader` is what started it, as a shell would."""

    leader: subprocess.Popen[bytes]
    master: int
    slave: int
    screen: Any
    stream: Any
    before: list[Any]

    @property
    def lines(self) -> list[str]:
        """The screen without the blanks at the ends of its lines."""
        return [str(line).rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        """The same as one text."""
        return "\n".join(self.lines)

    @property
    def is_whole_screen(self) -> bool:
        """Whether the program has the terminal's other buffer, and hides the cursor."""
        return OTHER_BUFFER in self.screen.mode and CURSOR_SHOWN not in self.screen.mode

    @property
    def is_given_back(self) -> bool:
        """Whether a shell would find its own buffer, a cursor, and lines as it had set them: termios(3)."""
        return OTHER_BUFFER not in self.screen.mode and CURSOR_SHOWN in self.screen.mode and termios.tcgetattr(self.slave) == self.before

    def read(self, seconds: float = 0.05) -> None:
        """Let the emulator see what was written meanwhile."""
        while select.select([self.master], [], [], seconds)[0]:
            try:
                portion = os.read(self.master, 65536)
            except OSError:
                return
            self.stream.feed(portion)
            seconds = 0.0

    def wait(self, condition: Callable[["OnTerminal"], object], what: str) -> None:
        """Until the screen is so."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self.read()
            if condition(self):
                return
        raise AssertionError(f"never seen: {what}\n{self.text}")

    def wait_for(self, text: str) -> None:
        """Until the screen holds the text."""
        self.wait(lambda one: text in one.text, text)

    def press(self, keys: str | bytes) -> None:
        """Type."""
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def resize(self, columns: int, lines: int) -> None:
        """As a terminal's window is: the size first, then SIGWINCH by the kernel."""
        self.read()
        self.screen.resize(lines, columns)
        _set_size(self.master, columns, lines)

    def ended(self) -> int:
        """Its exit status, once it has ended; 128 and more as shells say it."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.leader.poll() is None and time.monotonic() < deadline:
            self.read()  # or it would wait for room to write into
        assert self.leader.poll() is not None, f"still running\n{self.text}"
        self.read()
        return self.leader.returncode

    def send(self, number: signal.Signals) -> None:
        """A signal for the program."""
        os.kill(self._program(), number)

    def is_stopped(self) -> bool:
        """Whether a signal of the job's has stopped it: proc(5)."""
        return Path(f"/proc/{self._program()}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def _program(self) -> int:
        return int(Path(f"/proc/{self.leader.pid}/task/{self.leader.pid}/children").read_text())


@contextmanager
def on_terminal(
    *words: object, columns: int = 80, lines: int = 24, environment: Mapping[str, str] | None = None, program: Path | str = PROGRAM
) -> Iterator[OnTerminal]:
    """The program in a session of its own that a terminal of this size controls; killed at the end if it still runs."""
    master, slave = pty.openpty()
    _set_size(master, columns, lines)
    screen, before = pyte.Screen(columns, lines), termios.tcgetattr(slave)
    given = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm-256color", **(environment or {})}
    whole = [sys.executable, "-c", _LEADER, str(program), *map(str, words)]
    leader = subprocess.Popen(whole, stdin=slave, stdout=slave, stderr=slave, env=given, start_new_session=True)
    terminal = OnTerminal(leader, master, slave, screen, pyte.ByteStream(screen), before)
    try:
        yield terminal
    finally:
        # With the leader of its session the job in the foreground goes too: SIGHUP, setsid(2).
        leader.kill()
        leader.wait()
        os.close(master)
        os.close(slave)


# As a shell does: the terminal is that of its session (tty_ioctl(4), TIOCSCTTY), and the program a job in the foreground. In a group
# whose leader has no parent in the session a stop would mean nothing (POSIX, "orphaned process group").
_LEADER = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
program = os.fork()
if program == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
status = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
sys.exit(status if status >= 0 else 128 - status)
"""


def _set_size(descriptor: int, columns: int, lines: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
