"""A view beside the fact tables: what several rules ask alike. It holds no threshold: what is much, each rule says itself.

A view that nobody asks costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_exporter.declaring.lean_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """A SELECT with a name. `columns` says of each column what it is, in the order of the SELECT."""

    name: str
    description: str
    columns: Mapping[str, str]
    select: str
