"""What an ALTER that copies a table into another engine has to do, counted, and how long each piece of it took on one machine.

A copy reads rows, writes rows, and makes the entries of each index; what that takes differs by the kind of entry more than by its bytes: a
megabyte of one table took 28 times as long as one of another (MySQL 9.7). The seconds of the pieces are those of one machine (benchmarks/migration_times.jsonl, fitted by
`script/bench migrate times --fit`): only how they stand to each other holds elsewhere, and conversions.py finds the machine's own factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files.fulltext_pages import IndexWords
from myisam_exporter.files.myi_definition import KEY_NOSAME, SIZED_TYPES, Definition, Key, KeyPart

INNODB = "InnoDB"
# In which way the rows of a copy are put into the other engine.
BY_ROW, BY_ROW_OF_DICTIONARY, SORTED, ARIA = "by row", "by row, MySQL 8.0 and later", "sorted", "Aria"
DICTIONARY_SINCE = 8
COUNTER, NUMBERS, TEXTS = "counter", "numbers", "texts"
# Entries of MyISAM's indexes: where the row is, how full the pages are, how long a text is that may be long, and how full pages of
# words are that were never sorted (migrate/myisam_keys.py).
POINTER_BYTES, FILLED, USUAL_TEXT_BYTES, LEAST_SHARE_OF_WORDS, WORDS_BY_ROW = 6, 0.8, 24.0, 20, 0.54
WORDS, PART_WORDS = "byte of words", "word of a part"
# Into so many parts the rows are cut (2 ** n): what a FULLTEXT index takes goes by how many different words each of them has. Of 4 to a million
# parts these come nearest, in InnoDB and in Aria.
PARTS_POWER = 9
ENTRIES_ARE_USUAL = 18.0
# What is sorted is compared and moved at its full length, however short the values are: by so many bytes a text takes longer than a number.
TEXT_BYTES, FIRST_TEXT_BYTES = "byte of texts", "byte of first texts"
ONCE_SECONDS = 0.01  # of tables of a few rows, on all servers
CLUSTERED = ("", COUNTER, NUMBERS, TEXTS)


@dataclass(frozen=True, slots=True)
class CopyWork:
    """A table as a copy sees it; `data_bytes` are those of rows, without free space.

    The other numbers are counts of indexes; `further_parts` are their columns beside the first one each.
    `word_bytes` are what FULLTEXT indexes take of index_bytes, about, as if their pages were full; `part_words` how many different words
    each part of the rows has, all parts together, None where pages of the indexes do not tell.
    The index that comes first is what InnoDB keeps the rows in, where it is unique and no part of it may be NULL: `clustered` says what it is of
    ("counter", "numbers", "texts", "" where there is none), and it is none of the counts.
    `text_bytes` are the longest that texts may be in an entry, of all indexes together, `first_text_bytes` those of texts that an index begins with.
    """

    rows: int
    data_bytes: int
    index_bytes: int
    columns: int
    clustered: str
    clustered_parts: int
    unique_numbers: int
    unique_texts: int
    plain_numbers: int
    plain_texts: int
    further_parts: int
    word_bytes: int
    part_words: int | None
    text_bytes: int = 0
    first_text_bytes: int = 0

    @property
    def total_bytes(self) -> int:
        """Rows and indexes."""
        return self.data_bytes + self.index_bytes


def copy_work(
    definition: Definition, rows: int, data_bytes: int, index_bytes: int, *, never_sorted: bool = False,
    words: Sequence[IndexWords] = (),
) -> CopyWork | None:  # fmt: skip
    """The work that headers tell of; None where there was no room for the definition of the indexes.

    `never_sorted`: no statistics were ever made, so that words were put in one by one. `words` are what pages of the FULLTEXT indexes told.
    """
    if definition.keys is None:
        return None
    clustered = next(filter(_may_hold_rows, definition.keys[:1]), None)
    others = definition.keys[1:] if clustered else definition.keys
    trees = [key for key in others if key.kind != "fulltext"]
    counts = {(unique, text): 0 for unique in (True, False) for text in (True, False)}
    for key in trees:
        counts[key.unique, _of_texts(key)] += 1
    return CopyWork(
        rows=rows, data_bytes=data_bytes, index_bytes=index_bytes, columns=definition.columns,
        clustered="" if clustered is None else _kind(clustered, definition),
        clustered_parts=clustered.part_count if clustered else 0,
        unique_numbers=counts[True, False], unique_texts=counts[True, True], plain_numbers=counts[False, False], plain_texts=counts[False, True],
        further_parts=sum(key.part_count - 1 for key in trees),
        word_bytes=_word_bytes(definition.keys, rows, index_bytes, never_sorted),
        part_words=round(sum(one.different[PARTS_POWER] for one in words)) if words else None,
        text_bytes=sum(part.length for key in definition.keys if key.kind != "fulltext" for part in key.parts if _is_text(part)),
        first_text_bytes=sum(key.parts[0].length for key in definition.keys if key.kind != "fulltext" and _is_text(key.parts[0])),
    )  # fmt: skip


def way_of(product: str, version: str, engine: str, *, sorts: bool) -> str:
    """How this server copies into this engine. `sorts`: it has innodb_alter_copy_bulk, and that is on."""
    if engine != INNODB:
        return ARIA
    if sorts:
        return SORTED
    major = version.partition(".")[0]
    return (
        BY_ROW_OF_DICTIONARY
        if product != "MariaDB" and major.isdecimal() and int(major) >= DICTIONARY_SINCE
        else BY_ROW
    )


def reference_seconds(work: CopyWork, way: str) -> float:
    """How long such a copy took on the machine that the pieces were measured on, with everything in memory."""
    return ONCE_SECONDS + sum(SECONDS[way].get(name, 0.0) * count for name, count in pieces(work, way).items())


def pieces(work: CopyWork, way: str) -> Mapping[str, float]:
    """What is done how often. To find an entry's place takes the longer the more there are: by the logarithm, 1 at a quarter of a million."""
    rows = float(work.rows)
    entries = rows * log2(max(rows, 2.0)) / ENTRIES_ARE_USUAL
    counts = {
        "row": rows,
        "byte": float(work.data_bytes),
        "value": rows * work.columns,
        "further part": entries * work.further_parts,
        **({WORDS: float(work.word_bytes)} if work.part_words is None else {PART_WORDS: float(work.part_words)}),
    }
    if way == ARIA:
        return counts | {
            TEXT_BYTES: entries * work.text_bytes,
            "counted entry": entries * (work.clustered == COUNTER),
            "unique entry of numbers": entries * (work.unique_numbers + (work.clustered == NUMBERS)),
            "unique entry of texts": entries * (work.unique_texts + (work.clustered == TEXTS)),
            "entry of numbers": entries * work.plain_numbers,
            "entry of texts": entries * work.plain_texts,
        }
    lengths = {TEXT_BYTES: entries * work.text_bytes} if way == BY_ROW_OF_DICTIONARY else {}
    if way == SORTED:
        lengths = {FIRST_TEXT_BYTES: entries * work.first_text_bytes}
    return (
        counts
        | lengths
        | {
            "row by numbers": entries * (work.clustered == NUMBERS),
            "row by texts": entries * (work.clustered == TEXTS),
            "further part of the rows' key": entries * max(work.clustered_parts - 1, 0),
            "entry of numbers": entries * (work.unique_numbers + work.plain_numbers),
            "entry of texts": entries * (work.unique_texts + work.plain_texts),
        }
    )


def _may_hold_rows(key: Key) -> bool:
    """InnoDB keeps rows in no long UNIQUE of MariaDB's, which is one over a hash."""
    return bool(key.flag & KEY_NOSAME) and key.kind == "btree" and not any(part.nullable for part in key.parts)


def _of_texts(key: Key) -> bool:
    return any(_is_text(part) for part in key.parts)


def _is_text(part: KeyPart) -> bool:
    return part.type in SIZED_TYPES and part.length > 1


def _word_bytes(keys: Sequence[Key], rows: int, index_bytes: int, never_sorted: bool) -> int:
    """What FULLTEXT indexes take, or would take in full pages: what trees leave."""
    trees = [key for key in keys if key.kind != "fulltext"]
    if len(trees) == len(keys):
        return 0
    entries = sum(POINTER_BYTES + sum(_usual_bytes(part) for part in key.parts) for key in trees)
    left = max(index_bytes - rows * entries / FILLED, index_bytes / LEAST_SHARE_OF_WORDS)
    return int(left * (WORDS_BY_ROW if never_sorted else 1))


def _usual_bytes(part: KeyPart) -> float:
    """What a column takes in an entry: texts are shorter than they may be."""
    return min(part.length / 3, USUAL_TEXT_BYTES) if _is_text(part) else part.length


def _kind(key: Key, definition: Definition) -> str:
    if definition.counter_index == 1:
        return COUNTER
    return TEXTS if _of_texts(key) else NUMBERS


SECONDS: Mapping[str, Mapping[str, float]] = {
    BY_ROW: {
        "row": 7.21e-07, "byte": 9.08e-09, "value": 6.06e-08, "further part": 4.56e-07, "row by numbers": 1.87e-06,
        "row by texts": 4.68e-06, "entry of numbers": 1.09e-06, "entry of texts": 2.44e-06, "byte of words": 2.76e-07,
        "word of a part": 5.32e-06,
    },
    BY_ROW_OF_DICTIONARY: {
        "row": 2.54e-06, "byte": 7.45e-09, "value": 8.2e-08, "further part": 6.86e-07, "byte of texts": 3.76e-09,
        "row by numbers": 9.38e-07, "row by texts": 2.75e-06, "entry of numbers": 1.49e-06, "entry of texts": 2.19e-06,
        "byte of words": 4.75e-07, "word of a part": 7.5e-06,
    },
    SORTED: {
        "row": 3.35e-07, "byte": 9.08e-09, "value": 6.61e-08, "further part": 9.37e-08, "byte of first texts": 2.03e-09,
        "row by numbers": 3.06e-07, "row by texts": 6.02e-07, "further part of the rows' key": 4.5e-08, "entry of numbers": 6.55e-07,
        "entry of texts": 7.33e-07, "byte of words": 2.84e-07, "word of a part": 4.16e-06,
    },
    ARIA: {
        "row": 6.46e-08, "byte": 3.78e-09, "value": 4.26e-08, "further part": 5.6e-08, "byte of texts": 3.75e-09,
        "counted entry": 8.4e-07, "unique entry of numbers": 5.14e-07, "unique entry of texts": 4.94e-07, "entry of numbers": 4.44e-07,
        "entry of texts": 4.11e-07, "byte of words": 1.05e-07, "word of a part": 1.73e-06,
    },
}  # fmt: skip
