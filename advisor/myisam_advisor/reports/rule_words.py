"""A rule's texts for a person who reads of the rule, not of a finding: with the values of an example, and no template's marks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.catalogue.shipped_files import shipped_document

# Beside the rules: what each says of one of its cases (tools/rule_examples.py writes it).
EXAMPLES = "examples.json"
# A rule's templates, and what they become in a finding.
TEXTS = {
    "finding": "message", "recommendation": "recommendation", "expect": "expect", "cost": "cost", "undo": "undo", "verify": "verify",
}  # fmt: skip
# What stands for a value that nobody has given: a number, with the unit that its filter writes.
NUMBERS = {
    "count": "N", "rounded": "N", "rate": "N/s", "percent": "N %", "bytes": "N bytes", "duration": "N seconds", "identifier": "NAME", "text": "VALUE",
}  # fmt: skip
OBJECTS = {"table": "the table", "index": "the index", "key_cache": "the key cache", "server": "the server"}
_PRINTED = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}")
_OTHERWISE = re.compile(r"\{%-?\s*(?:else|elif\b[^%]*)\s*-?%\}")
_STATEMENT = re.compile(r"\{%.*?%\}")
_CHOICE = re.compile(r"\(?\s*(?:\"([^\"]*)\"|'([^']*)')\s+if\b")


def rule_text(rule: Rule, field: str) -> str:
    """One of a rule's texts (TEXTS): as it is where nothing is filled in, else what it says in the rule's example, else in outline."""
    template: str = getattr(rule, field)
    if "{{" not in template and "{%" not in template:
        return " ".join(template.split())
    example = _examples().get(rule.id, {}).get(field) if rule.is_shipped else None
    if not example:
        return outline(template, rule.scope)
    # Steps and statements are a line each.
    return f"For example:\n{example}" if "\n" in example else f"For example: {example}"


def outline(template: str, scope: str) -> str:
    """A template for reading: every alternative, and N where a number is filled in."""
    printed = _PRINTED.sub(lambda found: _stand_in(found[1], scope), " ".join(template.split()))
    text = " ".join(_STATEMENT.sub("", _OTHERWISE.sub(" / ", printed)).split())
    return re.sub(r" ([,;:]|\.(?![.\w]))", r"\1", text)  # a file's ending, such as .frm, is a word


@lru_cache(maxsize=1)
def _examples() -> Mapping[str, Mapping[str, str]]:
    """Of all shipped rules."""
    examples: dict[str, dict[str, str]] = shipped_document(EXAMPLES)
    return examples


def _stand_in(expression: str, scope: str) -> str:
    choice = _CHOICE.match(expression)
    if choice:  # the plural's ending
        return choice[1] if choice[1] is not None else choice[2]
    name, *filters = [part.strip() for part in expression.split("|")]
    known = [NUMBERS[one] for one in filters if one in NUMBERS]
    if known:
        return known[-1]
    return OBJECTS.get(scope, "...") if name == "object" else "..."
