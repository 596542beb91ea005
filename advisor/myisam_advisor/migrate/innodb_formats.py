"""The format that rows get in InnoDB, and the size of their pages where these are compressed."""

from __future__ import annotations

from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.files.structure import Structure

# What InnoDB has only in the newer file format.
NEEDS_BARRACUDA = frozenset({"DYNAMIC", "COMPRESSED"})
FOREIGN_ROW_FORMATS = frozenset({"FIXED", "PAGE"})
PAGE_SIZES_KB = (1, 2, 4, 8, 16)
LARGEST_COMPRESSED_BYTES = 16_384
BLOCK_SIZE = "KEY_BLOCK_SIZE"
# Of MariaDB.
PAGE_COMPRESSED, TEXTS_ACTED_UPON_SINCE = "PAGE_COMPRESSED", (10, 1)
SWITCHED_ON = frozenset({"1", "ON", "YES"})
REFUSED_PAGE_COMPRESSION = frozenset({"COMPRESSED", "REDUNDANT"})


def effective_row_format(structure: Structure, kind: ServerKind) -> str:
    """The format that rows get in InnoDB: the one that the table was made with goes along, unless the ALTER says ROW_FORMAT=DEFAULT."""
    asked = structure.row_format
    if (
        is_page_compressed(structure, kind)
        and asked not in REFUSED_PAGE_COMPRESSION
        and (asked or kind.row_format != "REDUNDANT")
    ):
        return "DYNAMIC"
    if is_refused(asked, kind):
        return "DYNAMIC" if kind.takes_dynamic else "COMPACT"
    if not asked and kind.takes_compressed and structure.option(BLOCK_SIZE) in page_sizes_kb(kind):
        return "COMPRESSED"
    if asked in ("", "FIXED", "PAGE"):
        return kind.row_format if kind.since((5, 7), (10, 2)) else "COMPACT"
    return asked


def is_page_compressed(structure: Structure, kind: ServerKind) -> bool:
    """Whether MariaDB compresses its pages by the word PAGE_COMPRESSED: rows are DYNAMIC then, whatever was asked for (tried on 10.5, 10.11 and 11.8)."""
    acts = kind.is_mariadb and kind.version >= TEXTS_ACTED_UPON_SINCE
    return acts and dict(structure.texts).get(PAGE_COMPRESSED, "").upper() in SWITCHED_ON


def is_refused(asked: str, kind: ServerKind) -> bool:
    """Whether InnoDB has the format elsewhere, and not here: of Antelope files, or in one file with all tables (innodb_file_per_table=OFF)."""
    return (asked == "DYNAMIC" and not kind.takes_dynamic) or (asked == "COMPRESSED" and not kind.takes_compressed)


def words_of_no_use(structure: Structure, kind: ServerKind) -> tuple[str, ...]:
    """Formats and page sizes of the table that InnoDB does not have here: innodb_strict_mode refuses them, without it they are passed over with a warning."""
    asked, sizes, block_size = structure.row_format, page_sizes_kb(kind), structure.option(BLOCK_SIZE)
    no_pages = asked == "COMPRESSED" and not sizes
    words = []
    if asked in FOREIGN_ROW_FORMATS or no_pages or is_refused(asked, kind):
        words.append(f"ROW_FORMAT={asked}")
    if block_size and (block_size not in sizes or asked not in ("", "COMPRESSED") or not kind.takes_compressed):
        words.append(f"{BLOCK_SIZE}={block_size}")
    return tuple(words)


def compressed_page_bytes(structure: Structure, kind: ServerKind) -> int:
    """How large the table's compressed pages are; 0 where they are as large as others, or not compressed. Without a KEY_BLOCK_SIZE they are half."""
    if effective_row_format(structure, kind) != "COMPRESSED":
        return 0
    asked = structure.option(BLOCK_SIZE)
    size = asked * 1024 if asked in page_sizes_kb(kind) else kind.page_bytes // 2
    return size if size < kind.page_bytes else 0


def page_sizes_kb(kind: ServerKind) -> tuple[int, ...]:
    """The sizes that compressed pages can have: none where pages are larger than 16 kB."""
    return tuple(size for size in PAGE_SIZES_KB if size * 1024 <= kind.page_bytes <= LARGEST_COMPRESSED_BYTES)
