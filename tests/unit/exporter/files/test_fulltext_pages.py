"""Pages of FULLTEXT indexes: of files that servers wrote, made up by the thousand, damaged, and in circles."""

import shutil
from dataclasses import astuple
from itertools import accumulate
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from myisam_exporter.files import fulltext_pages
from myisam_exporter.files.fulltext_pages import (
    FINEST,
    LETTERS_OF_A_SIGN,
    LONGEST_WORD_BYTES,
    MOST_LEVELS,
    MOST_UNPACKED,
    PAGES_OF_A_LEVEL,
    Entry,
    IndexWords,
    Page,
    PageError,
    parse_page,
    sample_open_words,
    sample_words,
    sampled,
)
from tests.support.repository import ROOT

POSTS = sorted((ROOT / "tests" / "recorded" / "tables").glob("*/shop/posts.MYI"))
LATIN1, UTF8MB4 = 8, 45
ON_LEAF, ON_NODE = 70, 50
ROW_POINTER, PAGE_POINTER, LONGEST = 6, 4, 265


@pytest.mark.parametrize("path", POSTS, ids=lambda path: path.parents[1].name)
def test_words_of_a_file_that_a_server_wrote_are_counted(path: Path) -> None:
    """72 rows of two words, one of which all have (tools/server_to_record.py)."""
    (found,) = sample_words(str(path.parent), "posts", None, [UTF8MB4])
    assert (found.entries, found.different[0], found.different[FINEST]) == (144, 14, 144)
    assert found.entries_by_letter == (0, 0, 0, 0, 0.5, 0.5), "text, and word0 to word12"
    assert found.word_bytes == pytest.approx(4.6, abs=0.1)


@pytest.mark.parametrize("path", POSTS, ids=lambda path: path.parents[1].name)
def test_an_open_file_tells_the_same_without_its_collations(path: Path) -> None:
    with path.open("rb") as file:
        found = sample_open_words(file.fileno(), path.stat().st_size)
        assert found == sample_words(str(path.parent), "posts", None, [UTF8MB4])
        assert sample_open_words(file.fileno(), 1024) == (), "the file is said to end before its pages"
    with path.with_suffix(".MYD").open("rb") as rows:
        assert sample_open_words(rows.fileno(), 4096) == ()


@pytest.mark.parametrize(
    ("word", "table", "ideographs"),
    [("apple", 1, 0), ("zoo", 5, 0), ("2010", 0, 0), ("ош", 0, 0), ("γη", 0, 0), ("かな", 0, 0), ("一二", 3, 1), ("国字", 5, 1), ("한글", 5, 1), ("ÿ", 5, 0)],
)
def test_words_are_shared_out_by_their_first_letter_as_innodb_does(word: str, table: int, ideographs: float) -> None:
    """Of letters beyond 255 by their higher byte (tried on MySQL 8.0 and MariaDB 10.11, utf8mb4_general_ci)."""
    page = Page(((word.encode(), 0, 10), (word.encode(), 0, 20)), ())
    found = sampled(lambda _: page, 1024, 100, UTF8MB4)
    assert found.words_by_letter == found.entries_by_letter == tuple(float(number == table) for number in range(6))
    assert (found.ideograph_words, found.ideograph_entries) == (ideographs, ideographs)


@pytest.mark.parametrize("path", POSTS, ids=lambda path: path.parents[1].name)
def test_no_word_is_in_what_is_told(path: Path) -> None:
    (found,) = sample_words(str(path.parent), "posts", None, [UTF8MB4])
    assert all(isinstance(value, (int, float)) or all(isinstance(one, (int, float)) for one in value) for value in astuple(found))


@pytest.mark.parametrize("place", [0, 26, 124, 150, 219, 260, 1024, 1025, 1026, 2048, 3072, 3073, 4096, 4097, 5120])
def test_damage_is_told_by_nothing_being_told(tmp_path: Path, place: int) -> None:
    whole = POSTS[0].read_bytes()
    for value in (0, 0x7F, 0x80, 0xFF):
        (tmp_path / "posts.MYI").write_bytes(whole[:place] + bytes([value]) * 8 + whole[place + 8 :])
        assert all(isinstance(one, IndexWords) for one in sample_words(str(tmp_path), "posts", None, [UTF8MB4]))
    (tmp_path / "posts.MYI").write_bytes(whole[:place])
    assert sample_words(str(tmp_path), "posts", None, [UTF8MB4]) == ()


def test_what_is_no_file_of_the_servers_or_has_other_indexes_tells_nothing(tmp_path: Path) -> None:
    shutil.copy(POSTS[0], tmp_path / "posts.MYI")
    assert sample_words(str(tmp_path), "posts", None, [UTF8MB4])
    assert sample_words(str(tmp_path), "posts", None, []) == ()
    assert sample_words(str(tmp_path), "posts", None, [UTF8MB4, UTF8MB4]) == ()
    assert sample_words(str(tmp_path), "none", None, [UTF8MB4]) == ()
    assert sample_words(str(tmp_path / "none"), "posts", None, [UTF8MB4]) == ()
    assert sample_words(str(tmp_path), "posts", 12_345_678, [UTF8MB4]) == ()
    (tmp_path / "link.MYI").symlink_to(tmp_path / "posts.MYI")
    assert sample_words(str(tmp_path), "link", None, [UTF8MB4]) == ()


def test_pages_that_wait_in_memory_are_not_relied_on(tmp_path: Path) -> None:
    whole = bytearray(POSTS[0].read_bytes())
    for place, bit in ((5, 64), (26, 2)):  # DELAY_KEY_WRITE, crashed
        changed = whole.copy()
        changed[place] |= bit
        (tmp_path / "posts.MYI").write_bytes(changed)
        assert sample_words(str(tmp_path), "posts", None, [UTF8MB4]) == ()


def key(word: bytes, place: int, shared: int | None = None, rows: int = 0) -> bytes:
    """An entry as it is stored, so many bytes of its word those of the one before (None: whole)."""
    head = len(word).to_bytes(2, "big") + word
    if shared is not None:
        head = (0x8000 | shared).to_bytes(2, "big") + (bytes([len(word) - shared]) + word[shared:] if shared else b"")
    weight = (-rows).to_bytes(4, "big", signed=True) if rows else b"\x3f\x80\0\0"
    return head + weight + place.to_bytes(ROW_POINTER, "big")


def page(body: bytes, node: bool = False) -> bytes:
    return (0x8000 * node | len(body) + 2).to_bytes(2, "big") + body.ljust(1022, b"\xaa")


def test_entries_are_unpacked() -> None:
    body = key(b"word", 5) + key(b"word", 9, 0) + key(b"worse", 7, 3) + key(b"x" * 20, 1, rows=3000)
    assert parse_page(page(body), LONGEST, ROW_POINTER, PAGE_POINTER) == Page(
        ((b"word", 0, 5), (b"word", 0, 9), (b"worse", 0, 7), (b"x" * 20, 3000, 1)), (), len(body) + 2
    )
    node = (3).to_bytes(4, "big") + key(b"word", 5) + (4).to_bytes(4, "big")
    assert parse_page(page(node, True), LONGEST, ROW_POINTER, PAGE_POINTER) == Page(((b"word", 0, 5),), (3072, 4096), len(node) + 2)


@st.composite
def nearly_pages(draw: st.DrawFn) -> bytes:
    """Any bytes, and pages of which some were changed: without these hardly one is a page."""
    leaf = key(b"word", 5) + key(b"word", 9, 0) + key(b"worse", 7, 3) + key(b"x" * 20, 1, rows=3000)
    node = (3).to_bytes(4, "big") + key(b"word", 5) + (4).to_bytes(4, "big")
    whole = draw(st.sampled_from((page(leaf), page(node, True))))
    place, other = draw(st.integers(0, len(leaf) + 8)), draw(st.binary(max_size=3))
    return draw(st.sampled_from((whole[:place] + other + whole[place + len(other) :], draw(st.binary(max_size=1024)))))


@given(nearly_pages())
@example(page(key(b"word", 5)))
def test_any_bytes_are_a_page_or_none(data: bytes) -> None:
    try:
        found = parse_page(data, LONGEST, ROW_POINTER, PAGE_POINTER)
    except PageError:
        return
    assert 0 < len(found.entries) <= len(data)
    assert len(found.below) in (0, len(found.entries) + 1)
    for wrong in (key(b"word", 5, 3), key(b"a", 5) + key(b"abcdefg", 5, 2), key(b"x" * 300, 5), b"\0", b"", key(b"word", 5)[:-1]):
        with pytest.raises(PageError):
            parse_page(page(wrong), LONGEST, ROW_POINTER, PAGE_POINTER)


def counting_up(letters: int, entries: int = 60) -> bytes:
    """A page of words of so many digits that count up, each packed as far as it can be."""
    words = [b"%0*d" % (letters, number) for number in range(entries)]
    shared = [None, *(letters - 1 - (number % 10 == 0) for number in range(1, entries))]
    return page(b"".join(key(word, 1, kept) for word, kept in zip(words, shared, strict=True)))


def test_what_no_word_can_have_is_no_page_whatever_the_header_says() -> None:
    longest = key(b"x" * LONGEST_WORD_BYTES, 5)
    assert parse_page(page(longest), 65_535, ROW_POINTER, PAGE_POINTER).entries[0][0] == b"x" * LONGEST_WORD_BYTES
    for wrong in (key(b"x" * (LONGEST_WORD_BYTES + 1), 5), longest + key(b"x" * (LONGEST_WORD_BYTES + 1), 5, LONGEST_WORD_BYTES)):
        with pytest.raises(PageError):
            parse_page(page(wrong), 65_535, ROW_POINTER, PAGE_POINTER)


def test_a_page_does_not_unpack_into_far_more_than_itself() -> None:
    found = parse_page(counting_up(40), LONGEST, ROW_POINTER, PAGE_POINTER)
    assert (len(found.entries), found.entries[-1][0]) == (60, b"%040d" % 59)
    assert sum(len(word) for word, _, _ in found.entries) <= MOST_UNPACKED * 1024
    with pytest.raises(PageError):
        parse_page(counting_up(200), LONGEST, ROW_POINTER, PAGE_POINTER)
    again = page(key(b"x" * 200, 5) + key(b"x" * 200, 5, 0) * 50)  # the same word takes nothing more
    assert len(parse_page(again, LONGEST, ROW_POINTER, PAGE_POINTER).entries) == 51


def test_a_word_that_comes_again_is_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    folded, calls = fulltext_pages._folded, []

    def counting(word: bytes, is_utf8: bool | None) -> str:
        calls.append(word)
        return folded(word, is_utf8)

    monkeypatch.setattr(fulltext_pages, "_folded", counting)
    for times in (20, 60):
        pages, root = tree([(b"word", 0, number) for number in range(times)])
        calls.clear()
        assert sampled(pages.__getitem__, root, 100, LATIN1).different[0] == 1
        assert len(calls) == 2, "the page begins with it, and it is there"


def test_a_sign_that_stands_for_a_sentence_is_not_spelt_out_without_an_end() -> None:
    word = "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}".encode() * 112
    assert len(word) == LONGEST_WORD_BYTES
    assert len(fulltext_pages._folded(word, True)) <= LETTERS_OF_A_SIGN * 112
    assert fulltext_pages._folded("ệ각½".encode(), True) == "e\u1100\u1161\u11a81\u20442", "all others are whole"


def tree(entries: list[Entry]) -> tuple[dict[int, Page], int]:
    """A B-tree of these entries, its pages full, and where its root is."""
    pages: dict[int, Page] = {}
    level: list[Page] = []
    between: list[Entry] = []
    for start in range(0, len(entries), ON_LEAF + 1):
        level.append(Page(tuple(entries[start : start + ON_LEAF]), ()))
        between += entries[start + ON_LEAF : start + ON_LEAF + 1]
    between = between[: len(level) - 1]
    while True:
        places = []
        for one in level:
            places.append((len(pages) + 1) * 1024)
            pages[places[-1]] = one
        if len(level) == 1:
            return pages, places[0]
        above: list[Page] = []
        higher: list[Entry] = []
        for start in range(0, len(places), ON_NODE):
            above.append(Page(tuple(between[start : start + ON_NODE - 1]), tuple(places[start : start + ON_NODE])))
            higher += between[start + ON_NODE - 1 : start + ON_NODE]
        level, between = above, higher


def drawn(texts: int, words: int, of: int, power: float) -> list[Entry]:
    """The entries of texts that are drawn by Zipf's law, text after text."""
    random = Random(5)
    weights = list(accumulate(1 / (rank + 1) ** power for rank in range(of)))
    order = random.sample(range(of), of)
    entries = {(b"%06d" % order[word], 0, text) for text in range(texts) for word in random.choices(range(of), cum_weights=weights, k=words)}
    return sorted(entries, key=lambda entry: (entry[0], entry[2]))


@pytest.mark.parametrize(("words", "of", "power"), [(10, 20_000, 1.0), (10, 20_000, 1.6), (10, 300, 0.3), (6, 400_000, 0.0)], ids=["language", "skewed", "list", "rare"])
def test_a_sample_tells_what_the_index_has(words: int, of: int, power: float) -> None:
    texts = 30_000
    entries = drawn(texts, words, of, power)
    pages, root = tree(entries)
    read: list[int] = []

    def page_at(position: int) -> Page:
        read.append(position)
        return pages[position]

    found = sampled(page_at, root, texts, LATIN1)
    assert len(read) <= 3 * PAGES_OF_A_LEVEL < len(pages)
    assert found.entries == pytest.approx(len(entries), rel=0.03)
    for power_of_two in (0, 5, 8):
        parts = 1 << power_of_two
        true = len({(word, text * parts // texts) for word, _, text in entries})
        counted = true / found.stands_for
        assert found.different[power_of_two] == pytest.approx(true, rel=3.5 / counted**0.5 + 0.02)


def test_words_that_differ_in_case_and_accents_are_one() -> None:
    words = ("École", "école", "ecole", "ECOLE", "zebra")
    pages, root = tree([(word.encode(), 0, number) for number, word in enumerate(words)])
    assert sampled(pages.__getitem__, root, 5, UTF8MB4).different[0] == 2


@pytest.mark.parametrize(("encoding", "collation"), [("utf-8", UTF8MB4), ("latin-1", LATIN1)])
def test_without_a_collation_words_are_taken_for_what_they_can_be(encoding: str, collation: int) -> None:
    words = ("École", "école", "ècole", "zebra", "Zebra", "Žižka".encode(encoding, "replace").decode(encoding))
    pages, root = tree([(word.encode(encoding), 0, number) for number, word in enumerate(words)])
    known, unknown = (sampled(pages.__getitem__, root, 6, one) for one in (collation, None))
    assert unknown == known
    assert known.different[0] == 3


def test_a_word_with_a_tree_of_its_own_counts_as_its_rows() -> None:
    pages, root = tree([(b"aaaa", 5000, 1), (b"bbbb", 0, 7), (b"bbbb", 0, 99)])
    found = sampled(pages.__getitem__, root, 100, LATIN1)
    assert (found.entries, found.popular, round(found.different[0]), round(found.different[3])) == (5002, 5000, 2, 10)


def test_a_tree_without_an_end_ends() -> None:
    read: list[int] = []

    def page_at(position: int) -> Page:
        read.append(position)
        return Page(((b"word", 0, 1),) * 400, (1024,) * 401)

    with pytest.raises(PageError):
        sampled(page_at, 1024, 10, LATIN1)
    assert len(read) <= MOST_LEVELS * PAGES_OF_A_LEVEL


def test_a_page_that_cannot_be_read_is_left_out_and_many_are_not_borne() -> None:
    entries = drawn(20_000, 5, 3000, 1.0)
    pages, root = tree(entries)
    leaves = [position for position, one in pages.items() if not one.below]

    def without(every: int) -> IndexWords:
        lost = set(leaves[::every])

        def page_at(position: int) -> Page:
            if position in lost:
                raise PageError
            return pages[position]

        return sampled(page_at, root, 20_000, LATIN1)

    assert without(37).entries == pytest.approx(len(entries), rel=0.05)
    with pytest.raises(PageError):
        without(3)
