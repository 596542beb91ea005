"""What a finding would have a person run and set, and what a server lets through of it."""

from __future__ import annotations

from myisam_advisor.factbase.hosting import MY_CNF
from myisam_advisor.remedies.option_lines import OptionLine
from myisam_advisor.remedies.statements.base import Command, Statement
from myisam_exporter.declaring.lean_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remedy:
    """Commands, what takes them back, lines of my.cnf (`label` says what there is in its place), and lines of the init_file.

    `at_once` are variables of these lines that change without a restart although no statement sets them.
    """

    commands: tuple[Command, ...] = ()
    undo_commands: tuple[Statement, ...] = ()
    my_cnf: tuple[OptionLine, ...] = ()
    init_file: tuple[Statement, ...] = ()
    label: str = MY_CNF
    at_once: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Admitted:
    """What is left of a remedy, and what to say of it.

    `instead` says what was refused, why, and what to do instead; `cost` what else it costs here; `undo` what else to undo.
    `undo_instead` replaces the rule's own words where no statement is left, and `cost_before` comes before its own
    words of the cost then; `my_cnf_undo` is the way back of the lines of my.cnf, empty without any.
    """

    remedy: Remedy
    instead: tuple[str, ...]
    cost: tuple[str, ...]
    undo: tuple[str, ...]
    undo_instead: str
    my_cnf_undo: str = ""
    cost_before: str = ""
