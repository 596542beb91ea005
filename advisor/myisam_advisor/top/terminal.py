"""The terminal while the screen is up: its other buffer, keys one by one, and what the signals of its job mean. Given back in every case.

Sources: termios(3) (canonical mode), credentials(7) and signal(7) (job control), tcsetattr(3p).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import NoReturn

from rich.console import Console
from rich.control import Control
from rich.live import Live

from myisam_advisor.top.drawing import Frame
from myisam_advisor.top.keys import Keys
from myisam_exporter.errors import UserError

ONCE = "Give --once for a single screen as plain text."
# What comes so soon after an Escape is of the same key.
SEQUENCE_SECONDS = 0.05
_LOCAL_FLAGS, _CHARACTERS = 3, 6  # places in what tcgetattr gives: termios(3), Python's termios


class Terminal:
    """Standard input and output as a screen. Use it as a context manager.

    Raises UserError where they are no terminal, or one that cannot place its cursor.
    """

    def __init__(self) -> None:
        self.console = Console(highlight=False, markup=False, emoji=False)
        if not sys.stdin.isatty():
            raise UserError(f"standard input is no terminal: no keys can be read. {ONCE}")
        if not sys.stdout.isatty():
            raise UserError(f"standard output is no terminal: nothing can be shown there that changes. {ONCE}")
        if self.console.is_dumb_terminal:
            raise UserError(f"this terminal (TERM={os.environ.get('TERM', '')}) cannot place its cursor. {ONCE}")
        self._input = sys.stdin.fileno()
        self._keys = Keys()
        self._live = Live(
            console=self.console,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._suspended = False
        self._waking = -1
        self._pipe = (
            threading.Lock()
        )  # the thread that looks may outlive the screen, and its descriptor be another file's then
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}

    def __enter__(self) -> Terminal:
        self._attributes = termios.tcgetattr(self._input)
        self._woken, self._waking = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._waking, False)
        # The handlers themselves do nothing that could meet a half-drawn screen: the pipe ends the wait for a key.
        self._wakeup_before = signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)
        for number, handler in ((signal.SIGWINCH, _nothing), (signal.SIGTSTP, self._suspend), (signal.SIGTERM, _end)):
            self._before[number] = signal.signal(number, handler)
        try:
            self._begin()
        except BaseException:
            self._give_back()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_back()

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines now."""
        width, height = self.console.size
        return width, height

    def show(self, frame: Frame) -> None:
        """Draw it in the place of the last one."""
        self._live.update(frame, refresh=True)

    def redraw(self) -> None:
        """What others wrote there goes."""
        self.console.control(Control.clear(), Control.home())

    def wake(self) -> None:
        """From any thread: end the wait for a key."""
        # A pipe that is full ends the wait anyway.
        with self._pipe, contextlib.suppress(BlockingIOError):
            if self._waking >= 0:
                os.write(self._waking, b"\0")

    def keys(self, seconds: float) -> list[str]:
        """The keys that were pressed; none when it was woken, resized, or the time is over."""
        ready, _, _ = select.select(
            [self._input, self._woken], [], [], SEQUENCE_SECONDS if self._keys.is_waiting else seconds
        )
        if self._woken in ready:
            os.read(self._woken, 4096)
        if self._suspended:
            self._stop_and_go_on()
        if self._input not in ready:
            return self._keys.nothing_more()
        portion = os.read(self._input, 4096)
        # The terminal is gone, or was closed for us.
        return self._keys.read(portion) if portion else ["q"]

    def _begin(self) -> None:
        attributes = termios.tcgetattr(self._input)
        attributes[_LOCAL_FLAGS] &= ~(termios.ICANON | termios.ECHO)
        attributes[_CHARACTERS][termios.VMIN], attributes[_CHARACTERS][termios.VTIME] = 1, 0
        termios.tcsetattr(self._input, termios.TCSADRAIN, attributes)
        self._live.start()

    def _pause(self) -> None:
        self._live.stop()
        termios.tcsetattr(self._input, termios.TCSADRAIN, self._attributes)

    def _give_back(self) -> None:
        try:
            self._pause()
        finally:
            signal.set_wakeup_fd(self._wakeup_before)
            for number, handler in self._before.items():
                signal.signal(number, handler)
            with self._pipe:
                os.close(self._woken)
                os.close(self._waking)
                self._waking = -1

    def _suspend(self, *_: object) -> None:
        self._suspended = True

    def _stop_and_go_on(self) -> None:
        """As a shell wants it: the terminal as it was, stopped by the very signal; the screen again when it goes on."""
        self._suspended = False
        self._pause()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._suspend)
        self._begin()


def _nothing(*_: object) -> None:
    """Only to be woken by."""


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
