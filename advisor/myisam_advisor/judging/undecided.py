"""What a rule that cannot decide says that it lacks."""

from __future__ import annotations

from myisam_advisor.judging.resolver import Candidate
from myisam_advisor.texts.templates import TextError, all_printable, fill

NO_FACT_IS_NAMED = "facts that are unknown here"


def what_it_lacks(candidate: Candidate) -> tuple[str, str]:
    """What it needs, and how to have it: the rule's texts, or where it has none, what its query says. Raises TextError for a text that does not work."""
    row, texts = candidate.row, candidate.rule.undecided
    if texts is None:
        return str(row.get("needs") or NO_FACT_IS_NAMED), str(row.get("how") or "")
    from jinja2 import TemplateError

    values = all_printable({**candidate.rule.values(), **row, "object": candidate.object})
    try:
        return fill(texts.needs, values) or NO_FACT_IS_NAMED, fill(texts.how, values)
    except TemplateError as error:
        raise TextError(str(error)) from None
