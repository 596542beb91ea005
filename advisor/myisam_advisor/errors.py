"""Errors of the advisor's own."""

from __future__ import annotations

from myisam_exporter.errors import UserError


class HistoryError(Exception):
    """A history file that this version cannot read."""


class DamagedError(Exception):
    """An entry of a history that is not what was written."""


class TrialError(UserError):
    """A trial that cannot begin or go on; the message names the thing and the remedy."""
