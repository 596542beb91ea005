"""Texts with a FULLTEXT index: what a few pages of it tell, and how large the table becomes, on four real servers."""

from collections.abc import Callable
from itertools import accumulate
from random import Random

import pytest

from myisam_advisor.migrate.sizes import bytes_after
from myisam_advisor.migrate.tables import find_tables
from myisam_advisor.trial.private.private_server import PrivateServer

from .conftest import schema
from .test_migrate_schemas import FOUR, kind_of

TEXTS, WORDS, DIFFERENT, AT_ONCE = 12_000, 25, 20_000, 1000
COLUMNS = "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, x TEXT NOT NULL, FULLTEXT (x)"


@pytest.fixture(scope="module", params=FOUR)
def four(request: pytest.FixtureRequest, running: Callable[[str], PrivateServer]) -> PrivateServer:
    return running(request.param)


@pytest.fixture(scope="module")
def texts() -> list[list[str]]:
    """Words as often as Zipf's law has it, as long as words are."""
    random = Random(11)
    words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(4, 11))) for _ in range(DIFFERENT)]
    weights = list(accumulate(1 / (rank + 1) for rank in range(DIFFERENT)))
    return [random.choices(words, cum_weights=weights, k=WORDS) for _ in range(TEXTS)]


def filled(server: PrivateServer, texts: list[list[str]], options: str = "") -> None:
    rows = [f"('{' '.join(words)}')" for words in texts]
    inserts = [f"INSERT INTO t (x) VALUES {', '.join(rows[start : start + AT_ONCE])}" for start in range(0, len(rows), AT_ONCE)]
    server.execute(f"CREATE TABLE t ({COLUMNS}) ENGINE=MyISAM DEFAULT CHARSET=latin1 {options}", *inserts, "FLUSH TABLES", database="words")


def test_a_table_of_texts_becomes_as_large_as_was_told(four: PrivateServer, texts: list[list[str]]) -> None:
    with schema(four, "words"):
        filled(four, texts)
        (found,) = find_tables(four.data_directory, None, ["words.t"]).tables
        assert found.contents is not None
        (words,) = found.contents.words
        assert words.entries == pytest.approx(sum(len(set(text)) for text in texts), rel=0.03)
        assert words.different[0] == pytest.approx(len({word for text in texts for word in text}), rel=0.25)
        low, high = bytes_after(found.structure, found.contents, "InnoDB", kind_of(four, ""))
        four.execute("ALTER TABLE t ENGINE=InnoDB", "FLUSH TABLES", database="words")
        became = sum(path.stat().st_size for path in (four.data_directory / "words").iterdir() if path.suffix == ".ibd")
        assert became <= high
        if "5.6" in four.binaries.name:
            return  # another thread writes words there, and may not have begun
        assert low <= became
        assert (low + high) / 2 == pytest.approx(became, rel=0.12)
        assert high < low * 1.5


NGRAM_TEXTS = 4000


@pytest.mark.parametrize("mysql", ["mysql-8.0", "mysql-9.7"])
@pytest.mark.parametrize("characters", [60, 300])
def test_sequences_of_characters_become_as_large_as_was_told(running: Callable[[str], PrivateServer], mysql: str, characters: int) -> None:
    """Japanese words that come again, of kana and of Han characters, which Unicode's collation puts into two tables."""
    server, random = running(mysql), Random(5)
    letters = [chr(0x3042 + number) for number in range(80)] + [chr(0x4E00 + 11 * number) for number in range(800)]
    words = ["".join(random.choices(letters, k=random.randint(2, 4))) for _ in range(8000)]
    weights = list(accumulate(1 / (rank + 2) for rank in range(8000)))
    count = NGRAM_TEXTS * 60 // characters
    rows = [f"('{''.join(random.choices(words, cum_weights=weights, k=characters // 3))}')" for _ in range(count)]
    with schema(server, "words"):
        columns = COLUMNS.replace("FULLTEXT (x)", "FULLTEXT (x) WITH PARSER ngram")
        inserts = [f"INSERT INTO t (x) VALUES {', '.join(rows[start : start + AT_ONCE])}" for start in range(0, count, AT_ONCE)]
        server.execute("SET NAMES utf8mb4", f"CREATE TABLE t ({columns}) ENGINE=MyISAM CHARSET=utf8mb4", *inserts, "FLUSH TABLES", database="words")
        (found,) = find_tables(server.data_directory, None, ["words.t"]).tables
        assert found.contents is not None
        low, high = bytes_after(found.structure, found.contents, "InnoDB", kind_of(server, ""))
        server.execute("ALTER TABLE t ENGINE=InnoDB", "FLUSH TABLES", database="words")
        became = sum(path.stat().st_size for path in (server.data_directory / "words").iterdir() if path.suffix == ".ibd")
    assert low <= became <= high
    assert (low + high) / 2 == pytest.approx(became, rel=0.1)


def test_words_of_many_rows_have_a_tree_of_their_own_where_pointers_are_short(four: PrivateServer) -> None:
    """MAX_ROWS makes a pointer to index pages no longer than one to rows."""
    with schema(four, "words"):
        filled(four, [["alpha", "omega", f"group{number % 7}", f"number{number:05}"] for number in range(4000)], "MAX_ROWS=100000 AVG_ROW_LENGTH=100")
        four.execute("REPAIR TABLE t QUICK", "FLUSH TABLES", database="words")
        (found,) = find_tables(four.data_directory, None, ["words.t"]).tables
        assert found.contents is not None
        (words,) = found.contents.words
        assert words.entries == pytest.approx(4 * 4000, rel=0.05)
