"""Texts that are kept once, and never without bound."""

import pytest

from myisam_exporter.outside import shared_texts
from myisam_exporter.outside.shared_texts import LONGEST_CHARACTERS, SharedTexts


def made(text: str) -> str:
    return "".join(list(text))  # an object of its own


def test_equal_texts_become_one_object() -> None:
    texts = SharedTexts()
    (first,) = texts.each_once([made("key_buffer_size")])
    assert texts.each_once([made("key_buffer_size"), "", made("key_buffer_size")]) == ["key_buffer_size", "", "key_buffer_size"]
    assert texts.each_once(iter([made("key_buffer_size")]))[0] is first


def test_what_is_kept_is_bounded_in_number_and_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_texts, "KEPT_TEXTS", 20)
    texts = SharedTexts()
    for number in range(50):
        assert texts.each_once([f"job_{number}"]) == [f"job_{number}"]
        assert len(texts._kept) <= 20
    long = "x" * (LONGEST_CHARACTERS + 1)
    assert texts.each_once([long])[0] is long
    assert long not in texts._kept
