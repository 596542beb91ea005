"""Where a command's facts come from: a facts file, a running daemon's history, or the server itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from myisam_advisor.cli.options import was_given
from myisam_exporter.errors import UserError

if TYPE_CHECKING:
    from myisam_advisor.catalogue.site import Site
    from myisam_advisor.cli.options import ServerOptions, SourceOptions
    from myisam_advisor.history.reader import RecentLook
    from myisam_advisor.judging.findings import Judgement
    from myisam_advisor.judging.past import Past
    from myisam_advisor.proofs.store import KeptProofs
    from myisam_advisor.remedies.refused_conversions import LookForRefusals, Refusals
    from myisam_exporter.facts.columns import TableName
    from myisam_exporter.look.fact_set import FactSet

Told = TypeVar("Told")


def judged(
    source: SourceOptions,
    site: Site,
    interval: float,
    history_file: Path | None,
    *,
    is_live: bool = False,
    for_trial: bool = False,
) -> tuple[Judgement, FactSet]:
    """What the site's rules say, and the facts: a running daemon's last interval where there is one, and neither one nor a look of our own was asked for.

    `for_trial`: what is found is to be tried, whatever was proved before.
    """
    from myisam_advisor.judging.judge import judge
    from myisam_advisor.judging.prepared import prepared

    recorded = None if source.facts_file or is_live else recorded_look(source.server, history_file)
    facts = recorded.facts if recorded else gather(source, interval)
    ready = prepared(facts, site, kept_proofs(source))
    refusals = None if source.facts_file else _refusals(source.server)
    judgement = judge(ready, for_trial=for_trial, refusals=refusals)
    return (recorded.dated(judgement) if recorded is not None else judgement), ready.judged


def _refusals(server: ServerOptions) -> LookForRefusals:
    """What tells which tables the server refuses to convert: it is asked only where a finding would give the ALTER."""

    def look(names: Sequence[TableName]) -> Refusals:
        from myisam_advisor.migrate.refused_here import refused_here
        from myisam_exporter.server.session import Session

        try:
            with Session(server.target(), server.timeout_seconds) as session:
                return refused_here(session, names, Path("/proc"))
        except UserError:
            return {}

    return look


def kept_proofs(source: SourceOptions) -> KeptProofs:
    """What was proved on this machine's servers; nothing for the facts of a file, which may be of any other."""
    from myisam_advisor.proofs.store import NO_PROOFS, of_all, proof_stores

    return NO_PROOFS if source.facts_file else of_all(proof_stores())


def recorded_look(server: ServerOptions, history_file: Path | None) -> RecentLook | None:
    """What a running daemon recorded of this server; None where an interval was asked for, or nothing fits."""
    paths = history_paths(history_file)
    if was_given("interval") or not paths:
        return None
    from myisam_advisor.history.reader import recent_look
    from myisam_exporter.server.session import Session

    with Session(server.target(), server.timeout_seconds) as session:
        return first_told(paths, history_file, lambda path: recent_look(path, session))


def history_paths(history_file: Path | None) -> list[Path]:
    """The history that was named, or those that a daemon may keep here."""
    from myisam_advisor.history.paths import readable_histories

    return [history_file] if history_file else readable_histories()


def first_told(paths: Iterable[Path], history_file: Path | None, ask: Callable[[Path], Told | None]) -> Told | None:
    """What the first of these histories tells that has it. Raises UserError of one that was named: another that is damaged is no reason to fail."""
    for path in paths:
        try:
            told = ask(path)
        except UserError:
            if history_file:
                raise
            continue
        if told is not None:
            return told
    return None


def remembered_past(
    source: SourceOptions, site: Site, judgement: Judgement, facts: FactSet, history_file: Path | None
) -> Past | None:
    """What a daemon's history knows of this server's last day; None where there is none, or none that can be read.

    A look of our own comes behind the daemon's: it says what holds no more.
    """
    import time

    paths = [] if source.facts_file else history_paths(history_file)
    if not paths:
        return None
    from myisam_advisor.history.format import identity_of
    from myisam_advisor.history.reader import Seen, past_of_server
    from myisam_advisor.judging.past import named, silence_of, worth_remembering

    now = time.time()
    server, started_at = identity_of(facts, now, time.monotonic())
    uptime = None if started_at is None else now - started_at
    interval = facts.interval_seconds
    found = worth_remembering(judgement, interval)
    seen = None if facts.origin else Seen(found, silence_of(judgement, interval), uptime)
    past = first_told(paths, history_file, lambda path: past_of_server(path, server, now, seen))
    return None if past is None else named(past, site)


def gather(source: SourceOptions, interval: float) -> FactSet:
    """The facts of the file or the server that the options name."""
    if source.facts_file:
        from myisam_advisor.factbase.file import read_facts_file

        return read_facts_file(source.facts_file)
    from myisam_advisor.cli.progress import observe_with_progress
    from myisam_exporter.look.live import collect_facts

    server = source.server
    return collect_facts(
        server.target(),
        interval,
        server.timeout_seconds,
        server.key_caches,
        server.page_cache_seconds,
        observe_with_progress,
    )
