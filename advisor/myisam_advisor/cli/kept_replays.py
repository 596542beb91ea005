"""What a replay of the user's own statements proved, kept for the rules whose changes it tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from myisam_advisor.cli.kept_trials import Keeping, keep
from myisam_advisor.proofs.changes import changes_of
from myisam_advisor.proofs.recordings import DIFFERING_SHARE, UNKNOWN_RECORDING, Recording
from myisam_advisor.texts.templates import percent

if TYPE_CHECKING:
    from myisam_advisor.proofs.proof import Kind, Proof

# A setting of the whole server is proved by statements that have at least so much of the recorded time.
SPEAKING_SHARE = 0.5
NONE_KNOWN: Mapping[str, str] = MappingProxyType({})


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

    @property
    def left_out(self) -> Sequence[NotReplayed]:
        """What is in it, and could not be sent."""

    @property
    def sent_share(self) -> float:
        """From 0 to 1: how much of its time was sent."""


class LikeTheRecording(Protocol):
    """How much like the recording the replay was."""

    @property
    def window(self) -> PartReplayed:
        """Which part of it was replayed."""

    @property
    def differing_share(self) -> float:
        """From 0 to 1: what was answered otherwise than recorded."""

    @property
    def sender_cpu_share(self) -> float:
        """From 0 to 1: of the time of the processors, what the sender took."""

    @property
    def lost_turns(self) -> int:
        """How many writes waited in vain for those before them."""


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
    fidelity: LikeTheRecording | None = None,
    recording: Recording = UNKNOWN_RECORDING,
    variables: Mapping[str, str] = NONE_KNOWN,
    structures: Mapping[str, str] = NONE_KNOWN,
) -> Keeping:
    """Keep what the replay says of each rule; `server` is the watched one's key, the rate, the variables and the structures of its tables (by their names) are its own.

    Where kinds of statements with weight were not replayed, or many were answered otherwise (`fidelity`; None: it was all like the recording), nobody knows what a
    change does to them, and so nothing is proved; nor where the recording does not tell what has weight, or is too old or of another server. What cannot be kept
    is told, and stops nothing.
    """
    from myisam_advisor.proofs.store import own_store

    why_not = (_why_nothing(fidelity) if fidelity else "") or recording.why_no_proof(
        result.server, result.version, result.taken_at
    )
    if why_not:
        return Keeping((), why_not)
    untold = {one.name: why for one in result.variants if (why := _why_not_told(one, fidelity))}
    told = [one for one in result.variants if one.name not in untold]
    proofs = [
        replace(one, before=before_of(one.change, variables), structures=_structures_of(one.objects, structures))
        for one in proofs_of_replay(result, server, statements_per_second, table_bytes, recording, frozenset(untold))
    ]
    further = " ".join(filter(None, (*_in_words(untold), _unmeasured(told, recording))))
    if not proofs:
        return Keeping((), further or "no rule's change was measured with an interval.")
    keeping = keep(proofs, own_store())
    return replace(keeping, why_not=" ".join(filter(None, (keeping.why_not, further))))


def before_of(change: Iterable[str], variables: Mapping[str, str]) -> Mapping[str, str]:
    """The variables of a change as they are now; a named key cache has none."""
    return {name: variables[name] for name in changes_of(change) if name in variables}


def _structures_of(tables: Sequence[str], structures: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(structures.get(name, "") for name in tables) if structures else ()


def _why_not_told(variant: Tried, fidelity: LikeTheRecording | None) -> str:
    """Why this replay says nothing of the variant's change; empty where it does, and where there is nothing to be kept anyway."""
    from myisam_advisor.proofs.proof import NO_DIFFERENCE
    from myisam_advisor.trial.statements.sender import BUSY_SENDER_SHARE

    if fidelity is None or len(variant.rules) != 1 or variant.low is None:
        return ""
    share = fidelity.window.sent_share
    if share < SPEAKING_SHARE and _is_of_the_server(variant):
        return f"statements with {percent(share)} of the recorded time were sent, and those say nothing of a setting of the whole server: {percent(SPEAKING_SHARE)} do"
    if fidelity.sender_cpu_share > BUSY_SENDER_SHARE and variant.verdict == NO_DIFFERENCE:
        return f"the sender took {percent(fidelity.sender_cpu_share)} of the CPU time, and may have hidden a difference (up to {percent(BUSY_SENDER_SHARE)} it does not)"
    if fidelity.lost_turns and variant.verdict == NO_DIFFERENCE:
        return f"runs stood still for seconds, because writes waited in vain for their turn ({fidelity.lost_turns}), and that may have hidden a difference"
    return ""


def _is_of_the_server(variant: Tried) -> bool:
    """Whether it changes a variable, and not a table alone."""
    return any(" " not in name for name in changes_of(variant.statements))


def _in_words(untold: Mapping[str, str]) -> Iterable[str]:
    for why in dict.fromkeys(untold.values()):
        yield f"{', '.join(name for name, its in untold.items() if its == why)}: {why}."


def _unmeasured(variants: Sequence[Tried], recording: Recording) -> str:
    """Which rules' changes the replay of this recording does not show, and what would; empty where it shows all."""
    names = [one.name for one in variants if len(one.rules) == 1 and not recording.measures(one.statements)]
    if not names:
        return ""
    return (
        f"{', '.join(names)}: the recording does not know to the microsecond when statements began and ended, so that writes were replayed one by one, "
        "and what the change does to writes at the same time was not measured: record by the probe (--from probe)."
    )


def _why_nothing(fidelity: LikeTheRecording) -> str:
    """Why the replay says nothing of this server, whatever was tried; empty where it does."""
    window = fidelity.window
    if window.left_out:
        share = sum(one.recorded_share for one in window.left_out)
        what = f"statements with {percent(share)} of the recording's {'time' if window.tells_times else 'number (it has no times to weigh them by)'}"
        return f"{what} could not be sent, and so nothing is proved: see what was left out, and why."
    if not window.proves:
        told = "only part of the recording was replayed, and it has no times, so the weight of the rest is not known"
        if window.tells_times:
            share = sum(one.recorded_share for one in window.absent)
            told = f"statements with {percent(share)} of the recording's time were not replayed"
        return f"{told}, and so nothing is proved: give it more time (--budget)."
    if fidelity.differing_share > DIFFERING_SHARE:
        return (
            f"statements with {percent(fidelity.differing_share)} of the weight were not answered as recorded ({percent(DIFFERING_SHARE)} at most), "
            "and so nothing is proved: copy sooner after the recording, or at a quiet time (myisam-advisor prove does both at once)."
        )
    return ""


def proofs_of_replay(
    result: Replayed,
    server: str,
    statements_per_second: float | None,
    table_bytes: Mapping[str, int],
    recording: Recording = UNKNOWN_RECORDING,
    untold: Set[str] = frozenset(),
) -> Iterable[Proof]:
    """One for each variant that is one rule's change alone, and has an interval: several together prove none of them; none of the variants that are `untold`."""
    from myisam_advisor.proofs.proof import REPLAY, Proof, ProvedLoad

    for variant in result.variants:
        if len(variant.rules) != 1 or variant.times is None or variant.low is None or variant.high is None:
            continue
        if variant.name in untold or not recording.measures(variant.statements):
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
            workload=ProvedLoad(statements_per_second, dict(table_bytes)),
            server=server,
            recorded_at=recording.began_at,
        )


def _kinds(kinds: Sequence[KindOfStatement], variant: str) -> Iterable[Kind]:
    from myisam_advisor.proofs.proof import Kind

    for kind in kinds:
        for one in kind.variants:
            if one.name == variant and one.times is not None and one.low is not None and one.high is not None:
                yield Kind(kind.fingerprint, kind.share, one.times, one.low, one.high, one.verdict)
