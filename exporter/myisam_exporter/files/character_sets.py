"""Character sets by the numbers of their collations, as .frm and .sdi files name them, and how many bytes a character takes at most.

Source: information_schema.COLLATIONS and CHARACTER_SETS of MySQL 5.6 and 9.7, MariaDB 10.11 and 11.8; compared with them in tests/servers.
MariaDB keeps 2048 to 3327 for UCA 14.0.0, and adds 1024 to a collation of before that pads nothing.
"""

from __future__ import annotations

from functools import lru_cache

# Those with more than one byte a character; the others have one. From, to.
_WIDE: dict[tuple[str, int, int], tuple[tuple[int, int], ...]] = {
    ("big5", 1, 2): ((1, 1), (84, 84)),
    ("cp932", 1, 2): ((95, 96),),
    ("eucjpms", 1, 3): ((97, 98),),
    ("euckr", 1, 2): ((19, 19), (85, 85)),
    ("gb18030", 1, 4): ((248, 250),),
    ("gb2312", 1, 2): ((24, 24), (86, 86)),
    ("gbk", 1, 2): ((28, 28), (87, 87)),
    ("sjis", 1, 2): ((13, 13), (88, 88)),
    ("ujis", 1, 3): ((12, 12), (91, 91)),
    ("ucs2", 2, 2): ((35, 35), (90, 90), (128, 151), (159, 159), (640, 642), (2560, 2815)),
    ("utf16", 2, 4): ((54, 55), (101, 124), (672, 674), (2816, 3071)),
    ("utf16le", 2, 4): ((56, 56), (62, 62)),
    ("utf32", 4, 4): ((60, 61), (160, 183), (736, 738), (3072, 3327)),
    ("utf8mb3", 1, 3): ((33, 33), (76, 76), (83, 83), (192, 215), (223, 223), (576, 579), (2048, 2303)),
    ("utf8mb4", 1, 4): ((45, 46), (224, 247), (255, 323), (608, 611), (2304, 2559)),
}  # fmt: skip
_NO_PAD = range(1024, 2048)
# Names of those with one byte that a statement must spell: the ones that applications use.
_SINGLE = {63: "binary", 8: "latin1", 11: "ascii"}


@lru_cache(maxsize=512)
def character_set(collation: int) -> tuple[str, int, int]:
    """Its name ("" of one that has single bytes and is not named here), and the fewest and the most bytes of a character."""
    number = collation - _NO_PAD.start if collation in _NO_PAD else collation
    for charset, ranges in _WIDE.items():
        if any(first <= number <= last for first, last in ranges):
            return charset
    return _SINGLE.get(number, ""), 1, 1
