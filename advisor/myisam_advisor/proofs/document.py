"""A proof as a file holds it. Whoever may write the directory may write anything: every name, type, length and size is checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from myisam_advisor.proofs.kept_files import KeptFileError
from myisam_advisor.proofs.proof import VERDICTS, Kind, Proof, ProvedLoad
from myisam_exporter.outside.documents import DocumentError, parse_json
from myisam_exporter.outside.numbers import LARGEST_WHOLE, is_number

FORMAT, VERSION = "myisam-advisor proof", 1
MAXIMUM_BYTES = 256 << 10
MAXIMUM_MEMORY_BYTES = 8 << 20
MAXIMUM_TEXT = 2000  # a statement's fingerprint is no longer
MAXIMUM_TEXTS, MAXIMUM_KINDS, MAXIMUM_TABLES = 100, 200, 1000
# Nothing is a million times as fast; what is said to be was made up.
MAXIMUM_TIMES = 1e6
LATEST_MOMENT = 32_503_680_000  # the year 3000
MAXIMUM_RATE = 1e9
_RATIOS = ("times", "low", "high")


class ProofError(KeptFileError):
    """It is no proof: what is wrong with it, without a word of its content."""


def text_of(proof: Proof) -> str:
    """The proof as a file holds it. Raises ProofError for one that would not be read back."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **asdict(proof)}, indent=1, sort_keys=True) + "\n"
    if len(text) > MAXIMUM_BYTES or proof_of(text) != proof:
        raise ProofError("it holds more than a proof may")
    return text


def proof_of(text: str) -> Proof:
    """What such a text holds. Raises ProofError."""
    try:
        whole = _mapping(parse_json(text, MAXIMUM_MEMORY_BYTES), "it")
    except DocumentError as error:
        raise ProofError(f"no JSON that can be read: {error}") from None
    if whole.get("format") != FORMAT:
        raise ProofError("it is not a proof of this program's")
    if whole.get("version") != VERSION:
        raise ProofError("another version of this program wrote it: that one reads it")
    unknown = whole.keys() - {field.name for field in fields(Proof)} - {"format", "version"}
    if unknown:
        raise ProofError("it holds a key that no proof has")
    load = _mapping(whole.get("workload", {}), "workload")
    rate = load.get("statements_per_second")
    tables = _mapping(load.get("tables", {}), "workload.tables", MAXIMUM_TABLES)
    before = _mapping(whole.get("before", {}), "before")
    return Proof(
        rule_id=_text(whole, "rule_id"),
        experiment=_text(whole, "experiment"),
        change=_texts(whole, "change"),
        objects=_texts(whole, "objects", MAXIMUM_TABLES),
        kinds=tuple(_kind(one) for one in _list(whole.get("kinds"), "kinds", MAXIMUM_KINDS)),
        server_product=_text(whole, "server_product"),
        server_version=_text(whole, "server_version"),
        taken_at=_number(whole, "taken_at", LATEST_MOMENT),
        workload=ProvedLoad(
            None if rate is None else _number(load, "statements_per_second", MAXIMUM_RATE),
            {_short(name, "workload.tables"): int(_number(tables, name, LARGEST_WHOLE)) for name in tables},
        ),
        server=_short(whole.get("server", ""), "server"),
        recorded_at=None if whole.get("recorded_at") is None else _number(whole, "recorded_at", LATEST_MOMENT),
        structures=_structures(whole),
        before={_short(name, "before"): _short(value, "before") for name, value in before.items()},
        **_outcome(whole),
    )


def _structures(whole: Mapping[str, Any]) -> tuple[str, ...]:
    """One for each of the objects; none in what was written before they were noted."""
    found = tuple(_short(one, "structures") for one in _list(whole.get("structures", []), "structures", MAXIMUM_TABLES))
    if found and len(found) != len(_texts(whole, "objects", MAXIMUM_TABLES)):
        raise ProofError("structures are not as many as objects")
    return found


def _kind(document: Any) -> Kind:
    one = _mapping(document, "kinds")
    share = None if one.get("share") is None else _number(one, "share", 1)
    return Kind(_text(one, "fingerprint"), share, **_outcome(one))


def _outcome(document: Mapping[str, Any]) -> dict[str, Any]:
    """The ratio with its interval, in order, and the verdict."""
    times, low, high = (_number(document, name, MAXIMUM_TIMES) for name in _RATIOS)
    if not low <= high:
        raise ProofError("low is more than high")
    verdict = document.get("verdict")
    if verdict not in VERDICTS:
        raise ProofError("verdict is none of a trial's")
    return {"times": times, "low": low, "high": high, "verdict": verdict}


def _mapping(value: Any, name: str, most: int = MAXIMUM_TEXTS) -> Mapping[str, Any]:
    if not isinstance(value, dict) or len(value) > most:
        raise ProofError(f"{name} is not a mapping of at most {most} keys")
    return value


def _list(value: Any, name: str, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise ProofError(f"{name} is not a list of at most {most}")
    return value


def _texts(document: Mapping[str, Any], name: str, most: int = MAXIMUM_TEXTS) -> tuple[str, ...]:
    return tuple(_short(one, name) for one in _list(document.get(name), name, most))


def _text(document: Mapping[str, Any], name: str) -> str:
    return _short(document.get(name), name)


def _short(value: Any, name: str) -> str:
    if not isinstance(value, str) or len(value) > MAXIMUM_TEXT:
        raise ProofError(f"{name} is not text of at most {MAXIMUM_TEXT} characters")
    return value


def _number(document: Mapping[str, Any], name: str, largest: float) -> float:
    value = document.get(name)
    if not is_number(value, largest) or value < 0:
        shown = (
            name
            if name in (*_RATIOS, "share", "taken_at", "recorded_at", "statements_per_second")
            else "workload.tables"
        )
        raise ProofError(f"{shown} is not a number from 0 to {largest:g}")
    return value
