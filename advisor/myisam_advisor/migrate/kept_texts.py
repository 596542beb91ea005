"""Options that MariaDB's MyISAM keeps as text, and InnoDB acts upon: ENCRYPTED, ENCRYPTION_KEY_ID, PAGE_COMPRESSED, PAGE_COMPRESSION_LEVEL.

A table has them if it once was one of InnoDB, or was made with sql_mode=IGNORE_BAD_TABLE_OPTIONS. What InnoDB refuses ends with error 1005, whatever
innodb_strict_mode is; SHOW WARNINGS has the reason. Source: storage/innobase/handler/ha_innodb.cc (create_table_info_t::check_table_options) of
MariaDB 10.11; 49 such tables were tried in 16 settings on 10.11, and in 8 on 10.5 and 11.8.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change, Subject
from myisam_advisor.migrate.innodb_formats import (
    BLOCK_SIZE,
    PAGE_COMPRESSED,
    REFUSED_PAGE_COMPRESSION,
    TEXTS_ACTED_UPON_SINCE,
    effective_row_format,
    is_page_compressed,
)
from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Structure
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.sql import Sql, plain_words, statement

WRONG_OPTIONS = 1005
ENCRYPTED, KEY, LEVEL = "ENCRYPTED", "ENCRYPTION_KEY_ID", "PAGE_COMPRESSION_LEVEL"
YES, NO, FORCE, NONE = "YES", "NO", "FORCE", "none"
FIRST_KEY, LAST_KEY = 1, (1 << 32) - 1
# Pages of SPATIAL indexes can be encrypted where they have this checksum (10.4.3 and later).
FULL_CHECKSUM = "full_crc32"


@dataclass(frozen=True, slots=True)
class _Kept:
    """What InnoDB reads out of the texts. `encrypted` is YES, NO or "": any other word counts for nothing."""

    encrypted: str
    key: int
    compressed: bool
    has_level: bool


def _kept(structure: Structure, kind: ServerKind) -> _Kept | None:
    if not (structure.texts and kind.is_mariadb and kind.version >= TEXTS_ACTED_UPON_SINCE):
        return None
    texts = dict(structure.texts)
    word = texts.get(ENCRYPTED, "").upper()
    key = whole_number(texts.get(KEY))
    return _Kept(
        word if word in (YES, NO) else "",
        FIRST_KEY if key is None else min(max(key, FIRST_KEY), LAST_KEY),
        is_page_compressed(structure, kind),
        LEVEL in texts,
    )


def refused_texts(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """What InnoDB of MariaDB refuses of them."""
    kept = _kept(structure, kind)
    if kept is not None:
        for why, option in (*_of_encryption(kept, structure, kind), *_of_compression(kept, structure, kind)):
            reset = plain_words(f"{option}=DEFAULT")
            mend = statement("ALTER TABLE {} ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0, {};", table, reset)
            yield Refusal(WRONG_OPTIONS, f"the table was made with {why}", mend)


def _of_encryption(kept: _Kept, structure: Structure, kind: ServerKind) -> Iterator[tuple[str, str]]:
    """Why it is refused, and by which option."""
    made = f"{ENCRYPTED}={kept.encrypted}"
    if kept.encrypted == NO and kind.encrypts_tables == FORCE:
        yield f"{made}, and innodb_encrypt_tables is FORCE", ENCRYPTED
    if kept.encrypted and not kind.file_per_table:
        yield f"{made}, which takes innodb_file_per_table", ENCRYPTED
    if kept.encrypted == YES and kind.plugins is not None and not kind.plugins.has_keys:
        yield f"{made}, and no plugin has a key {kept.key} (file_key_management is not loaded)", ENCRYPTED
    elif kept.encrypted == YES and structure.of_kind(types.SPATIAL) and not kind.full_checksums:
        yield f"{made} and has a SPATIAL index, which takes innodb_checksum_algorithm={FULL_CHECKSUM}", ENCRYPTED


def _of_compression(kept: _Kept, structure: Structure, kind: ServerKind) -> Iterator[tuple[str, str]]:
    if kept.has_level and not kept.compressed:
        yield f"{LEVEL} and without {PAGE_COMPRESSED}", LEVEL
    if not kept.compressed:
        return
    wrong = [
        name
        for name in (structure.row_format, effective_row_format(structure, kind))
        if name in REFUSED_PAGE_COMPRESSION
    ]
    if wrong and not structure.option(BLOCK_SIZE):
        yield f"{PAGE_COMPRESSED} and ROW_FORMAT={wrong[0]}, which do not go together", PAGE_COMPRESSED
    if not kind.file_per_table:
        yield f"{PAGE_COMPRESSED}, which takes innodb_file_per_table", PAGE_COMPRESSED
    if structure.option(BLOCK_SIZE):
        yield f"{PAGE_COMPRESSED} and {BLOCK_SIZE}, which do not go together", PAGE_COMPRESSED


def kept_changes(subject: Subject) -> Iterator[Change]:
    """What was a word to MyISAM, and counts in InnoDB."""
    kind = subject.kind
    kept = _kept(subject.structure, kind)
    if kept is None:
        return
    if kept.compressed:
        algorithm = kind.compression_algorithm
        does = (
            "compresses none (innodb_compression_algorithm=none)"
            if algorithm == NONE
            else f"compresses its pages by it (innodb_compression_algorithm={algorithm})"
        )
        yield Change(
            "page-compressed",
            f"{PAGE_COMPRESSED} was a word that MyISAM kept; InnoDB {does}. {PAGE_COMPRESSED}=DEFAULT in the ALTER takes it away.",
            statement("SHOW CREATE TABLE {};", subject.table),
        )
    yield from _encrypted(kept, subject)


def _encrypted(kept: _Kept, subject: Subject) -> Iterator[Change]:
    by_server = subject.kind.encrypts_tables != "OFF"
    shown = statement("SHOW CREATE TABLE {};", subject.table)
    if kept.encrypted == NO and by_server:
        what = f"{ENCRYPTED}=NO was a word that MyISAM kept; InnoDB writes the table in clear by it, where innodb_encrypt_tables={subject.kind.encrypts_tables} encrypts others."
        yield Change("not-encrypted", what, shown)
    elif kept.encrypted == YES or (by_server and not kept.encrypted):
        lacks = (
            "" if kept.key == FIRST_KEY else f" Where its plugin has no key {kept.key}, the ALTER ends with error 1005."
        )
        yield Change(
            "encrypted",
            f"InnoDB encrypts the table, with key {kept.key}; MyISAM kept {ENCRYPTED} and {KEY} as words.{lacks}",
            shown,
        )
