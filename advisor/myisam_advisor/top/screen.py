"""The live screen: looks, draws and hears keys until it is left."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TextIO

from rich.console import Console

from myisam_advisor.texts.drawing import EncodedText
from myisam_advisor.texts.width import file_width
from myisam_advisor.top.drawing import MINIMUM_HEIGHT, MINIMUM_WIDTH, Frame, draw
from myisam_advisor.top.feed import Feed, Looks
from myisam_advisor.top.scene import Scene
from myisam_advisor.top.terminal import Terminal
from myisam_advisor.top.view import STATEMENTS, View, pressed

# Without a key and without a look, this often: for the clock.
IDLE_SECONDS = 1.0
FAREWELL_SECONDS = 2.0
PIPED_WIDTH, PIPED_HEIGHT = 120, 40


def run(looks: Looks, label: str, interval_seconds: float) -> None:
    """Show this server until q is pressed. Raises UserError where there is no terminal for it."""
    with Terminal() as terminal, _quiet():
        feed = Feed(looks, interval_seconds, terminal.wake)
        feed.start()
        try:
            _show(terminal, feed, Scene(label, View(interval_seconds=interval_seconds), now=time.time()))
        finally:
            feed.end()
            # What it uses is closed next; a look that hangs is not waited for.
            feed.join(FAREWELL_SECONDS)


def once(looks: Looks, label: str, interval_seconds: float, reader: TextIO) -> str:
    """One screen as text, after two looks. Raises UserError when the server does not answer."""
    scene = Scene(label, View(interval_seconds=interval_seconds), still=True)
    for number in range(2 if interval_seconds else 1):
        if number:
            time.sleep(interval_seconds)
        moment = looks.look()
        scene.trails.add(moment.facts, moment.taken_at)
    scene = replace(scene, moment=moment, now=time.time())
    real = Console(file=reader)
    width, height = real.size if real.is_terminal else (file_width(PIPED_WIDTH), PIPED_HEIGHT)
    width, height = max(width, MINIMUM_WIDTH), max(height - 1, MINIMUM_HEIGHT)
    pages = [scene] if moment.statements is None else [scene, replace(scene, view=replace(scene.view, page=STATEMENTS))]
    console = Console(file=EncodedText(real.encoding), width=width, height=height)
    return "\n".join(as_text(_whole(console, one, width, height)) for one in pages)


def _whole(console: Console, scene: Scene, width: int, height: int) -> Frame:
    """The frame, higher than the screen where its text is longer: nobody can scroll there."""
    frame = draw(console, scene, width, height)
    more = frame.shown.lines - frame.shown.rows
    return draw(console, scene, width, height + more) if more > 0 else frame


def as_text(frame: Frame) -> str:
    """The frame without colours, without the blanks at the ends of its lines, and without the lines that only fill the screen."""
    lines = ("".join(segment.text for segment in line).rstrip() for line in frame.lines)
    return "".join(f"{line}\n" for line in lines if line)


def _show(terminal: Terminal, feed: Feed, scene: Scene) -> None:
    while not scene.view.ended:
        if feed.fault is not None:
            raise feed.fault
        scene = _seen(scene, feed)
        frame = draw(terminal.console, scene, *terminal.size)
        terminal.show(frame)
        for key in terminal.keys(IDLE_SECONDS):
            if key == "redraw":
                terminal.redraw()
            scene = replace(scene, view=pressed(scene.view, key, frame.shown))
        feed.pause(scene.view.paused)
        feed.interval_seconds = scene.view.interval_seconds


def _seen(scene: Scene, feed: Feed) -> Scene:
    """The scene with what was seen last; while it is paused, with what was seen when it was."""
    if scene.view.paused and scene.moment is not None:
        return replace(scene, now=time.time())
    moment, failure = feed.last, feed.failure
    if moment is not None:
        scene.trails.add(moment.facts, moment.taken_at)
    if failure is not None and scene.failure is None:
        scene.trails.add_gap()
    return replace(scene, moment=moment, failure=failure, now=time.time())


@contextmanager
def _quiet() -> Iterator[None]:
    """What is logged would be written into the screen: what it is about is on the screen, as not known."""
    root, silent = logging.getLogger(), logging.NullHandler()
    root.addHandler(silent)
    try:
        yield
    finally:
        root.removeHandler(silent)
