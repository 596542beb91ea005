"""The terminal is given back, whatever happens while the screen is up."""

import sys

import pytest

from tests.support.terminal import on_terminal

FAULTY = """
import sys
from myisam_advisor.cli.ending import status_of
from myisam_advisor.top import screen

class Faulty:
    def look(self):
        if sys.argv[1] == "look":
            raise ZeroDivisionError("of ours")
        screen.draw = lambda *_: 1 / 0
        return None
    def glance(self): pass
    def give_up(self): pass

sys.exit(status_of(lambda: screen.run(Faulty(), "here", 1.0), []))
"""


@pytest.mark.parametrize("where", ["look", "drawing"])
def test_after_a_fault_of_ours_too(where: str) -> None:
    with on_terminal("-c", FAULTY, where, program=sys.executable) as terminal:
        assert terminal.ended() == 2
        assert terminal.is_given_back
        assert "internal error: ZeroDivisionError" in " ".join(terminal.text.split())
        assert "Traceback" not in terminal.text


@pytest.mark.slow
def test_a_filter_can_be_typed_in_any_letters_and_the_screen_is_left_by_a_key() -> None:
    waiting = FAULTY.replace("raise ZeroDivisionError", "import time; time.sleep(60); raise ZeroDivisionError")
    with on_terminal("-c", waiting, "look", program=sys.executable) as terminal:
        terminal.wait_for("The first look at the server is still running.")
        assert terminal.is_whole_screen
        terminal.press("/größe\x7f")
        terminal.wait_for("holds: größ_")
        terminal.press("\r")
        terminal.press("q")
        assert terminal.ended() == 0
        assert terminal.is_given_back
