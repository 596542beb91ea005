"""How large a table and its indexes would be after a change of engine or of packing.

InnoDB: by the pages that `migrate` reckons with, of what a header tells without the definition: how long rows are and all entries together.
`migrate` reads the definition, too, and tells both ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from myisam_advisor.catalogue.innodb_pages import (
    FREE_EXTENTS,
    INDEX_AT_RANDOM,
    LEAST_FILE_BYTES,
    SORTED_INDEX,
    SORTED_ROWS,
    file_bytes,
    tree_pages,
)
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import number_of

# Of a row: header, transaction and undo, against the header that it has in MyISAM; and the number that InnoDB makes where there is no key.
INNODB_ROW_BYTES, ENTRY_BYTES, ROW_ID_BYTES = 18, 5, 6
MYISAM_ROW_BYTES = {"fixed": 1.0}
DYNAMIC_ROW_BYTES = 4.5
POINTER_BYTES = 6
PAGES_ABOVE = 0.9  # of a .MYI: the rest is pages above its entries, and what is left over
PAGE_FILL = 0.67  # manual, "MyISAM key space": pages filled at random
PAGE_POINTER_BYTES = 4


def innodb_size(row: Mapping[str, Value], indexes: Sequence[Row] = (), *, sorts_copies: bool = False) -> int | None:
    """What the table will take in InnoDB; None when its size is not known."""
    data, index, free, rows = (number_of(row.get(name)) for name in ("data_bytes", "index_bytes", "free_bytes", "rows"))
    if data is None or rows is None:
        return None
    if not rows:
        return int(LEAST_FILE_BYTES["dictionary"])
    header = MYISAM_ROW_BYTES.get(str(row.get("row_format")), DYNAMIC_ROW_BYTES)
    values = max((data - (free or 0)) / rows - header, 1.0)
    trees = [one for one in indexes if one["algorithm"] in ("btree", None)]
    clustered = next((one for one in trees if one["is_unique"]), None)
    longest = {id(one): number_of(one["maximum_key_bytes"]) or 1.0 for one in trees}
    whole = sum(longest.values()) or 1.0
    entries = PAGES_ABOVE * (index or 0) / rows

    def held(one: Row) -> float:
        """What of all entries is this index's, by how long its own may be."""
        return max(entries * longest[id(one)] / whole - POINTER_BYTES, 1.0)

    key = ROW_ID_BYTES if clustered is None else held(clustered)
    own = ROW_ID_BYTES if clustered is None else 0
    pages = tree_pages(int(rows), values + INNODB_ROW_BYTES + own, key, SORTED_ROWS)
    for one in trees:
        if one is not clustered:
            pages += tree_pages(
                int(rows),
                held(one) + key + ENTRY_BYTES,
                held(one) + key,
                SORTED_INDEX if sorts_copies else INDEX_AT_RANDOM,
            )
    return int(file_bytes(pages, 0.0 if sorts_copies else FREE_EXTENTS, LEAST_FILE_BYTES["dictionary"]))


def grown_index_bytes(rows: Value, indexes: Iterable[Row]) -> int | None:
    """The size that all indexes of a table can reach unpacked; None when not known."""
    sizes = [grown_bytes(rows, index) for index in indexes]
    known = [size for size in sizes if size is not None]
    return int(sum(known)) if sizes and len(known) == len(sizes) else None


def grown_bytes(rows: Value, index: Row) -> float | None:
    """One index unpacked, at most: rows x (key length + 4) / 0.67."""
    length = index["maximum_key_bytes"]
    if not isinstance(rows, int | float) or not isinstance(length, int | float):
        return None
    return rows * (length + PAGE_POINTER_BYTES) / PAGE_FILL
