"""What is tried: settings, options at the start, and statements, one change alone or several together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from myisam_advisor.errors import TrialError
from myisam_advisor.remedies.option_lines import option_line
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.quantities import size_in
from myisam_exporter.server.sql import quote_text, quote_variable

BASELINE, TOGETHER = "as it is", "all that pay together"
_NAME = re.compile(r"(?:(?P<cache>[0-9A-Za-z_$-]{1,64})\.)?(?P<variable>[A-Za-z_][0-9A-Za-z_]{0,63})", re.ASCII)
_WHOLE = re.compile(r"-?\d{1,20}")
_SIZE = re.compile(r"\d{1,15}[kKmMgGtT]")
_DECIMAL = re.compile(r"-?\d{1,20}\.\d{1,20}")


@dataclass(frozen=True, slots=True)
class Setting:
    """A global variable and its value; `cache` is the key cache that it is of, where one is named."""

    variable: str
    value: str
    cache: str = ""

    @classmethod
    def parsed(cls, text: str) -> Setting:
        """NAME=VALUE, or CACHE.NAME=VALUE. Raises TrialError for anything else."""
        name, equals, value = text.partition("=")
        found = _NAME.fullmatch(name.strip().replace("-", "_") if "." not in name else name.strip())
        if not equals or found is None:
            raise TrialError(f"--set {text}: write NAME=VALUE, as in --set key_buffer_size=256M.")
        setting = cls(found["variable"].lower(), value.strip(), found["cache"] or "")
        try:
            option_line(setting.variable, setting.value, setting.cache)
        except ValueError as error:
            raise TrialError(f"--set {text}: {error}.") from None
        return setting

    @property
    def name(self) -> str:
        """The variable's name, with its key cache."""
        return f"{self.cache}.{self.variable}" if self.cache else self.variable

    @property
    def sql_name(self) -> str:
        """The name as SET GLOBAL takes it."""
        return quote_variable(self.variable, self.cache)

    @property
    def sql_value(self) -> str:
        """The value as SQL: a number, sizes as bytes; anything else is text."""
        if _WHOLE.fullmatch(self.value) or _DECIMAL.fullmatch(self.value):
            return self.value
        if _SIZE.fullmatch(self.value):
            return str(int(size_in(self.value) or 0))
        return quote_text(self.value)

    @property
    def option(self) -> str:
        """The same as a word of the server's command line."""
        name = self.variable.replace("_", "-")
        return f"--{self.cache}.{self.variable}={self.value}" if self.cache else f"--{name}={self.value}"

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


@dataclass(frozen=True, slots=True)
class Variant:
    """One change. `settings` are set on the running server where it allows that, `options` at its start, `statements` before the runs."""

    name: str
    rules: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    options: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()

    @property
    def tried(self) -> tuple[str, ...]:
        """All that it changes, as text."""
        return (*map(str, self.settings), *(option.removeprefix("--") for option in self.options), *self.statements)


def together(variants: Sequence[Variant]) -> Variant:
    """All of them at once; of what two change, the first counts."""
    settings: dict[str, Setting] = {}
    options: dict[str, str] = {}
    for variant in variants:
        for setting in variant.settings:
            settings.setdefault(setting.name, setting)
        for option in variant.options:
            options.setdefault(option.partition("=")[0], option)
    return Variant(
        TOGETHER,
        tuple(dict.fromkeys(rule for variant in variants for rule in variant.rules)),
        tuple(settings.values()),
        tuple(options.values()),
        tuple(dict.fromkeys(statement for variant in variants for statement in variant.statements)),
    )


def as_told(variant: Variant) -> dict[str, Any]:
    """A variant as JSON holds it."""
    return {
        "name": variant.name,
        "rules": list(variant.rules),
        "settings": [str(setting) for setting in variant.settings],
        "options": list(variant.options),
        "statements": list(variant.statements),
    }


def from_told(told: dict[str, Any]) -> Variant:
    """A variant that was `as_told`."""
    return Variant(
        told["name"],
        tuple(told["rules"]),
        tuple(map(Setting.parsed, told["settings"])),
        tuple(told["options"]),
        tuple(told["statements"]),
    )
