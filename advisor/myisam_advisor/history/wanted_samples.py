"""A few facts of a server's samples, without taking the samples apart: for pages that a daemon shows to whoever asks.

A sample is JSON as `format.py` writes it: without blanks, ASCII, and no value is a text. So a quotation mark behind `{` or `,` begins a name.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path

from myisam_advisor.history.file import open_to_read
from myisam_advisor.history.format import LARGEST_NUMBER, MAXIMUM_SAMPLE_BYTES, SAMPLE, TARGET, target_id
from myisam_exporter.outside.numbers import is_number

_DIGITS = rb"[0-9]{1,100}"
_VALUE = re.compile(rb"(?:null|(-?%b(?:\.%b)?(?:[eE][-+]?[0-9]{1,3})?))[,}]" % (_DIGITS, _DIGITS))
_IS_WHOLE = re.compile(rb"-?[0-9]+")


def wanted_samples(
    path: Path, label: str, begin: float, end: float, names: Collection[str]
) -> list[tuple[float, Mapping[str, float | None]]]:
    """Moment, and those facts of these names that are known or known to be unknown, of one server between two moments.

    Raises UserError as `open_to_read` does; a sample that is damaged is skipped and counted.
    """
    keys = {name: f"{json.dumps(name)}:".encode() for name in names}
    samples = []
    with open_to_read(path) as records:
        numbers = (number for number, _ in records.rows(TARGET, "label = ?", (label,)))
        which = (next(numbers, target_id(label)), begin, end)
        for _, taken_at, _, packed in records.rows(
            SAMPLE, "target = ? AND taken_at BETWEEN ? AND ?", which, "taken_at"
        ):
            content = _inflated(packed)
            if content is None:
                records.damaged.add((SAMPLE.name, hash(packed)))
                continue
            samples.append((taken_at, _facts(content, keys)))
    return sorted(samples, key=lambda one: one[0])


def _inflated(packed: bytes) -> bytes | None:
    """The JSON, no longer than is allowed; None where it is damaged. Other threads go on meanwhile."""
    inflating = zlib.decompressobj()
    try:
        content = inflating.decompress(packed, MAXIMUM_SAMPLE_BYTES)
    except zlib.error:
        return None
    return content if inflating.eof and content[:1] == b"{" and content[-1:] == b"}" else None


def _facts(content: bytes, keys: Mapping[str, bytes]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    place = 0
    for name, key in keys.items():
        # The facts of one thing stand side by side.
        behind = _behind(content, key, place) or (_behind(content, key, 0) if place else 0)
        told = _VALUE.match(content, behind) if behind else None
        if told is None:
            continue
        place = behind
        value = None if told[1] is None else int(told[1]) if _IS_WHOLE.fullmatch(told[1]) else float(told[1])
        if value is None or is_number(value, LARGEST_NUMBER):
            found[name] = value
    return found


def _behind(content: bytes, key: bytes, begin: int) -> int:
    """The place of the value that is called so, looked for from `begin` on; 0 where there is none."""
    place = content.find(key, begin)
    while place > 0 and content[place - 1] not in b"{,":
        place = content.find(key, place + 1)  # within another name
    return place + len(key) if place > 0 else 0
