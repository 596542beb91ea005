"""Errors that are the user's to mend. Each message names the thing and the remedy."""

from __future__ import annotations


class UserError(Exception):
    """Bad input or an unreachable server: shown as one message, exit status 2, never with a traceback."""


class ServerLostError(UserError):
    """The server went away, hung or restarted while it was being looked at."""
