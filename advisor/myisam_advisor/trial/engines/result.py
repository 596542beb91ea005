"""What a trial of engines found: as values, as a document, and as taken from a process that is not believed.

The document's `tables` are for programs that learn from them: one entry for each table and engine, with what the files of MyISAM held, how
long the ALTER took, and what the files of the other engine hold. What is null was not measured, and `skipped` or `error` says why.
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.catalogue.copy_work import CopyWork
from myisam_exporter.declaring.lean_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an ALTER failed, in the server's words."""

    code: int
    message: str


@dataclass(frozen=True, slots=True)
class KindSpeed:
    """One kind of statement on the other engine against MyISAM: `times` above 1 is faster there; rates are medians, a second."""

    name: str
    times: float | None
    low: float | None
    high: float | None
    verdict: str
    myisam_per_second: float | None = None
    engine_per_second: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Crash:
    """A SIGKILL under inserts.

    `lost` are rows that had been acknowledged and are not there. Where the table has no unique key to find them by, `is_exact` is false, and up
    to `in_flight` more may be lost.
    `check` is what CHECK TABLE said before any repair; `recovery_seconds` are those until the server answered and the repair was done.
    `extended_check_seconds` are those of the extended check, which only tables with a SPATIAL index have, and InnoDB's never: no other time has them in it.
    """

    acknowledged: int
    found: int
    lost: int
    in_flight: int
    is_exact: bool
    check: str
    is_damaged: bool
    start_seconds: float
    check_seconds: float
    repair_seconds: float
    recovery_seconds: float
    extended_check_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Conversion:
    """One table and one engine. Bytes before are those of .MYD (`data_bytes`) and .MYI (`index_bytes`), bytes after all files of the table.

    `work` is what the ALTER has to do, null where the header does not tell.
    """

    schema_name: str
    table_name: str
    engine: str
    to: str
    rows: int
    row_format: str
    indexes: int
    bytes_before: int
    data_bytes: int
    index_bytes: int
    seconds: float | None = None
    bytes_after: int | None = None
    error: Refusal | None = None
    warnings: tuple[str, ...] = ()
    checksum_equal: bool | None = None
    kinds: tuple[KindSpeed, ...] = ()
    lock_waits: int | None = None
    deadlocks: int | None = None
    crash: Crash | None = None
    work: CopyWork | None = None


@dataclass(frozen=True, slots=True)
class Stayed:
    """The same table as it is: what MyISAM made of the same statements, and of the same SIGKILL."""

    schema_name: str
    table_name: str
    lock_waits: int | None = None
    crash: Crash | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """The recorded SELECTs, one of each kind, on both engines: how many return the same rows in the same order, and which do not."""

    compared: int
    equal: int
    other_order: tuple[str, ...]
    differ: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded statements on one engine against MyISAM, all together and by kind."""

    to: str
    all: KindSpeed | None
    kinds: tuple[KindSpeed, ...]
    lock_waits: int | None
    deadlocks: int | None
    answers: Answers | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EngineResult:
    """A whole trial of engines.

    `settings` are the private servers' own, by engine where they differ; `watched` those of the watched server that a private one has not.
    `flush_seconds` is what a flush to disk takes where the trial ran.
    """

    tables: tuple[Conversion, ...]
    stayed: tuple[Stayed, ...]
    recorded: tuple[Recorded, ...]
    workload: Mapping[str, str]
    left_out: Mapping[str, str]
    skipped: Mapping[str, str]
    server: str
    version: str
    settings: Mapping[str, str]
    watched: Mapping[str, str]
    cache_bytes: int
    flush_seconds: float | None
    machine: str
    taken_at: float
    notes: tuple[str, ...]
