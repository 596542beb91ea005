"""What was forecast of a change, and what `verify` measured of it: a small file each, beside the proofs, so that forecasts can be held against outcomes.

A forecast is an interval that was worked out of the facts before the change, with its conditions; None where nothing was fitted to tell it by: "cannot tell"
is an answer, and no figure is made up in its place. Whoever may write the directory may write anything: every name, type and size is checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from myisam_advisor.history.verification import NOT_ENOUGH, times_in_words
from myisam_advisor.proofs.kept_files import FileKind, KeptFileError, KeptFiles
from myisam_advisor.texts.moments import moment_in_words
from myisam_advisor.texts.state_directory import SYSTEM_DIRECTORY, state_directory
from myisam_advisor.texts.templates import duration, printable
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.documents import DocumentError, parse_json
from myisam_exporter.outside.numbers import LATEST_MOMENT, is_number

NAME, FORMAT, VERSION = "forecasts", "myisam-advisor forecast", 1
MAXIMUM_BYTES, MAXIMUM_MEMORY_BYTES = 64 << 10, 4 << 20
MAXIMUM_ENTRIES, MAXIMUM_MEASURES, MAXIMUM_TEXT = 1000, 100, 1000
# Nothing becomes a million times as much; what is said to be was made up.
MAXIMUM_TIMES = 1e6
CANNOT_TELL = "cannot tell"
_ID_BYTES = 8
_RATIOS = ("ratio", "low", "high")


@dataclass(frozen=True, slots=True)
class Forecast:
    """After/before of the first measure, from `low` to `high`, and under which conditions."""

    low: float
    high: float
    conditions: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What `verify` found of one measure; the ratio is after/before, None where there were too few samples."""

    name: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule's change on one server: what was forecast, what came of it."""

    target: str
    rule: str
    changed_at: float
    noted_at: float
    forecast: Forecast | None
    measured: tuple[Measured, ...]
    verdict: str

    @property
    def id(self) -> str:
        """Of the change: verified again, it takes the place of what was noted before."""
        told = "\0".join((self.target, self.rule, f"{self.changed_at:.0f}"))
        return hashlib.blake2b(told.encode("utf-8", "replace"), digest_size=_ID_BYTES).hexdigest()

    @property
    def came_true(self) -> bool | None:
        """Whether what was measured lies in the interval that was forecast; None where one of the two cannot tell.

        What was measured is an interval, too: it is outside only where no part of it is inside, and inside only where it is clear, and its middle is.
        """
        first = self.measured[0] if self.measured else None
        if self.forecast is None or first is None or first.ratio is None or first.low is None or first.high is None:
            return None
        if first.low > self.forecast.high or first.high < self.forecast.low:
            return False
        is_inside = self.forecast.low <= first.ratio <= self.forecast.high
        return True if is_inside and first.verdict != NOT_ENOUGH else None


class LedgerError(KeptFileError):
    """It is no entry: what is wrong with it, without a word of its content."""


class Ledger:
    """The entries in one directory, which need not be there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._files = KeptFiles(directory, FileKind(
            "entries", MAXIMUM_ENTRIES, MAXIMUM_BYTES, entry_of, lambda entry: entry.id, when_full="remove the oldest files there"
        ))  # fmt: skip

    def note(self, entry: Entry) -> None:
        """Write it, in the place of the same change's before. Raises UserError that says why it cannot be kept."""
        self._files.keep(entry, text_of(entry))

    def entries(self) -> tuple[list[Entry], list[str]]:
        """All of them, the newest change first; and which files are none of ours, and why."""
        kept = self._files.current()
        refused = [*kept.refused, *([f"{self.directory} cannot be read: {kept.closed}"] if kept.closed else [])]
        return sorted(kept.found, key=lambda one: (-one.changed_at, one.id)), refused


def own_ledger() -> Ledger:
    """Where a command notes what it verified."""
    return Ledger(state_directory() / NAME)


def ledgers() -> list[Ledger]:
    """Where a command looks: the user's own directory, then the system's."""
    return [Ledger(path / NAME) for path in dict.fromkeys((state_directory(), SYSTEM_DIRECTORY))]


def text_of(entry: Entry) -> str:
    """The entry as a file holds it."""
    return json.dumps({"format": FORMAT, "version": VERSION, **asdict(entry)}, indent=1, sort_keys=True) + "\n"


def entry_of(text: str) -> Entry:
    """What such a text holds. Raises LedgerError."""
    try:
        whole = _mapping(parse_json(text, MAXIMUM_MEMORY_BYTES))
    except DocumentError as error:
        raise LedgerError(f"no JSON that can be read: {error}") from None
    if whole.get("format") != FORMAT:
        raise LedgerError("it is not a forecast of this program's")
    if whole.get("version") != VERSION:
        raise LedgerError("another version of this program wrote it: that one reads it")
    measured = whole.get("measured")
    if not isinstance(measured, list) or len(measured) > MAXIMUM_MEASURES:
        raise LedgerError("measured is not a short list")
    return Entry(
        _text(whole, "target"), _text(whole, "rule"), _number(whole, "changed_at", LATEST_MOMENT), _number(whole, "noted_at", LATEST_MOMENT),
        _forecast(whole.get("forecast")), tuple(map(_measured, measured)), _text(whole, "verdict"),
    )  # fmt: skip


def _forecast(document: Any) -> Forecast | None:
    if document is None:
        return None
    one = _mapping(document)
    low, high = _number(one, "low", MAXIMUM_TIMES), _number(one, "high", MAXIMUM_TIMES)
    if low > high:
        raise LedgerError("its interval is not in order")
    return Forecast(low, high, _text(one, "conditions"))


def _measured(document: Any) -> Measured:
    one = _mapping(document)
    ratio, low, high = (None if one.get(name) is None else _number(one, name, MAXIMUM_TIMES) for name in _RATIOS)
    return Measured(_text(one, "name"), ratio, low, high, _text(one, "verdict"))


def _mapping(document: Any) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        raise LedgerError("it is not a mapping")
    return document


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    if not isinstance(value, str) or len(value) > MAXIMUM_TEXT:
        raise LedgerError(f"{name} is not a short text")
    return value


def _number(document: Mapping[str, Any], name: str, most: float) -> float:
    value = document.get(name)
    if not is_number(value, most) or value < 0:
        raise LedgerError(f"{name} is not a number from 0 to {most:g}")
    return float(value)


def ledger_in_words(places: list[Ledger], now: float, since_seconds: float | None = None) -> str:
    """Each change with what was forecast, what was measured and the verdict; the newest first, and none that was made before `since_seconds`."""
    newest: dict[str, Entry] = {}
    lines: list[str] = []
    read = [place.entries() for place in places]
    for entry in sorted((one for found, _ in read for one in found), key=lambda one: -one.noted_at):
        newest.setdefault(entry.id, entry)
    shown = [one for one in newest.values() if since_seconds is None or one.changed_at >= now - since_seconds]
    for entry in sorted(shown, key=lambda one: -one.changed_at):
        lines += [
            f"{moment_in_words(entry.changed_at, now)}  {entry.target}  {entry.rule}: {entry.verdict}",
            f"    forecast: {_forecast_in_words(entry)}",
            *(f"    measured: {one.name} {_times(one)}, {one.verdict}" for one in entry.measured),
        ]
    refused = [why for _, one in read for why in one]
    # Where something could not be read, nobody knows that there is nothing.
    nothing = [] if refused else [_nothing_verified(len(newest), since_seconds)]
    return "\n".join(map(printable, [*(lines or nothing), *refused]))


def _nothing_verified(older: int, since_seconds: float | None) -> str:
    if older and since_seconds is not None:
        there = "one change is older" if older == 1 else f"{older} changes are older"
        return f"no change of the last {duration(since_seconds)} was verified; {there}: --since reaches further back"
    return (
        "no change was verified yet: `myisam-advisor verify RULE` records the effect of one that was alone in its time"
    )


def _forecast_in_words(entry: Entry) -> str:
    if entry.forecast is None:
        return CANNOT_TELL
    said = {True: "came true", False: "did not come true", None: "cannot be held against what was measured"}[
        entry.came_true
    ]
    return f"{entry.forecast.low:.2f} to {entry.forecast.high:.2f} times ({entry.forecast.conditions}); it {said}"


def _times(one: Measured) -> str:
    if one.ratio is None or one.low is None or one.high is None:
        return "has no ratio"
    return f"{times_in_words(one.ratio)} times ({times_in_words(one.low)} to {times_in_words(one.high)})"
