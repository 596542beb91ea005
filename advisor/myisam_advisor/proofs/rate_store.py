"""What `trial engine` measured on this machine, a file for each table and engine, as proofs are kept: kept_files.py.

Whoever may write the directory may write anything: every name, type and size is checked, and what is no conversion is left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from myisam_advisor.catalogue.conversions import Conversion, Rates
from myisam_advisor.catalogue.copy_work import ARIA, CLUSTERED, INNODB, SECONDS, TEXTS, CopyWork
from myisam_advisor.proofs.kept_files import FileKind, KeptFileError, KeptFiles
from myisam_advisor.texts.state_directory import SYSTEM_DIRECTORY, state_directory
from myisam_exporter.errors import UserError
from myisam_exporter.outside.documents import DocumentError, parse_json
from myisam_exporter.outside.numbers import is_number

NAME = "rates"
FORMAT, VERSION = "myisam-advisor rate", 2
MAXIMUM_BYTES, MAXIMUM_MEMORY_BYTES = 4096, 1 << 20
MAXIMUM_RATES, MAXIMUM_TEXT = 200, 100
LARGEST = 1e15  # bytes, and seconds
MOST_TIMES = 1000.0  # as long as on the machine that the pieces were measured on, or as short
MOST_TIMES_LARGER = 50.0  # than before, or smaller: small rows in large pages, text that compresses
_ID_BYTES = 8
_NUMBERS = ("seconds", "bytes_after", "taken_at")
_TEXTS = ("server_product", "server_version", "engine", "way", "table")


class RateStore:
    """The measurements in one directory, which need not be there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._files = KeptFiles(directory, FileKind(
            "measurements", MAXIMUM_RATES, MAXIMUM_BYTES, conversion_of, id_of, when_full="remove some of its files"
        ))  # fmt: skip

    def current(self) -> Rates:
        """All of them; what cannot be read is no measurement."""
        return Rates(self._files.current().found)

    def keep(self, conversion: Conversion) -> Path:
        """Write it, in the place of the same table's into the same engine. Raises UserError that says why it cannot be kept."""
        text = json.dumps({"format": FORMAT, "version": VERSION, **asdict(conversion)}, indent=1, sort_keys=True) + "\n"
        try:
            if conversion_of(text) != conversion:
                raise KeptFileError("it would not be read back")
        except KeptFileError as error:
            raise UserError(f"the measurement cannot be kept: {error}.") from None
        return self._files.keep(conversion, text)


def rate_stores() -> list[RateStore]:
    """Where a command looks: the user's own directory, then the system's."""
    return [RateStore(path / NAME) for path in dict.fromkeys((state_directory(), SYSTEM_DIRECTORY))]


def own_rate_store() -> RateStore:
    """Where a command keeps what it measured."""
    return RateStore(state_directory() / NAME)


def rates_of_all(stores: Sequence[RateStore]) -> Rates:
    """What several stores hold; of the same table and engine in two, the newer one."""
    newest: dict[str, Conversion] = {}
    for one in sorted((one for store in stores for one in store.current().conversions), key=lambda one: one.taken_at):
        newest[id_of(one)] = one
    return Rates(tuple(newest.values()))


def table_key(server: str, schema: str, table: str) -> str:
    """What tells one table from another, without a name of it. `server` is proof.server_key's."""
    told = "\0".join((server, schema, table))
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).hexdigest()


def id_of(conversion: Conversion) -> str:
    """The same table into the same engine on the same kind of server takes the place of the one before."""
    told = "\0".join((conversion.server_product, conversion.server_version, conversion.engine, conversion.table))
    return hashlib.blake2b(told.encode("utf-8", "replace"), digest_size=_ID_BYTES).hexdigest()


def conversion_of(text: str) -> Conversion:
    """What such a text holds. Raises KeptFileError."""
    try:
        whole = parse_json(text, MAXIMUM_MEMORY_BYTES)
    except DocumentError as error:
        raise KeptFileError(f"no JSON that can be read: {error}") from None
    expected = {"format", "version", *(field.name for field in fields(Conversion))}
    if not isinstance(whole, dict) or whole.keys() != expected:
        raise KeptFileError("it is not a measurement of this program's")
    if (whole["format"], whole["version"]) != (FORMAT, VERSION):
        raise KeptFileError("it is not a measurement of this program's, or of another version")
    texts: dict[str, Any] = {name: _text(whole[name]) for name in _TEXTS}
    numbers: dict[str, Any] = {name: _number(whole[name]) for name in _NUMBERS}
    if texts["way"] not in SECONDS:
        raise KeptFileError("its way to copy is none")
    found = Conversion(**texts, **numbers, work=_work(whole["work"]))
    if not found.seconds or not found.work.total_bytes or (found.way == ARIA) != (found.engine != INNODB):
        raise KeptFileError("nothing was copied, or in no time, or in no way into this engine")
    if not 1 / MOST_TIMES <= found.times_reference <= MOST_TIMES:
        raise KeptFileError("no machine copies so fast, or so slowly")
    if not 1 / MOST_TIMES_LARGER <= found.bytes_after / found.work.total_bytes <= MOST_TIMES_LARGER:
        raise KeptFileError("no copy becomes so large, or so small")
    return found


def _work(value: object) -> CopyWork:
    # Measurements of a release before this one say nothing of words in parts, and of how long texts in indexes are.
    told = {"part_words": None, **_lengths(value), **value} if isinstance(value, dict) else {}
    if told.keys() != {field.name for field in fields(CopyWork)}:
        raise KeptFileError("what there was to do is not told")
    clustered, part_words = told.pop("clustered"), told.pop("part_words")
    if clustered not in CLUSTERED:
        raise KeptFileError("its rows lie in no kind of index")
    counts: dict[str, Any] = {name: _count(number) for name, number in told.items()}
    return CopyWork(**counts, clustered=clustered, part_words=None if part_words is None else _count(part_words))


def _lengths(work: Mapping[str, object]) -> Mapping[str, int]:
    """Of no texts there is no length; where there are some, it is missed."""
    has_texts = work.get("clustered") == TEXTS or work.get("unique_texts") or work.get("plain_texts")
    return {} if has_texts else {"text_bytes": 0, "first_text_bytes": 0}


def _count(value: object) -> int:
    number = _number(value)
    if number != int(number):
        raise KeptFileError("a count is not a whole number")
    return int(number)


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAXIMUM_TEXT or not value.isprintable():
        raise KeptFileError(f"a name is not text of at most {MAXIMUM_TEXT} characters")
    return value


def _number(value: Any) -> float:
    if not is_number(value, LARGEST) or value < 0:
        raise KeptFileError(f"a number is none from 0 to {LARGEST:g}")
    return float(value)
