"""What a server says of its plugins (SHOW PLUGINS), as far as a table needs one: parsers of FULLTEXT indexes, keys of encryption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from myisam_exporter.declaring.lean_dataclasses import dataclass

ACTIVE = "ACTIVE"
PARSER, KEYS = "FTPARSER", "ENCRYPTION"


@dataclass(frozen=True, slots=True)
class Plugins:
    """Those that are active: `parsers` by their names in small letters, and whether one has keys to encrypt with."""

    parsers: tuple[str, ...] = ()
    has_keys: bool = False


def of_rows(rows: Sequence[Mapping[str, str | None]]) -> Plugins | None:
    """What SHOW PLUGINS answered; None where it answered nothing."""
    if not rows:
        return None
    active = [row for row in rows if row.get("Status") == ACTIVE]
    parsers = sorted((row.get("Name") or "").lower() for row in active if row.get("Type") == PARSER)
    return Plugins(tuple(parsers), any(row.get("Type") == KEYS for row in active))
