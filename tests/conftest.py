"""For all tests."""

import codecs
import os
import signal

import pytest

from myisam_advisor.trial.private import unprivileged
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from tests.support.servers import PREPARED_VARIABLE

# A shell that starts the tests in its background has them ignore interrupts, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Python looks a codec up once: a test that is another user at that moment may not be able to read it, and nobody could after it.
for codec in ("ascii", "utf-8", "latin-1", "idna"):
    codecs.lookup(codec)
# These tests look at private servers as whoever runs them, root included; the programs themselves never do (trial/apart.py).
unprivileged.root_may_control = True


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files below tests/recorded/golden anew, to be read in the diff")


PREPARED = pytest.StashKey[ReapedDirectory]()


def pytest_configure(config: pytest.Config) -> None:
    """A place for data directories that are made once for all workers of the run: these inherit the variable."""
    if not hasattr(config, "workerinput"):
        directory = config.stash[PREPARED] = ReapedDirectory()
        directory.watch()
        directory.path.chmod(0o755)  # servers are made in it as other users
        os.environ[PREPARED_VARIABLE] = str(directory.path)


def pytest_unconfigure(config: pytest.Config) -> None:
    if PREPARED in config.stash:
        config.stash[PREPARED].remove()
