"""Where a text has its parameters."""

import pytest

from myisam_advisor.workload.probing.placeholders import filled, placeholders


@pytest.mark.parametrize(
    "text",
    [
        b"SELECT !", b"!", b"SELECT 'a?', !, \"?\", `?`", b"SELECT 'it''s ?' , !", b"SELECT 'it\\'s ?', !", b"SELECT ! /* ? */ + ! -- ?\n, ! # ?", b"SELECT 5--!",
        b"SELECT /*! ! */ /*!50000 ! */ /*M! ! */", b"SELECT '?", b"SELECT `?", b"SELECT /* ?", b"SELECT '\\\\', !", b"SELECT \"\"\"?\", !",
    ],
)  # fmt: skip
def test_each_is_found_and_nothing_else(text: bytes) -> None:
    wanted = [at for at, byte in enumerate(text) if byte == ord("!") and text[at - 1 : at] not in (b"*", b"M")]
    assert placeholders(text.replace(b"!", b"?").replace(b"/*?", b"/*!").replace(b"/*M?", b"/*M!"), True) == wanted


def test_a_backslash_may_be_a_letter() -> None:
    assert placeholders(rb"SELECT '\', ?, '?'", False) == [12]
    assert placeholders(rb"SELECT '\', ?, '?'", True) == [16]


def test_values_take_their_places() -> None:
    assert filled(b"a ? b ?", [2, 6], [b"'?'", b"7"]) == b"a '?' b 7"
    assert filled(b"a", [], []) == b"a"


def test_many_escapes_take_no_long_time() -> None:
    assert placeholders(b"SELECT '" + b"\\'" * 30_000 + b"', ?", True) == [60_012 - 1]
