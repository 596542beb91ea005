"""What a replay of the user's own statements proved, kept for the rules whose changes it tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from myisam_advisor.cli.kept_trials import Keeping, keep
from myisam_advisor.proofs.recordings import UNKNOWN_RECORDING, Recording

if TYPE_CHECKING:
    from myisam_advisor.proofs.proof import Kind, Proof


class Compared(Protocol):
    """A variant held against the settings as they are: of all statements, or of one kind of them."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def times(self) -> float | None:
        """How many times as fast; None where it was not measured."""

    @property
    def low(self) -> float | None:
        """The lower end of the interval; None where there is none."""

    @property
    def high(self) -> float | None:
        """The upper end."""

    @property
    def verdict(self) -> str:
        """A trial's word."""


class Tried(Compared, Protocol):
    """A variant: the rules whose change it is, and what was run and set for it."""

    @property
    def rules(self) -> Sequence[str]:
        """The rules' ids."""

    @property
    def statements(self) -> Sequence[str]:
        """SQL and lines of my.cnf."""


class KindOfStatement(Protocol):
    """One kind of statement: its share of the time of all, and what came of it under each variant."""

    @property
    def fingerprint(self) -> str:
        """The statement without its values."""

    @property
    def share(self) -> float:
        """From 0 to 1."""

    @property
    def variants(self) -> Sequence[Compared]:
        """What was tried."""


class NotReplayed(Protocol):
    """A kind of statement that no run sent."""

    @property
    def recorded_share(self) -> float:
        """Its share of the recording's time."""


class PartReplayed(Protocol):
    """Which part of the recording was replayed."""

    @property
    def proves(self) -> bool:
        """Whether it speaks for the whole."""

    @property
    def tells_times(self) -> bool:
        """Whether the recording says how long statements took."""

    @property
    def absent(self) -> Sequence[NotReplayed]:
        """What is not in it."""


class Replayed(Protocol):
    """A whole replay: `tables` are the names of those that its statements touch."""

    @property
    def variants(self) -> Sequence[Tried]:
        """What was tried."""

    @property
    def kinds(self) -> Sequence[KindOfStatement]:
        """Kinds of statements."""

    @property
    def server(self) -> str:
        """The product."""

    @property
    def version(self) -> str:
        """Its version."""

    @property
    def tables(self) -> Sequence[str]:
        """Names as findings have them."""

    @property
    def taken_at(self) -> float:
        """Seconds since 1970."""


def keep_replay(
    result: Replayed,
    server: str,
    statements_per_second: float | None,
    table_bytes: Mapping[str, int],
    window: PartReplayed | None = None,
    recording: Recording = UNKNOWN_RECORDING,
) -> Keeping:
    """Keep what the replay says of each rule; `server` is the watched one's key, the rate that of the recording.

    Where kinds of statements with weight were not replayed (`window`; None: all were), nobody knows what a change does to them, and so
    nothing is proved; nor where the recording does not tell what has weight, or is too old or of another server. What cannot be kept is told, and stops nothing.
    """
    from myisam_advisor.proofs.store import own_store

    if window is not None and not window.proves:
        return Keeping((), f"{_why_nothing(window)}, and so nothing is proved: give it more time (--budget).")
    why_not = recording.why_no_proof(result.server, result.version, result.taken_at)
    if why_not:
        return Keeping((), why_not)
    proofs = list(proofs_of_replay(result, server, statements_per_second, table_bytes, recording))
    unmeasured = _unmeasured(result.variants, recording)
    if not proofs:
        return Keeping((), unmeasured or "no rule's change was measured with an interval.")
    keeping = keep(proofs, own_store())
    return replace(keeping, why_not=" ".join(filter(None, (keeping.why_not, unmeasured))))


def _unmeasured(variants: Sequence[Tried], recording: Recording) -> str:
    """Which rules' changes the replay of this recording does not show, and what would; empty where it shows all."""
    names = [one.name for one in variants if len(one.rules) == 1 and not recording.measures(one.statements)]
    if not names:
        return ""
    return (
        f"{', '.join(names)}: the recording knows whole seconds only, so that writes were replayed one by one, and what the change does to writes at the same time "
        "was not measured: record by the probe (--from probe)."
    )


def _why_nothing(window: PartReplayed) -> str:
    if not window.tells_times:
        return "a part of the recording was replayed, which tells no times, so that what has weight in the rest is not known"
    share = sum(one.recorded_share for one in window.absent)
    return f"statements with {share:.0%} of the recording's time were not replayed"


def proofs_of_replay(
    result: Replayed,
    server: str,
    statements_per_second: float | None,
    table_bytes: Mapping[str, int],
    recording: Recording = UNKNOWN_RECORDING,
) -> Iterable[Proof]:
    """One for each variant that is one rule's change alone, and has an interval: several together prove none of them."""
    from myisam_advisor.proofs.proof import REPLAY, Load, Proof

    for variant in result.variants:
        if len(variant.rules) != 1 or variant.times is None or variant.low is None or variant.high is None:
            continue
        if not recording.measures(variant.statements):
            continue
        yield Proof(
            rule_id=variant.rules[0],
            experiment=REPLAY,
            change=tuple(variant.statements),
            objects=tuple(result.tables),
            times=variant.times,
            low=variant.low,
            high=variant.high,
            verdict=variant.verdict,
            kinds=tuple(_kinds(result.kinds, variant.name)),
            server_product=result.server,
            server_version=result.version,
            taken_at=result.taken_at,
            workload=Load(statements_per_second, dict(table_bytes)),
            server=server,
            recorded_at=recording.began_at,
        )


def _kinds(kinds: Sequence[KindOfStatement], variant: str) -> Iterable[Kind]:
    from myisam_advisor.proofs.proof import Kind

    for kind in kinds:
        for one in kind.variants:
            if one.name == variant and one.times is not None and one.low is not None and one.high is not None:
                yield Kind(kind.fingerprint, kind.share, one.times, one.low, one.high, one.verdict)
