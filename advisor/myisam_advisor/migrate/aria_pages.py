"""How large Aria's two files are: rows in pages of 8 kB, which are filled in steps, and indexes built by sorting.

Sources: storage/maria/ma_bitmap.c (a page is told to be empty, or 30, 60 or 90 % full: a row goes where it surely fits), ma_blockrec.h
(MAX_ROWS_PER_PAGE, DIR_ENTRY_SIZE). What indexes take beside MyISAM's was measured: docs/guide/migrate.md.
"""

from __future__ import annotations

from math import ceil

from myisam_advisor.migrate.row_size import is_fixed
from myisam_exporter.files.structure import Structure

PAGE_BYTES = 8192
ROOM_BYTES = PAGE_BYTES - 15
MOST_ROWS = 255
# A row's place in the page's directory and its flags, beside what it has in MyISAM: a header of its own in dynamic rows, nothing in fixed ones.
DYNAMIC_MORE_BYTES, FIXED_MORE_BYTES = 2, 6
NEARLY_FULL, HALF_FULL = 0.9, 0.6
# Up to the first, rows fill pages nearly; beyond the second, to somewhat more than half; lengths differ, so between them either may be.
SHORT_ROW, LONG_ROW = 0.08, 0.16
LEAST_BYTES = 2.0 * PAGE_BYTES  # of an empty table: one page of rows, one of the index's header
# Bytes of an index beside MyISAM's, of numbers only, and with texts, which are packed in larger pages.
NUMBERS, TEXTS = (1.1, 1.55), (0.65, 1.35)
GROWN = 0.7  # MyISAM's own pages may be that full only, where rows came one by one
MARGIN = 0.03


def aria_bytes(
    structure: Structure, rows: int, row_bytes: float, index_bytes: int, row_format: str
) -> tuple[float, float]:
    """Between which sizes both files will be together."""
    row = row_bytes + (FIXED_MORE_BYTES if row_format == "fixed" else DYNAMIC_MORE_BYTES)
    low = high = 0.0
    if rows:
        low = ceil(rows / _most_on_page(row)) * PAGE_BYTES
        high = ceil(rows / _fewest_on_page(row)) * PAGE_BYTES
    texts = any(not is_fixed(structure.columns[part.column]) for index in structure.indexes for part in index.parts)
    least, most = TEXTS if texts else NUMBERS
    low = (low + index_bytes * least * GROWN) * (1 - MARGIN)
    high = (high + index_bytes * most) * (1 + MARGIN)
    return max(low, LEAST_BYTES), max(high, LEAST_BYTES)


def _most_on_page(row: float) -> float:
    return _on_page(row, NEARLY_FULL, 0.5) if row < LONG_ROW * ROOM_BYTES else _on_page(row, HALF_FULL, 1.0)


def _fewest_on_page(row: float) -> float:
    return _on_page(row, NEARLY_FULL, 0.5) if row < SHORT_ROW * ROOM_BYTES else _on_page(row, HALF_FULL, 0.5)


def _on_page(row: float, filled: float, more: float) -> float:
    return min(max(filled * ROOM_BYTES / row + more, ROOM_BYTES / max(row, ROOM_BYTES)), MOST_ROWS)
