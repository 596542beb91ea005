"""How often words come again in a FULLTEXT index, from a few of its pages: numbers only.

MyISAM keeps an entry for each word of each row - the word, its weight, where the row lies - in the order of words, and of one word in the order
of rows. So an entry and the one before it tell whether a word is there for the first time, and whether for the first time in its part of the
rows. From the root down, evenly spread pages of each level are read, PAGES_OF_A_LEVEL at most; each page of the lowest level is as likely to be
among them as any other, so what is counted there, times how many of all pages each stands for, is what the index has.

The words are what users wrote. They are compared here and forgotten: what is returned are counts, a mean length, and shares.

Whoever may write to the file may have made it up, and a server may change it at the same moment: no more levels and pages are read than said
here, a page that contradicts itself is left out, and where a tenth of them do, or the header says that pages may be behind, nothing is told.
Words are packed, so that a page may stand for hundreds of times its bytes: what no server's words take is no page either.

Sources: storage/myisam/mi_search.c (_mi_get_pack_key, _mi_kpos), ft_static.c (ft_keysegs: a word and its weight), ft_update.c
(_mi_ft_convert_to_ft2: a word that fills a page becomes one entry, with the number of its rows, made negative, in the place of the weight),
include/ft_global.h (HA_FT_MAXBYTELEN: 254, in newer versions of MySQL 336).
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import exp, inf, log

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.file_state import refuse_exhaustion
from myisam_exporter.files.myi_definition import KEY_FULLTEXT, Key
from myisam_exporter.files.myi_header import Header, HeaderError, parse_header, read_header_bytes, tree_pointers
from myisam_exporter.outside.foreign_files import ForeignFiles

PAGES_OF_A_LEVEL, MOST_LEVELS = 192, 8
MOST_LOST = 0.1
MANY_ALIKE, FEW_COUNTED = 0.2, 4
# The rows are thought of as cut, by their places in the file, into 1, 2, 4 and so on up to so many parts (a power of two).
FINEST = 20
LETTERS_POWER = 6  # words of as many parts are shared out to InnoDB's tables
# InnoDB has a table for words that begin with what comes before A, and one from each of these on: A, F, K, P, U (fts0types.ic, fts_index_selector).
# Of a letter beyond 255 the higher byte counts (fts_select_index_by_range): kana and Cyrillic come before A, Chinese characters behind P.
FIRST_LETTERS = (65, 70, 75, 80, 85)
# Han characters and Hangul, which Unicode's own collations have behind all other letters.
FIRST_IDEOGRAPH = 0x3400
PAGE_UNIT, LARGEST_PAGE = 1024, 16_384  # MI_MIN_KEY_BLOCK_LENGTH, MI_MAX_KEY_BLOCK_LENGTH
WEIGHT_BYTES = 4  # HA_FT_WLEN
LONGEST_WORD_BYTES = 336  # 84 characters of four bytes
LETTERS_OF_A_SIGN = 3  # it is made of no more in any language; a few stand for a sentence (U+FDFA)
# So many times a page's bytes its different words may have: 40 digits that count up have as many.
MOST_UNPACKED = 3
HIGH_BIT, LONG_REST = 0x8000, 255
Entry = tuple[bytes, int, int]


class PageError(Exception):
    """A page contradicts itself, or is none."""


@dataclass(frozen=True, slots=True)
class IndexWords:
    """What a FULLTEXT index has: so many `entries`, a word of `word_bytes` (mean) in each.

    `different[n]`: where the rows are cut into 2 ** n parts, the sum of how many different words each has. Into the six tables of InnoDB, by
    their first letter, go these shares of them (`words_by_letter`) and of the entries. Each that was counted stands for so many (`stands_for`).
    Of the entries `popular` are in trees of their own; the pages of the others have `used_bytes`, and are `full` to this share.
    Of words and of entries these shares begin with Han characters or Hangul (`ideograph_words`, `ideograph_entries`).
    """

    entries: float
    word_bytes: float
    different: tuple[float, ...]
    words_by_letter: tuple[float, ...]
    entries_by_letter: tuple[float, ...]
    stands_for: float
    popular: float = 0.0
    used_bytes: float = 0.0
    full: float = 1.0
    ideograph_words: float = 0.0
    ideograph_entries: float = 0.0


@dataclass(frozen=True, slots=True)
class Page:
    """Entries in their order; a page with pages below has one more of these than entries. So many of its bytes are used, of so many."""

    entries: tuple[Entry, ...]
    below: tuple[int, ...]
    used_bytes: int = PAGE_UNIT
    bytes: int = PAGE_UNIT


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page begins, and the entries above it that stand before and behind it."""

    position: int
    before: Entry | None = None
    behind: Entry | None = None


def sample_words(path: str, stem: str, owner: int | None, collations: Sequence[int]) -> tuple[IndexWords, ...]:
    """One for each FULLTEXT index of a table's file, whose collations are given in their order; none where they cannot be told.

    No rows are read, and no word of them is returned.
    """
    files = ForeignFiles(owner)
    try:
        directory = files.open_directory(path)
        try:
            descriptor, status = files.opened(stem + ".MYI", directory)
        finally:
            os.close(directory)
        try:
            return sample_open_words(descriptor, status.st_size, collations)
        finally:
            os.close(descriptor)
    except OSError as error:
        refuse_exhaustion(error)
        return ()


def sample_open_words(
    descriptor: int, file_bytes: int, collations: Sequence[int] | None = None
) -> tuple[IndexWords, ...]:
    """The same of an open .MYI of so many bytes; without collations each word is taken for what it can be, UTF-8 or bytes."""
    try:
        return _of_file(descriptor, file_bytes, collations)
    except (HeaderError, PageError):
        return ()
    except OSError as error:
        refuse_exhaustion(error)
        return ()


def _of_file(descriptor: int, file_bytes: int, collations: Sequence[int] | None) -> tuple[IndexWords, ...]:
    data = read_header_bytes(descriptor)
    header = parse_header(data)
    roots, row_pointer, page_pointer = tree_pointers(data)
    keys = [(number, key) for number, key in enumerate(header.definition.keys or ()) if key.flag & KEY_FULLTEXT]
    rows_end = _rows_end(header)
    # Pages that wait in the server's memory are not in the file.
    of_keys: Sequence[int | None] = [None] * len(keys) if collations is None else collations
    if header.crashed or header.delay_key_write or len(keys) != len(of_keys) or not rows_end:
        raise PageError
    found = []
    for (number, key), collation in zip(keys, of_keys, strict=True):
        _expect_readable(key)

        def page_at(position: int, key: Key = key) -> Page:
            end = min(file_bytes, header.index_bytes)
            if position % PAGE_UNIT or not PAGE_UNIT <= position <= end - key.page_bytes:
                raise PageError
            page = os.pread(descriptor, key.page_bytes, position)
            return parse_page(page, key.maximum_bytes, row_pointer, page_pointer)

        words = sampled(page_at, roots[number], rows_end, collation)
        if words.stands_for * key.page_bytes > header.index_bytes:
            raise PageError
        found.append(words)
    return tuple(found)


def _rows_end(header: Header) -> int:
    """What is behind the last place of a row: places count bytes, but rows where all are of one length."""
    return header.rows + header.deleted_rows if header.row_format == "fixed" else header.data_bytes


def _expect_readable(key: Key) -> None:
    if key.page_bytes % PAGE_UNIT or not PAGE_UNIT <= key.page_bytes <= LARGEST_PAGE:
        raise PageError


def parse_page(data: bytes, longest: int, row_pointer: int, page_pointer: int) -> Page:
    """One page of a FULLTEXT index. Raises PageError."""
    try:
        head = int.from_bytes(data[:2], "big")
        used, node = head & ~HIGH_BIT, page_pointer if head & HIGH_BIT else 0
        if not 2 <= used <= len(data):
            raise PageError
        entries: list[Entry] = []
        at, word, room = 2 + node, b"", MOST_UNPACKED * len(data)
        longest = min(longest, LONGEST_WORD_BYTES)
        below = [int.from_bytes(data[2:at], "big") * PAGE_UNIT] if node else []
        while at < used:
            before = word
            word, at = _word(data, at, before)
            if word is not before:
                room -= len(word)
            place = at + WEIGHT_BYTES
            end = place + row_pointer
            if len(word) > longest or room < 0 or end + node > used:
                raise PageError
            weight = int.from_bytes(data[at:place], "big", signed=True)
            entries.append((word, max(-weight, 0), int.from_bytes(data[place:end], "big")))
            at = end + node
            if node:
                below.append(int.from_bytes(data[end:at], "big") * PAGE_UNIT)
    except IndexError:
        raise PageError from None
    if not entries or at != used:
        raise PageError
    return Page(tuple(entries), tuple(below), used, len(data))


def _word(data: bytes, at: int, before: bytes) -> tuple[bytes, int]:
    """An entry's word, and what comes behind it: whole, or as long a beginning of the one before with another end."""
    length = data[at] << 8 | data[at + 1]
    at += 2
    if not length & HIGH_BIT:
        return data[at : at + length], at + length
    length &= ~HIGH_BIT
    if not length:
        return before, at
    rest = data[at]
    at += 1
    if rest == LONG_REST:
        rest = data[at] << 8 | data[at + 1]
        at += 2
    if length > len(before):
        raise PageError
    return before[:length] + data[at : at + rest], at + rest


def sampled(page_at: Callable[[int], Page], root: int, rows_end: int, collation: int | None) -> IndexWords:
    """The words of the tree below this page. Raises PageError."""
    chosen, stands_for = [_Place(root)], 1.0
    for _ in range(MOST_LEVELS):
        read = _read(page_at, chosen)
        stands_for *= len(chosen) / len(read)
        if not read[0][1].below:
            return _counted(read, stands_for, rows_end, collation)
        below = [place for above, page in read for place in _places(above, page)]
        chosen = _spread(below)
        stands_for *= len(below) / len(chosen)
    raise PageError


def _read(page_at: Callable[[int], Page], places: Sequence[_Place]) -> list[tuple[_Place, Page]]:
    """Those that can be read, all of one level."""
    read = []
    for place in places:
        try:
            read.append((place, page_at(place.position)))
        except PageError:
            continue
    deeper = [one for one in read if one[1].below]
    read = deeper if 2 * len(deeper) > len(read) else [one for one in read if not one[1].below]
    if len(read) < len(places) * (1 - MOST_LOST):
        raise PageError
    return read


def _places(above: _Place, page: Page) -> list[_Place]:
    around = (above.before, *page.entries, above.behind)
    return [_Place(position, *around[number : number + 2]) for number, position in enumerate(page.below)]


def _spread(places: Sequence[_Place]) -> list[_Place]:
    step = max(len(places) / PAGES_OF_A_LEVEL, 1.0)
    return [places[int((number + 0.5) * step)] for number in range(min(len(places), PAGES_OF_A_LEVEL))]


def _counted(
    read: Sequence[tuple[_Place, Page]], stands_for: float, rows_end: int, collation: int | None
) -> IndexWords:
    """What the entries of these pages tell, each by the one before it; one that stands on a page above is counted with the page that it follows."""
    is_utf8 = None if collation is None else character_set(collation)[0].startswith("utf8")
    # By the fewest parts in which an entry is its word's first in its part: so it is in more parts, too.
    first_in, popular = [0] * (FINEST + 2), [0.0] * (FINEST + 1)
    new_by_letter, all_by_letter, word_bytes = [0] * (len(FIRST_LETTERS) + 1), [0] * (len(FIRST_LETTERS) + 1), 0
    new_ideographs = all_ideographs = 0
    for place, page in read:
        last: bytes | None = None
        folded: str | None = None
        part_before = 0
        if place.before is not None:
            last, part_before = place.before[0], _finest_part(place.before[2], rows_end)
            folded = _folded(last, is_utf8)
        behind = (place.behind,) if place.behind is not None else ()
        for word, rows, row in (*page.entries, *behind):
            before, part = folded, _finest_part(row, rows_end)
            if folded is None or word != last:  # most of a large index are the same again
                last, folded = word, _folded(word, is_utf8)
            new = FINEST + 1 - (part ^ part_before).bit_length() if folded == before else 0
            if rows:  # they have a tree of their own, which is not looked into: as if they were drawn
                popular = [held + expected_parts(rows, 1 << power) for power, held in enumerate(popular)]
            else:
                first_in[new] += 1
            letter = _first_letter(folded)
            table = _table_of(letter)
            is_new = rows or new <= LETTERS_POWER
            new_by_letter[table] += 1 if is_new else 0
            all_by_letter[table] += rows or 1
            if letter >= FIRST_IDEOGRAPH:
                new_ideographs += 1 if is_new else 0
                all_ideographs += rows or 1
            word_bytes += (rows or 1) * len(word)
            part_before = part
    entries, used_bytes = sum(all_by_letter), sum([page.used_bytes for _, page in read])
    different = [(one + other) * stands_for for one, other in zip(accumulate(first_in[:-1]), popular, strict=True)]
    least, most = _bounds([_folded(page.entries[0][0], is_utf8) for _, page in read], first_in[0])
    different = [min(max(count, least), most * (1 << power)) for power, count in enumerate(different)]
    return IndexWords(
        entries * stands_for,
        word_bytes / entries,
        tuple(different),
        _shares(new_by_letter if any(new_by_letter) else all_by_letter),
        _shares(all_by_letter),
        stands_for,
        (entries - sum(first_in)) * stands_for,
        used_bytes * stands_for,
        used_bytes / sum([page.bytes for _, page in read]),
        new_ideographs / sum(new_by_letter) if any(new_by_letter) else all_ideographs / entries,
        all_ideographs / entries,
    )


def _first_letter(folded: str) -> int:
    """Its number, as a capital; of Hangul, which folding takes apart, the whole sign's."""
    sign = folded[:LETTERS_OF_A_SIGN]
    if not sign.isascii():
        sign = unicodedata.normalize("NFC", sign)
    return ord(sign[:1].upper()[:1] or "\0")


def _table_of(letter: int) -> int:
    return sum([(letter if letter < 256 else letter >> 8) >= first for first in FIRST_LETTERS])


def _shares(counts: Sequence[int]) -> tuple[float, ...]:
    return tuple([count / sum(counts) for count in counts])


def _bounds(first: Sequence[str], counted: int) -> tuple[float, float]:
    """How many words there are at least and at most, by those that pages begin with: between two that begin alike no other word begins.

    Of a list of few words hardly one begins on the pages that are read, and these tell more than what was counted.
    """
    alike = sum([one == other for one, other in zip(first, first[1:], strict=False)])  # noqa: RUF007 - Python 3.6 has no pairwise
    few = alike > MANY_ALIKE * len(first) and counted <= FEW_COUNTED
    return len(first) - alike, max(-log(alike / len(first)) * len(first), 1.0) if few else inf


def _finest_part(row: int, rows_end: int) -> int:
    return min((row << FINEST) // rows_end, (1 << FINEST) - 1)


def expected_parts(rows: int, parts: float) -> float:
    """In how many parts so many rows are, drawn at random."""
    return parts * (1 - exp(-rows / parts))


def _folded(word: bytes, is_utf8: bool | None) -> str:
    """As collations compare it, nearly: without case and accents. Words that differ in these only stand beside each other where the collation takes them for one."""
    text = (_either(word) if is_utf8 is None else word.decode("utf-8" if is_utf8 else "latin-1", "replace")).casefold()
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFKD", text)[: LETTERS_OF_A_SIGN * len(text)]
    return "".join([one for one in letters if not unicodedata.combining(one)])


def _either(word: bytes) -> str:
    """Words of other sets than UTF-8 are hardly ever UTF-8 by chance."""
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        return word.decode("latin-1")
