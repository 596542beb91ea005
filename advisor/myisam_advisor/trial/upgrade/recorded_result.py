"""What the recorded statements came to under the present version and under the newer one: by kind of statement, never with a value."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.trial.rounds import Course
from myisam_advisor.trial.statements.replay_result import KindResult, KindVariant
from myisam_exporter.declaring.lean_dataclasses import dataclass

# What is other under the newer version.
ROW_COUNT, ROW_VALUES, ROW_ORDER = "number of rows", "rows", "order of rows"
DIFFERENCES = (ROW_COUNT, ROW_VALUES, ROW_ORDER)


@dataclass(frozen=True, slots=True)
class RefusedKind:
    """A kind of statement that one version alone refuses, or each with an error of its own.

    `code` and `words` are those of the version that refuses it; of the words those are kept that are the server's or names, and `?` stands for the others.
    `other_code` is with what the other version ends it (0: it takes it). `taken_under_present_mode` says whether the newer version takes it
    under the sql_mode of now; None where that was not asked, as the mode is the same.
    """

    fingerprint: str
    statements: int
    code: int
    words: str
    other_code: int
    taken_under_present_mode: bool | None


@dataclass(frozen=True, slots=True)
class OtherResult:
    """A kind of statement that both versions take, and answer otherwise: in how many of the statements that were compared, and one of them as an example.

    `what` is one of DIFFERENCES; rows are those that come or are changed, None where their number is the same.
    """

    fingerprint: str
    what: str
    statements: int
    compared: int
    present_rows: int | None
    newer_rows: int | None
    note: str


@dataclass(frozen=True, slots=True)
class ServerSetting:
    """A setting that decides what statements mean: its value under each version. `is_carried`: it was set on the watched server, and goes with it."""

    name: str
    present: str
    newer: str
    is_carried: bool


@dataclass(frozen=True, slots=True)
class RecordedUpgrade:
    """The recorded statements under both versions.

    `sent` were answered by both, `not_reached` are those for which the budget was too short, `left_out` those that cannot be sent, by reason.
    `refused_by_both` ended with the same error under both; `unsteady` were answered otherwise by the present version itself, asked twice.
    `selects_compared` are kinds of SELECT whose rows were compared value by value. `all` and `kinds` are how fast the newer version is against
    the present one: above 1 is faster; `speed_problem` says why `all` is not told.
    """

    workload: Mapping[str, str]
    statements: int
    sent: int
    not_reached: int
    left_out: Mapping[str, int]
    refused_by_both: int
    unsteady: int
    only_newer: tuple[RefusedKind, ...]
    only_present: tuple[RefusedKind, ...]
    others: tuple[OtherResult, ...]
    selects_compared: int
    selects_equal: int
    all: KindVariant | None
    kinds: tuple[KindResult, ...]
    course: Course | None
    speed_problem: str
    settings: tuple[ServerSetting, ...]
    notes: tuple[str, ...]
