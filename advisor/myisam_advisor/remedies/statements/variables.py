"""Statements that set and show the server's variables."""

from __future__ import annotations

from typing import ClassVar

from myisam_advisor.remedies.statements.base import Now, Phase, Statement, remark
from myisam_exporter.collectors.key_caches import SIZE_STEP_BYTES
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql, quote_value, quote_variable, statement

LEAST_KEY_BUFFER_BYTES = SIZE_STEP_BYTES


@dataclass(frozen=True, slots=True)
class SetGlobal(Statement):
    """SET GLOBAL: which variable gets which value, as SQL.

    `cache` is the key cache that it is of, empty for the default one; `value` is None where the author of a rule left it to the server to
    work it out.
    """

    variable: str
    value: Sql | None
    cache: str = ""
    phase: ClassVar[Phase] = Phase.SET

    def __post_init__(self) -> None:
        """Refuse what has no text."""
        if self.value is None and self.written is None:
            raise ValueError(f"no value for {self.target}")

    @property
    def target(self) -> Sql:
        """The variable's name in SQL."""
        return quote_variable(self.variable, self.cache)

    @property
    def number(self) -> int | None:
        """The value where it is a whole number that is not negative."""
        return int(self.value) if self.value is not None and self.value.isdigit() else None

    @property
    def word(self) -> str:
        """The value where it is a word or a text, in capital letters; empty for any other."""
        return "" if self.value is None else self.value.strip("'").upper()

    @property
    def switches_on(self) -> bool:
        """Whether it is ON or 1."""
        return self.value is not None and self.value.upper() in ("ON", "1")

    def taken_back(self, now: Now) -> Statement:
        """The value that holds now. The default key cache refuses 0 (error 1438), and is off with the least that it takes, too."""
        present = now.of_variable(self.variable, self.cache)
        if (self.variable, self.cache, present) == ("key_buffer_size", "", "0"):
            return set_global(self.variable, LEAST_KEY_BUFFER_BYTES)
        if present is None:
            return remark(
                f"{self.target}: its value now is not known; note it before the change (SELECT @@GLOBAL.{self.target};)"
            )
        return SetGlobal(self.variable, present, self.cache)

    def verification(self) -> Statement:
        """The variable's value."""
        return ShowVariable(self.variable, self.cache)

    def _sql(self) -> Sql:
        assert self.value is not None
        return statement("SET GLOBAL {} = {};", self.target, self.value)


def set_global(variable: str, value: str | float, cache: str = "") -> SetGlobal:
    """SET GLOBAL with a number, or with a text between quotes."""
    return SetGlobal(variable, quote_value(value), cache)


@dataclass(frozen=True, slots=True)
class ShowVariable(Statement):
    """A query for a variable's value."""

    variable: str
    cache: str = ""

    def _sql(self) -> Sql:
        return statement("SELECT @@GLOBAL.{};", quote_variable(self.variable, self.cache))
