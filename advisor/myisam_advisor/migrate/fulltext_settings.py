"""Which words a server's FULLTEXT indexes hold: the settings of MyISAM, and those of InnoDB, which know nothing of each other.

Sources: MySQL manual, "Fine-Tuning MySQL Full-Text Search", "Full-Text Stopwords"; MariaDB's "Full-Text Index Overview". MyISAM's built-in
list is storage/myisam/ft_stopwords in the source (543 words), InnoDB's fts_default_stopword in storage/innobase/fts/fts0fts.cc (36).
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.numbers import whole_number

SHORTEST, INNODB_SHORTEST = 4, 3
NGRAM = "ngram"  # the parser
# How many of each engine's built-in stopwords there are; of how many characters ngram makes a sequence by default.
MYISAM_STOPWORDS, INNODB_STOPWORDS, SEQUENCE = 543, 36, 2
# What servers take: manual, ft_min_word_len, innodb_ft_min_token_size and ngram_token_size.
WORD_CHARACTERS, TOKEN_CHARACTERS, SEQUENCE_CHARACTERS = (1, 84), (0, 16), (1, 10)
BUILT_IN_FILE = "(built-in)"
# ft_boolean_syntax of MyISAM, which InnoDB knows no other than.
OPERATORS = '+ -><()~*:""&|'
ON = frozenset({"ON", "1", "YES"})


@dataclass(frozen=True, slots=True)
class FulltextSettings:
    """What is None is not known, and so taken to be as it is by default. `stopword_file` is "" where MyISAM has no stopwords."""

    shortest: int | None = None
    innodb_shortest: int | None = None
    stopword_file: str | None = None
    innodb_stopwords: bool | None = None
    innodb_stopword_table: str = ""
    operators: str = OPERATORS
    sequence: int | None = None


NOT_KNOWN = FulltextSettings()


def of_variables(told: Mapping[str, str]) -> FulltextSettings:
    """What the server's variables, by their names in small letters, say."""
    enabled = told.get("innodb_ft_enable_stopword")
    return FulltextSettings(
        _within(told.get("ft_min_word_len"), WORD_CHARACTERS),
        _within(told.get("innodb_ft_min_token_size"), TOKEN_CHARACTERS),
        told.get("ft_stopword_file"),
        None if enabled is None else enabled.upper() in ON,
        told.get("innodb_ft_user_stopword_table") or told.get("innodb_ft_server_stopword_table") or "",
        told.get("ft_boolean_syntax") or OPERATORS,
        _within(told.get("ngram_token_size"), SEQUENCE_CHARACTERS),
    )


def _within(text: str | None, characters: tuple[int, int]) -> int | None:
    said = whole_number(text)
    return said if said is not None and characters[0] <= said <= characters[1] else None
