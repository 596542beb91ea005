"""One trial from begin to end: the private server, the copies, the workloads in turn, the result. Never as root: see task.py."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.bench import Bench, TrialOptions
from myisam_advisor.trial.budget import Budget, fitted
from myisam_advisor.trial.comparison import MINIMUM_ROUNDS
from myisam_advisor.trial.experiments.base import DISK_BYTES, Experiment, experiment_named, run_workload
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.full_disks import full, says_full, told
from myisam_advisor.trial.private.limits import limits_named
from myisam_advisor.trial.private.machine import expect_room, machine_name
from myisam_advisor.trial.private.private_server import GONE, PrivateServer
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.private.unprivileged import expect_not_root
from myisam_advisor.trial.replay import sender_program
from myisam_advisor.trial.results import TrialResult, WorkloadResult
from myisam_advisor.trial.tables.copying import copy_tables
from myisam_advisor.trial.tables.made import expect_rows
from myisam_advisor.trial.tables.sources import Source, needed_bytes
from myisam_advisor.trial.tables.table_lock import Lock
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.version_number import PRODUCT_NAMES

# The threads of closed connections are kept, so that their context switches can still be counted. Each of a sender's threads has a connection, and we one.
OPTIONS = (
    "--thread-cache-size=200",
    "--max-connections=300",
    "--loose-performance-schema=OFF",
    "--myisam-recover-options=OFF",
)
DYING_SECONDS = 2
# Which words FULLTEXT indexes hold: where a copy is written under others, UPDATE and DELETE look for words that are not in it, and mark it as crashed.
# Tried on MySQL 5.5 and 5.6, MariaDB 10.11 and 11.8 (storage/myisam/ft_update.c, _mi_ft_del; mi_delete.c, d_search); the other way round words stay in it.
WORD_LENGTHS, STOPWORD_FILE = ("ft_max_word_len", "ft_min_word_len"), "ft_stopword_file"
# The server's word for its own list. Given at a start it is a file that is not there, and there are no stopwords.
BUILT_IN = "(built-in)"
# What of the watched server's settings matters to MyISAM, and is not what experiments vary.
SETTINGS = (
    *WORD_LENGTHS, "bulk_insert_buffer_size", "character_set_server", "collation_server", "concurrent_insert", "delay_key_write", "key_cache_block_size",
    "lower_case_table_names", "myisam_data_pointer_size", "read_buffer_size", "read_rnd_buffer_size",
)  # fmt: skip
ROOM_FOR_DATA = 2
TOO_FEW_ROUNDS = f"Nothing is concluded from fewer than {MINIMUM_ROUNDS} rounds (--rounds, --budget)."
BUSY = (
    "Other processes had the processors meanwhile, so there are no verdicts (see below): try again at a quieter time."
)
NOT_BEGUN = "workloads after these"


@dataclass(frozen=True, slots=True)
class TrialMaterial:
    """What a trial is about: the program, the watched server's settings, tables to copy, and what locks them meanwhile."""

    binaries: ServerBinaries | None
    settings: Sequence[str] = ()
    sources: Sequence[Source] = ()
    lock: Lock | None = field(default=None, repr=False)


def settings_of(variables: Mapping[str, str]) -> list[str]:
    """The watched server's settings that matter, as words for the private one's command line."""
    words = [f"--{name.replace('_', '-')}={variables[name]}" for name in SETTINGS if variables.get(name)]
    return [*words, *stopword_settings(variables)]


def stopword_settings(variables: Mapping[str, str]) -> list[str]:
    """The watched server's list of stopwords, as a word for the private one's command line; empty is none at all.

    A file that the private server may not read keeps it from nothing but its stopwords (tried on seven servers).
    """
    file = stopword_file(variables)
    return [] if file == BUILT_IN else [f"--ft-stopword-file={file}"]


def stopword_file(variables: Mapping[str, str]) -> str:
    """The watched server's list of stopwords by its whole path: a relative one is below the data directory, and a private server has another."""
    file = variables.get(STOPWORD_FILE, BUILT_IN)
    return file if file in ("", BUILT_IN) else str(PurePosixPath(variables.get("datadir", "/"), file))


def run_trial(name: str, material: TrialMaterial, options: TrialOptions, listener: Listener) -> TrialResult:
    """Run one experiment. Raises TrialError for whatever stops it, and for root; nothing is left behind."""
    expect_not_root()
    experiment = experiment_named(name)
    copied_bytes = sum(source.counted_bytes for source in material.sources)
    options = fitted(options, experiment.runs_a_round)
    with _bench(experiment, material, options, listener, copied_bytes) as bench:
        results = _results(bench, experiment, options)
        version = str(bench.server.execute("SELECT @@version")[0][0]) if bench.private else ""
        return TrialResult(
            experiment=name,
            server=_kind(material.binaries) if bench.private and material.binaries else "",
            version=version,
            tables=", ".join(copy.label for copy in bench.copies) or "made up",
            settings=[*material.settings, *experiment.options] if bench.private else [],
            workloads=results,
            conclusion=_conclusion(bench, experiment, results),
            skipped=bench.skipped,
            binaries=material.binaries.name if bench.private and material.binaries else "",
            machine=machine_name(),
            taken_at=time.strftime("%Y-%m-%d %H:%M", time.localtime()),
        )


def _results(bench: Bench, experiment: Experiment, options: TrialOptions) -> list[WorkloadResult]:
    """The workloads in turn, as far as the budget goes; the first one in any case."""
    results: list[WorkloadResult] = []
    budget = Budget(options, experiment.runs_a_round)
    bench.listener.left(budget.left)
    for workload in experiment.workloads(bench):
        if results and budget.left == 0:
            bench.skipped[NOT_BEGUN] = "the budget had ended: --budget gives more"
            break
        results.append(run_workload(workload, budget.limits(len(workload.variants)), bench.listener))
        bench.listener.left(budget.left)
    return results


def _conclusion(bench: Bench, experiment: Experiment, results: Sequence[WorkloadResult]) -> str:
    courses = [result.course for result in results if result.course is not None]
    if courses and all(course.rounds < MINIMUM_ROUNDS for course in courses):
        return TOO_FEW_ROUNDS
    concluded = experiment.conclude(bench, results)
    return f"{concluded} {BUSY}" if courses and all(course.is_busy for course in courses) else concluded


def _kind(binaries: ServerBinaries) -> str:
    return PRODUCT_NAMES[binaries.flavour]


@contextlib.contextmanager
def _bench(
    experiment: Experiment, material: TrialMaterial, options: TrialOptions, listener: Listener, copied_bytes: int
) -> Iterator[Bench]:
    with ReapedDirectory() as directory:
        expect_room(
            directory.path,
            DISK_BYTES + needed_bytes(material.sources),
            experiment.memory_bytes + ROOM_FOR_DATA * copied_bytes,
        )
        if not experiment.needs_server:
            if material.sources:
                raise TrialError("this experiment reads a file of its own: it has no use for --table.")
            yield Bench(options, directory.path, None, (), listener)
            return
        sender_program()
        if not experiment.takes_few_rows:
            for source in material.sources:
                expect_rows(source.label, source.rows)
        listener.doing("starting a private server")
        with (
            private_server(material, directory.path, experiment.options) as server,
            as_trial_errors(server.expect_alive),
        ):
            copies = copy_tables(material.sources, server, material.lock, listener)
            yield Bench(options, directory.path, server, copies, listener)


def private_server(material: TrialMaterial, directory: Path, options: Sequence[str]) -> PrivateServer:
    """The private server, not yet started, in a directory below this one. Raises TrialError when no program is known."""
    if material.binaries is None:
        raise TrialError("no server program is known: name one (--server PATH).")
    return PrivateServer(material.binaries, [*OPTIONS, *material.settings, *options], _server_directory(directory))


def _server_directory(directory: Path) -> Path:
    """Below the directory that is reaped; a short name, because it is part of the socket's path."""
    path = directory / "s"
    path.mkdir()
    return path


def _wait_for_death(expect_alive: Callable[[], None]) -> None:
    """Of a server that takes nobody in: the kernel closes the sockets of one that is killed before it is gone."""
    end = time.monotonic() + DYING_SECONDS
    while time.monotonic() < end:
        time.sleep(0.05)
        expect_alive()


@contextlib.contextmanager
def as_trial_errors(expect_alive: Callable[[], None] = lambda: None) -> Iterator[None]:
    """What a private server refuses, or its disk, as a TrialError.

    `expect_alive` is asked before any other error is told: of a server that died, its death is told instead.
    """
    try:
        yield
    except TrialError:
        raise
    except Exception as error:
        expect_alive()
        if isinstance(error, driver().error):
            if error.args[0] in GONE:
                _wait_for_death(expect_alive)
            if says_full(str(error.args[-1])):
                raise TrialError(full(tempfile.gettempdir())) from error
            refused = f"the private server refused: {error.args[-1]} (error {error.args[0]}). {limits_named(str(error.args[-1]))}"
            raise TrialError(refused.rstrip()) from error
        if isinstance(error, OSError):
            raise TrialError(told(error)) from error
        raise
