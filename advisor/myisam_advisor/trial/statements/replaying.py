"""One replay from begin to end: the private servers, the copies, the rounds, the result. Never as root: see replay_task.py."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.texts.templates import object_name
from myisam_advisor.trial.comparison import WORTH_IT, Comparison, compare_pairs
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.machine import SERVER_DISK_BYTES, expect_room, machine_name
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.private.unprivileged import expect_not_root
from myisam_advisor.trial.rounds import FEWEST_ROUNDS, Limits, Rounds, doubted, run_rounds
from myisam_advisor.trial.statements.replay_result import (
    Difference,
    Fidelity,
    KindResult,
    KindVariant,
    ReplayResult,
    TableStart,
    VariantResult,
)
from myisam_advisor.trial.statements.schedule import Schedule, write_schedule
from myisam_advisor.trial.statements.sender import MAXIMUM_SPEED, send
from myisam_advisor.trial.statements.stages import (
    ACCOUNT,
    RefusedError,
    Stage,
    StagedTable,
    can_be_set,
    changed,
    make_account,
    stage_of,
)
from myisam_advisor.trial.statements.survey import Judging, Survey, TableName, survey
from myisam_advisor.trial.statements.tally import Run, measured, tally
from myisam_advisor.trial.statements.variants import BASELINE, Variant, together
from myisam_advisor.trial.tables.copying import copy_tables
from myisam_advisor.trial.tables.sources import DATA, INDEX, Source
from myisam_advisor.trial.tables.table_lock import Lock
from myisam_advisor.trial.trial import SETTINGS as EXPERIMENT_SETTINGS
from myisam_advisor.trial.trial import told_of
from myisam_advisor.workload.events import Event
from myisam_exporter.kernel.process import TICKS_PER_SECOND, ProcessSample, read_process
from myisam_exporter.server.version_number import PRODUCT_NAMES

# Threads of closed connections are kept, as in every trial; a connection for each of the sender's threads, and our own.
OPTIONS = (
    "--thread-cache-size=200",
    "--max-connections=300",
    "--loose-performance-schema=OFF",
    "--myisam-recover-options=OFF",
)
# What of the watched server's settings decides how statements run on MyISAM tables, and what they mean.
SETTINGS = (
    *EXPERIMENT_SETTINGS, "key_buffer_size", "key_cache_segments", "key_cache_age_threshold", "key_cache_division_limit", "sql_mode",
    "sort_buffer_size", "join_buffer_size", "tmp_table_size", "max_heap_table_size", "max_allowed_packet", "table_open_cache",
    "query_cache_size", "query_cache_type", "myisam_use_mmap", "myisam_sort_buffer_size", "ft_min_word_len", "ft_max_word_len",
    "low_priority_updates", "group_concat_max_len",
)  # fmt: skip
KIND_SHARE = 0.05
# Beyond what the order of neighbours' writes does to rows: a replay is to return 99.9 % of the rows that were recorded.
OTHER_ANSWERS_SHARE = 0.001
MAXIMUM_DIFFERENCES = 20
SHORTEST_LIMIT_SECONDS, LONGEST_SLOWDOWN = 120.0, 20.0
ROOM_FOR_DATA = 2
# Of the time, for changes alone where those that pay are tried together afterwards.
ALONE_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Material:
    """What a replay is about.

    `events` reads the workload from its beginning, as often as it is called; `missing` says of tables that were not copied why not;
    `changed_seconds` for how long after the recording's beginning a table was still written, where it was.
    """

    binaries: ServerBinaries
    settings: Sequence[str]
    events: Callable[[], Iterator[Event]]
    sources: Sequence[Source]
    missing: Mapping[TableName, str]
    changed_seconds: Mapping[TableName, float] = field(default_factory=dict)
    lock: Lock | None = field(default=None, repr=False)
    described: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How to replay: at which speed, for how long in all (None: as long as the rounds take), and how many rounds at most."""

    speed: str = MAXIMUM_SPEED
    budget_seconds: float | None = 300.0
    maximum_rounds: int | None = None


def run_replay(
    material: Material, variants: Sequence[Variant], options: ReplayOptions, listener: Listener
) -> ReplayResult:
    """Replay under each variant. Raises TrialError for whatever stops it, and for root; nothing is left behind."""
    expect_not_root()
    with ReapedDirectory() as directory, ExitStack() as stack:
        return _Replay(material, options, listener, directory.path, stack).run(variants)


class _Replay:
    def __init__(
        self, material: Material, options: ReplayOptions, listener: Listener, folder: Path, stack: ExitStack
    ) -> None:
        self._material, self._options, self._listener = material, options, listener
        self._folder, self._stack = folder, stack
        self._problems: dict[str, str] = {}
        self._stages = 0
        self._judging = Judging()

    def run(self, variants: Sequence[Variant]) -> ReplayResult:
        material = self._material
        self._listener.doing("reading the workload")
        found = survey(material.events(), self._judging)
        copied = sum(source.counted_bytes for source in material.sources)
        servers = 1 + sum(bool(variant.statements or variant.options) for variant in variants) + (len(variants) > 1)
        expect_room(self._folder, 2 * servers * copied + (servers - 1) * SERVER_DISK_BYTES, ROOM_FOR_DATA * copied)
        self._listener.doing("starting a private server")
        server = self._stack.enter_context(
            PrivateServer(material.binaries, [*OPTIONS, *material.settings], self._new_folder())
        )
        try:
            return self._measured(server, found, variants)
        except TrialError:
            raise
        except Exception as error:
            server.expect_alive()
            told = told_of(error)
            if told is None:
                raise
            raise told from error

    def _measured(self, server: PrivateServer, found: Survey, variants: Sequence[Variant]) -> ReplayResult:
        material = self._material
        copy_tables(material.sources, server, material.lock, self._listener)
        databases = sorted({source.schema for source in material.sources})
        make_account(server, databases)
        self._listener.doing("preparing the statements")
        schedule = self._schedule(found, frozenset(databases))
        self._tables = [
            StagedTable(one.schema, one.table, one.folder, one.stem, (one.schema, one.table) in schedule.written)
            for one in material.sources
        ]
        template = self._template(server, variants)
        base = Stage(server, self._tables, server.directory)
        base.keep()
        self._limit = max(SHORTEST_LIMIT_SECONDS, found.seconds * LONGEST_SLOWDOWN)
        # Warm by it are the page cache and the server, and known is how long a run takes.
        self._listener.doing("a first run, to warm up")
        first = self._run_once(schedule, base)
        ways: dict[str, Callable[[], Run]] = {BASELINE: partial(self._run_once, schedule, base)}
        for variant in variants:
            way = self._way(variant, schedule, base, template)
            if way is not None:
                ways[variant.name] = way
        if len(ways) == 1:
            said = "; ".join(f"{name}: {problem.rstrip('.')}" for name, problem in self._problems.items())
            raise TrialError(f"nothing can be tried, because the private server refuses it: {said}.")
        share = ALONE_SHARE if len(variants) > 1 else 1.0
        runs = self._rounds(ways, share)
        results = [self._result(variant, schedule, runs) for variant in variants]
        paying = [one for one, result in zip(variants, results, strict=True) if result.verdict == WORTH_IT]
        if len(paying) > 1:
            both = together(paying)
            way = self._way(both, schedule, base, template)
            if way is not None:
                later = self._rounds({BASELINE: ways[BASELINE], both.name: way}, 1 - ALONE_SHARE)
                results.append(self._result(both, schedule, later))
                kinds_of = [(runs, list(variants)), (later, [both])]
            else:
                results.append(self._result(both, schedule, runs))
                kinds_of = [(runs, list(variants))]
        else:
            kinds_of = [(runs, list(variants))]
        baseline = runs[BASELINE]
        return ReplayResult(
            tuple(results),
            tuple(_kinds(schedule, [(rounds, self._without_problems(those)) for rounds, those in kinds_of])),
            self._fidelity(found, schedule, first, baseline),
            measured(baseline),
            self._options.speed,
            PRODUCT_NAMES[material.binaries.flavour],
            str(server.execute("SELECT @@version")[0][0]),
            tuple(object_name(one.schema, one.table) for one in material.sources),
            tuple(material.settings),
            material.described,
            machine_name(),
            time.time(),
            runs.course,
        )

    def _new_folder(self) -> Path:
        """A short name, because it is part of the socket's path."""
        folder = self._folder / f"s{self._stages}"
        self._stages += 1
        if self._stages == 1:
            folder.mkdir()
        return folder

    def _schedule(self, found: Survey, databases: frozenset[str]) -> Schedule:
        copied = {(source.schema, source.table) for source in self._material.sources}
        missing = self._material.missing

        def why(table: TableName) -> str:
            return "" if table in copied else missing.get(table, f"{object_name(*table)} was not copied")

        schedule = write_schedule(
            self._material.events(), found, self._judging, self._folder / "statements", databases, why
        )
        if not schedule.total:
            reasons = sorted(schedule.left_out.items(), key=lambda one: -one[1])[:3]
            said = "; ".join(f"{count} x {reason}" for reason, count in reasons)
            raise TrialError(
                f"no statement of the workload can be replayed: {said}. A replay needs MyISAM tables that are still there."
            )
        return schedule

    def _template(self, server: PrivateServer, variants: Sequence[Variant]) -> Path:
        """The data of a stopped server, to begin others from; the server goes on. Only where a variant needs one of its own."""
        from myisam_advisor.trial.statements.stages import copy_directory

        template = self._folder / "template"
        live = {variant.name for variant in variants if self._is_live(server, variant)}
        if len(variants) > len(live):
            server.stop()
            copy_directory(server.data_directory, template)
            server.restart()
        return template

    def _is_live(self, server: PrivateServer, variant: Variant) -> bool:
        """Whether SET GLOBAL is all that it takes. What is refused is remembered as the variant's problem."""
        if variant.statements or variant.options:
            return False
        try:
            return all(can_be_set(server, setting) for setting in variant.settings)
        except RefusedError as error:
            self._problems[variant.name] = str(error)
            return True

    def _way(self, variant: Variant, schedule: Schedule, base: Stage, template: Path) -> Callable[[], Run] | None:
        """How to run the variant once; None, and a problem, where a server refuses it."""
        if variant.name in self._problems:
            return None
        self._listener.doing(f"preparing: {variant.name}")
        if self._is_live(base.server, variant):
            if variant.name in self._problems:
                return None
            return partial(self._run_once, schedule, base, lambda: changed(base.server, variant.settings))
        live = [one for one in variant.settings if self._is_live(base.server, Variant(variant.name, (), (one,)))]
        at_start = [one.option for one in variant.settings if one not in live]
        own = Variant(variant.name, variant.rules, tuple(live), (*variant.options, *at_start), variant.statements)
        material = self._material
        options = [*OPTIONS, *material.settings]
        try:
            stage = self._stack.enter_context(
                stage_of(own, template, material.binaries, options, self._tables, self._new_folder())
            )
            stage.keep()
        except RefusedError as error:
            self._problems[variant.name] = str(error)
            return None
        return partial(self._run_once, schedule, stage)

    def _run_once(
        self, schedule: Schedule, stage: Stage, set_up: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> Run:
        server = stage.server
        with set_up():
            stage.restore()
            before = _cpu_seconds(server)
            sent = send(
                server,
                schedule.folder,
                schedule.statements,
                schedule.counters,
                ACCOUNT,
                self._options.speed,
                self._limit,
            )
            return tally(schedule, sent, _cpu_seconds(server) - before)

    def _rounds(self, ways: Mapping[str, Callable[[], Run]], share: float) -> Rounds[Run]:
        """All variants in turn until each is clear, within this share of the budget."""
        budget = self._options.budget_seconds
        limits = Limits(FEWEST_ROUNDS, self._options.maximum_rounds, None if budget is None else budget * share)
        began = time.monotonic()

        def ran() -> None:
            self._listener.ran()
            if limits.budget_seconds is not None:
                self._listener.left(max(limits.budget_seconds - (time.monotonic() - began), 0.0))

        return run_rounds(ways, lambda run: run.rate(self._options.speed), limits, self._listener.doing, ran=ran)

    def _without_problems(self, variants: Sequence[Variant]) -> list[Variant]:
        return [one for one in variants if one.name not in self._problems]

    def _result(self, variant: Variant, schedule: Schedule, runs: Rounds[Run]) -> VariantResult:
        otherwise = (
            answered_otherwise(schedule.kinds, runs[BASELINE], runs[variant.name]) if variant.name in runs else ""
        )
        if otherwise:
            self._problems[variant.name] = otherwise
        if variant.name in self._problems:
            return VariantResult(variant.name, variant.rules, variant.tried, problem=self._problems[variant.name])
        compared = _compare(variant.name, runs, lambda run: run.rate(self._options.speed))
        return VariantResult(
            variant.name, variant.rules, variant.tried, compared.ratio, compared.low, compared.high, compared.verdict,
            measured(runs[variant.name]),
        )  # fmt: skip

    def _fidelity(self, found: Survey, schedule: Schedule, first: Run, baseline: Sequence[Run]) -> Fidelity:
        sender = sum(run.sender_cpu_seconds for run in baseline)
        whole = sender + sum(run.server_cpu_seconds for run in baseline)
        share = sender / whole if whole else 0.0
        return Fidelity(
            found.statements,
            schedule.total,
            dict(sorted(schedule.left_out.items(), key=lambda one: -one[1])[:MAXIMUM_DIFFERENCES]),
            first.rows_equal,
            first.rows_differ,
            first.rows_unknown,
            _differences(schedule, first),
            tuple(self._start(source, found) for source in self._material.sources),
            max(run.lost_turns for run in baseline),
            schedule.crowded,
            found.seconds,
            measured(baseline).seconds,
            share,
            tuple(self._notes(found)),
        )

    def _start(self, source: Source, found: Survey) -> TableStart:
        name = (source.schema, source.table)
        use = found.tables.get(name)
        return TableStart(
            object_name(*name),
            source.counted_bytes,
            use.writes if use else 0,
            self._material.changed_seconds.get(name),
        )

    def _notes(self, found: Survey) -> Iterator[str]:
        if found.prepared:
            yield f"{found.prepared} statements were prepared ones, and are sent as text."


def _cpu_seconds(server: PrivateServer) -> float:
    server.expect_alive()
    sample = read_process(Path("/proc") / str(server.pid), server.pid)
    if not isinstance(sample, ProcessSample):
        raise TrialError(f"the private server is gone: {sample.reason}.")
    return (sample.user_ticks + sample.system_ticks) / TICKS_PER_SECOND


def _compare(name: str, runs: Rounds[Run], rate: Callable[[Run], float]) -> Comparison:
    """Hold a variant's rates against the baseline's, round by round."""
    pairs = [(rate(before), rate(after)) for before, after in zip(runs[BASELINE], runs[name], strict=True)]
    return doubted(compare_pairs(name, pairs), runs.course)


def answered_otherwise(kinds: Sequence[str], baseline: Sequence[Run], changed: Sequence[Run]) -> str:
    """How a variant answers otherwise than the settings as they are; empty where it does not, but for what neighbours' order explains.

    A statement that fails is soon done: the speed of such a variant says nothing.
    """
    before, after = (sum((run.differences for run in runs), Counter()) for runs in (baseline, changed))
    more = after - before
    answered = sum(run.answered for run in changed)
    if sum(more.values()) <= OTHER_ANSWERS_SHARE * answered:
        return ""
    (kind, error), _ = more.most_common(1)[0]
    what = f"fails with error {error}" if error else "returns other rows"
    share = sum(more.values()) / max(answered, 1)
    return f"{share:.1%} of the statements are answered otherwise under it, so that its speed says nothing: {kinds[kind]} {what}"


def _kinds(schedule: Schedule, parts: Sequence[tuple[Rounds[Run], Sequence[Variant]]]) -> Iterator[KindResult]:
    """The kinds that take a twentieth of the time or more, those that got worse first."""
    baseline = parts[0][0][BASELINE]
    spent = {kind: sum(run.kinds[kind].nanoseconds for run in baseline) for kind in range(len(schedule.kinds))}
    total = sum(spent.values()) or 1
    found = []
    for kind, nanoseconds in spent.items():
        if nanoseconds < KIND_SHARE * total:
            continue
        compared = [
            _kind_variant(kind, variant.name, runs)
            for runs, variants in parts
            for variant in variants
            if variant.name in runs
        ]
        count = sum(run.kinds[kind].statements for run in baseline)
        found.append(
            KindResult(
                schedule.kinds[kind],
                nanoseconds / total,
                count // len(baseline),
                nanoseconds / count / 1e6,
                tuple(compared),
            )
        )
    yield from sorted(found, key=_worst_first)


def _worst_first(kind: KindResult) -> tuple[float, float]:
    worst = min((one.times for one in kind.variants if one.verdict == "worse"), default=1.0)
    return (worst, -kind.share)


def _kind_variant(kind: int, name: str, runs: Rounds[Run]) -> KindVariant:
    compared = _compare(name, runs, lambda run: run.kind_rate(kind))
    return KindVariant(name, compared.ratio, compared.low, compared.high, compared.verdict)


def _differences(schedule: Schedule, run: Run) -> tuple[Difference, ...]:
    found = []
    for (kind, error), count in run.differences.most_common(MAXIMUM_DIFFERENCES):
        recorded, returned = run.examples.get((kind, error), (None, None))
        found.append(Difference(schedule.kinds[kind], error, count, recorded, returned))
    return tuple(found)


def changed_since(source: Source, began_at_microseconds: int | None) -> float | None:
    """For how long after the recording's beginning the table was still written; None where it was not, and so is as it was then."""
    if began_at_microseconds is None:
        return None
    latest = max(source.file(ending).state().st_mtime_ns for ending in (DATA, INDEX)) / 1e9
    since = latest - began_at_microseconds / 1e6
    return since if since > 0 else None


def replay_settings(variables: Mapping[str, str]) -> list[str]:
    """The watched server's settings that matter, as words for the private one's command line."""
    words = [f"--{name.replace('_', '-')}={variables[name]}" for name in SETTINGS if variables.get(name)]
    return [*words, *(["--sql-mode="] if variables.get("sql_mode") == "" else [])]
