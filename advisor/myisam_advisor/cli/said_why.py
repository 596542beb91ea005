"""A command that a newcomer expects to work without a server says what it needs one for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from myisam_exporter.errors import UserError


@contextmanager
def said_why(need: str) -> Iterator[None]:
    """What is asked of the server here, in a sentence behind the message of whatever went wrong. Raises UserError."""
    try:
        yield
    except UserError as error:
        said = str(error)
        raise UserError(f"{said}{'' if said.endswith('.') else '.'} {need}") from error
