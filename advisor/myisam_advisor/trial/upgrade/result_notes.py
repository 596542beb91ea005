"""Why two versions may answer the same statement otherwise without either being wrong: an order that the statement does not ask for."""

from __future__ import annotations

import re

from myisam_advisor.trial.upgrade.recorded_result import ROW_COUNT, ROW_ORDER

# Since MySQL 8.0 GROUP BY does not sort any more: manual of 8.0, "ORDER BY Optimization".
GROUPED = "GROUP BY sorted its rows in MySQL up to 5.7, and does not promise an order: ORDER BY does"
LIMITED = "without ORDER BY it is not defined which rows LIMIT takes: name an order"
UNORDERED = "without ORDER BY the order of rows is not defined"
ORDERED = "ORDER BY leaves open in which order rows come that it takes for equal"
CUT = "where ORDER BY takes rows for equal, it is not defined which of them LIMIT takes"
FOLLOWS = "may follow from a write that was answered otherwise"
_ORDER, _GROUP, _LIMIT = (re.compile(rf"\b{words}\b") for words in ("order by", "group by", "limit"))


def note_on(kind: str, what: str) -> str:
    """What leaves the result of this kind open; empty where nothing does."""
    is_ordered, is_limited = bool(_ORDER.search(kind)), bool(_LIMIT.search(kind))
    if what == ROW_COUNT:
        return FOLLOWS
    if is_limited:
        return CUT if is_ordered else LIMITED
    if what != ROW_ORDER:
        return ""
    if is_ordered:
        return ORDERED
    return GROUPED if _GROUP.search(kind) else UNORDERED
