"""What a rule's text says whatever was found: whole sentences, and never the remains of a template."""

import re

import pytest

from myisam_advisor.catalogue.rules import Rule, shipped_rules
from myisam_advisor.reports.page.general_text import VALUE, general_text

FIELDS = ("recommendation", "expect", "cost", "undo", "verify")


def test_a_sentence_with_a_value_is_left_out() -> None:
    text = general_text("Close it. It takes {{ seconds | duration }} or more. Then open it again.")
    assert text.always == ("Close it.", "Then open it again.")
    assert not text.is_complete


def test_alternatives_are_cases() -> None:
    text = general_text("{% if online %}It is online.{% else %}It needs a restart. Plan one.{% endif %} Nothing is lost.")
    assert text.always == ("Nothing is lost.",)
    assert text.in_some_cases == ("It is online.", "It needs a restart.", "Plan one.")
    assert text.is_complete


def test_a_sentence_that_a_condition_cuts_is_left_out() -> None:
    text = general_text("Raise it{% if small %}, by half{% endif %}. Look again.")
    assert text.always == ("Look again.",)
    assert not text.is_complete


def test_a_sentence_that_speaks_of_one_that_is_left_out_is_left_out_too() -> None:
    text = general_text("Find it{% if old %} and end it{% endif %}. Then remove the cause. It lasts. {% if logs %}Where it is a copy: wait.{% endif %}")
    assert (text.always, text.in_some_cases, text.is_complete) == (("It lasts.",), ("Where it is a copy: wait.",), False)
    assert general_text("Find it. Then remove it.").always == ("Find it.", "Then remove it.")


def test_dots_within_a_statement_end_no_sentence() -> None:
    assert general_text("ALTER TABLE ... ENABLE KEYS, then look. Done").always == ("ALTER TABLE ... ENABLE KEYS, then look.", "Done")


@pytest.mark.parametrize("rule", shipped_rules(), ids=lambda rule: rule.id)
def test_no_text_of_a_rule_leaves_remains(rule: Rule) -> None:
    for field in FIELDS:
        text = general_text(getattr(rule, field))
        for sentence in (*text.always, *text.in_some_cases):
            assert not re.search(r"\{\{|\}\}|\{%|%\}", sentence)
            assert VALUE not in sentence
            assert sentence.count("(") == sentence.count(")")
            # A fragment would begin in the middle: only the author's own beginnings are in small letters.
            assert sentence[0].isupper() or re.search(rf"(?:^|\}}|[.!?] ){re.escape(sentence)}", " ".join(getattr(rule, field).split()))
