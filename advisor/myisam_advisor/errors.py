"""Errors of the advisor's own that are no user's mistake."""

from __future__ import annotations


class HistoryError(Exception):
    """A history file that this version cannot read."""
