"""For all tests."""

import codecs
import os
import signal

import hypothesis
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from myisam_advisor.trial.private import unprivileged
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from tests.support.servers import PREPARED_VARIABLE
from tests.support.turns import COSTLY_SECONDS, COSTS, TURNS, Stopwatch, of_one_turn, turn_now, waiting

# A shell that starts the tests in its background has them ignore interrupts, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Texts are as wide as COLUMNS says, which runners set for their own; what a test wants of it, it sets.
os.environ.pop("COLUMNS", None)
# Python looks a codec up once: a test that is another user at that moment may not be able to read it, and nobody could after it.
for codec in ("ascii", "utf-8", "latin-1", "idna"):
    codecs.lookup(codec)
# These tests look at private servers as whoever runs them, root included; the programs themselves never do (trial/private/apart.py).
unprivileged.root_may_control = True

# A deadline for each example would measure the machine.
hypothesis.settings.register_profile("project", deadline=None)
hypothesis.settings.load_profile("project")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files below tests/recorded/golden anew, to be read in the diff")
    parser.addoption("--update-costs", action="store_true", help="write into tests/costs.json what each test takes: those that take long take turns")


# One trial at a time runs on a machine: advisor/myisam_advisor/trial/private/machine.py.
TRIALS = ("tests/servers/test_trial", "tests/servers/test_proofs", "tests/servers/test_prove", "tests/servers/test_secrets.py::test_what_a_trial_starts")
PREPARED = pytest.StashKey[ReapedDirectory]()


def pytest_configure(config: pytest.Config) -> None:
    """A place for data directories that are made once for all workers of the run: these inherit the variable."""
    if not hasattr(config, "workerinput"):
        directory = config.stash[PREPARED] = ReapedDirectory()
        directory.watch()
        directory.path.chmod(0o755)  # servers are made in it as other users
        os.environ[PREPARED_VARIABLE] = str(directory.path)
        if config.getoption("update_costs"):
            config.pluginmanager.register(_Costs(Stopwatch(COSTS)))


class _Costs:
    """Hears of each phase of each test, in the process that heard all workers."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._stopwatch = stopwatch

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._stopwatch.add(report.nodeid, report.duration)

    def pytest_sessionfinish(self) -> None:
        self._stopwatch.write()


def pytest_report_header() -> str | None:
    turn = turn_now()
    return None if turn is None else f"turn {turn + 1} of {TURNS}: {len(waiting(turn))} modules and units with tests of {COSTLY_SECONDS:.0f} s or more have another turn (script/test all asks each)"


def pytest_unconfigure(config: pytest.Config) -> None:
    if PREPARED in config.stash:
        config.stash[PREPARED].remove()


# Modules that ask the same: what one of them worked out the others have, where one worker asks all of them.
ASK_THE_SAME = {
    "unknown facts": ("tests/rules/test_unknown_",),
    "cases": ("tests/rules/test_cases.py", "tests/unit/advisor/changes/test_plan.py", "tests/unit/advisor/remedies/test_remedy_gate.py", "tests/unit/advisor/factbase/test_anonymous.py"),
}


def scope_of(test: str) -> str:
    """What stays with one worker: a module, because its tests share what they started, and all that need what the machine has once."""
    shared = next((scope for scope, tests in ASK_THE_SAME.items() if test.startswith(tests)), None)
    return shared or ("trials" if test.startswith(TRIALS) else test.partition("::")[0])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Whose turn it is not is left out. Trials begin: together they take longest, and nobody can take a part of them. Then packages and browsers: one file of them is minutes."""
    others = waiting(turn_now())
    left_out = [item for item in items if of_one_turn(item.nodeid) in others]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if of_one_turn(item.nodeid) not in others]
    items.sort(key=lambda item: (not item.nodeid.startswith(TRIALS), not item.nodeid.startswith("tests/e2e")))


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
    """--dist loadscope, by these scopes. (Nodes of --dist loadgroup, which would read marks, lose their groups under pytest 9.2.)"""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    return Scheduling(config, log) if config.getoption("dist") == "loadscope" else None
