"""How a way back stands in a finding: what a person may paste into a client first, a statement a line, then what is said in words."""

from __future__ import annotations

from myisam_exporter.declaring.late_patterns import late_pattern

VERBS = (
    "ALTER", "CACHE", "CHECK", "CREATE", "DELETE", "DROP", "FLUSH", "INSERT", "INSTALL", "LOAD", "LOCK", "OPTIMIZE", "RENAME", "REPAIR", "SET",
    "TRUNCATE", "UNINSTALL", "UNLOCK", "UPDATE",
)  # fmt: skip
# A sentence by itself, up to the semicolon that is in no name and in no text. What has dots for a name is words about a statement.
_STATEMENT = late_pattern(
    rf"(?:^|(?<=[;.]\s)(?<!\.\.\s))(?:{'|'.join(VERBS)})\b(?:(?!\.\.\.)[^;'`]|'(?:[^'\\]|\\.|'')*'|`(?:[^`]|``)*`)*;"
)


def one_statement_a_line(text: str) -> str:
    """The statements of a text, one a line, and behind them its other sentences: a client would take words before a statement for its beginning."""
    statements = [found[0] for found in _STATEMENT.finditer(text)]
    words = " ".join(_STATEMENT.sub("", text).split())
    return "\n".join([*dict.fromkeys(statements), *([words] if words else [])])
