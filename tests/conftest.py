"""For all tests."""

import codecs
import signal

import pytest

from myisam_advisor.trial.private import unprivileged

# A shell that starts the tests in its background has them ignore interrupts, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Python looks a codec up once: a test that is another user at that moment may not be able to read it, and nobody could after it.
for codec in ("ascii", "utf-8", "latin-1", "idna"):
    codecs.lookup(codec)
# These tests look at private servers as whoever runs them, root included; the programs themselves never do (trial/apart.py).
unprivileged.root_may_control = True


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files below tests/recorded/golden anew, to be read in the diff")
