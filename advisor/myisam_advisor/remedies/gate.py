"""The one gate for what remedies do to the server: every command, line of my.cnf and way back passes it before it is a finding's.

A rule says what would help. What the server's state forbids (a read-only replica, a cluster, a full disk, an old version, an unknown
row format) is decided here, once for all rules: a command is let through, amended, or refused with the reason and what to do instead.
Unknown state forbids nothing; the cost says what to look at first. What cannot be undone (USE_FRM) wants to be known to be safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeGuard

from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.factbase.hosting import IN_PARAMETER_GROUP, IN_PARAMETER_GROUP_BACK
from myisam_advisor.factbase.nameless import NO_STATEMENT, is_nameless
from myisam_advisor.remedies.costs import Costs
from myisam_advisor.remedies.disk_reserve import disk_limits
from myisam_advisor.remedies.file_limits import limit_before, no_limit_suffices
from myisam_advisor.remedies.option_lines import OptionLine, option_line
from myisam_advisor.remedies.planners.base import TABLE_CACHES, PlanFacts
from myisam_advisor.remedies.rebuild_files import RebuildFiles
from myisam_advisor.remedies.refusals import Refusals
from myisam_advisor.remedies.remedy import Admitted, Remedy
from myisam_advisor.remedies.said import Said
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.slow_log import UNINDEXED_LOG, brake
from myisam_advisor.remedies.spelling import OPTION_BEFORE, spelled, spelled_line
from myisam_advisor.remedies.statements.base import Command, Logged, Remark, Statement, text_of
from myisam_advisor.remedies.statements.closing import grouped
from myisam_advisor.remedies.statements.variables import SetGlobal
from myisam_advisor.remedies.variable_origins import VariableOrigins
from myisam_advisor.texts.templates import printable

# mysqld-auto.cnf is read after all option files. Tried on MySQL 8.0 and 9.7: after a restart the persisted value is in force.
PERSISTED_WINS = "What SET PERSIST wrote wins over my.cnf: look in performance_schema.persisted_variables."
NOTHING_DONE = "There is no command here, so there is nothing to undo."
NOTHING_PAID = "Nothing here, as no command is given here. Where it is run in spite of that, or elsewhere:"


class RemedyGate:
    """The gate of one server; `rules` are those in force, with the site's thresholds."""

    def __init__(self, known: PlanFacts, rules: Iterable[Rule] = ()) -> None:
        self._known = known
        self._state = ServerState(known)
        self._refusals = Refusals(known, self._state, disk_limits(rules))
        self._rebuild_files = RebuildFiles(known, self._state)
        self._costs = Costs(known, self._state)
        self._origins = VariableOrigins(known)

    def admit(self, remedy: Remedy) -> Admitted:
        """What of the remedy this server allows."""
        said, hosting = Said(), self._state.hosting
        if not hosting.takes_set_global:
            remedy = self._in_parameter_group(remedy, said)
        commands: list[Command] = []
        for group in grouped(remedy.commands):
            commands += self._admitted(group, said)
        my_cnf = self._options(remedy, said)
        init_file = tuple(line for line in remedy.init_file if not is_nameless(text_of(line)))
        if my_cnf and not hosting.takes_set_global:
            said.charge(IN_PARAMETER_GROUP)
        elif my_cnf and self._state.reads_persisted_values and self._origins.may_be_persisted(my_cnf):
            said.charge(PERSISTED_WINS)
        # What was never done needs no way back.
        runs = any(map(_runs, commands))
        refused = any(map(_runs, remedy.commands)) and not runs
        back = self._origins.way_back(my_cnf) if hosting.takes_set_global else IN_PARAMETER_GROUP_BACK
        my_cnf_undo = back if my_cnf else ""
        return Admitted(
            Remedy(
                tuple(commands),
                tuple(self._undo(remedy.undo_commands)) if runs else (),
                my_cnf,
                init_file,
                hosting.label,
                remedy.at_once,
            ),
            tuple(said.instead),
            tuple(said.cost),
            tuple(said.undo),
            (f"{my_cnf_undo} Then restart." if my_cnf else NOTHING_DONE) if refused else "",
            my_cnf_undo,
            # What a variable costs it costs by the file, too, which its refusal names.
            NOTHING_PAID
            if refused and not my_cnf and not any(isinstance(one, SetGlobal) for one in remedy.commands)
            else "",
        )

    def _in_parameter_group(self, remedy: Remedy, said: Said) -> Remedy:
        """The remedy where no variable is set by a statement, and nobody can write an init_file: what can be a line is one."""
        moved = [one for one in remedy.commands if isinstance(one, SetGlobal) and not one.cache]
        lines = [line for line in remedy.my_cnf if "." not in line.option and line.option != "init_file"]
        for command in moved:
            said.charge(*self._costs.of(command))
            if command.variable not in {line.option for line in lines} and command.value is not None:
                lines.append(option_line(command.variable, command.value.strip("'")))
        return Remedy(
            tuple(one for one in remedy.commands if one not in moved),
            tuple(one for one in remedy.undo_commands if not isinstance(one, SetGlobal)),
            tuple(lines),
            at_once=frozenset(command.variable for command in moved),
        )

    def _admitted(self, group: Sequence[Command], said: Said) -> Sequence[Command]:
        """The group as it may run; empty where one of its commands may not: they belong together."""
        commands = [spelled(command, self._state) for command in group]
        refusals = [
            NO_STATEMENT if is_nameless(text_of(command)) else self._refusals.refusal(command, said)
            for command in commands
            if _runs(command)
        ]
        if any(refusals):
            said.refuse(filter(None, refusals))
            return ()
        passed: list[Command] = []
        for command in commands:
            if _runs(command):
                said.charge(*self._costs.of(command))
                passed += self._amended(command, said)
            else:
                passed.append(command)
        return passed

    def _undo(self, commands: Sequence[Statement]) -> Iterable[Statement]:
        """The way back, held to the same conditions. What would be refused there was refused on the way in."""
        said = Said()
        for group in grouped(commands):
            yield from (command for command in self._admitted(group, said) if isinstance(command, Statement))

    def _amended(self, command: Statement, said: Said) -> Iterable[Command]:
        """The command as this server should have it, with what must come before it."""
        if isinstance(command, SetGlobal) and command.variable == UNINDEXED_LOG and command.switches_on:
            yield from brake(self._state, said)
        words = [line for one in command.of_each_table() for line in self._rebuild_files.words_before(one)]
        if words:
            yield from words
            command = replace(command, is_offered=True)
        if command.logged is Logged.UNLESS_TOLD and self._keeps_out_of_the_log:
            quiet = command.unlogged()
            if quiet is not None:
                others = self._others
                if command.verb == "REPAIR TABLE":
                    said.charge(
                        f"NO_WRITE_TO_BINLOG keeps it from {others}: their files are their own, and not damaged by this. Rows that the repair loses, "
                        "and those of a statement that the crash cut off, are here or there alone: compare afterwards (CHECKSUM TABLE on each)."
                    )
                elif command.rewrites:
                    said.charge(
                        f"NO_WRITE_TO_BINLOG keeps it from {others}: run it on each of them in turn if you want it there."
                    )
                yield quiet
                return
            said.charge(
                "All nodes of the cluster run it too."
                if self._state.is_cluster_node
                else "The binary log is on: each replica runs it too."
            )
        yield command

    @property
    def _others(self) -> str:
        """Who would run what is not kept here."""
        if self._state.is_cluster_node:
            return "the other nodes"
        return "the other members" if self._state.is_group_member else "the replicas"

    @property
    def _keeps_out_of_the_log(self) -> bool:
        """Whether what can stay out of the binary log should: there is one, or this may be a replica with one.

        A node of a cluster has all nodes run it, without a binary log too (tried on MariaDB 10.11 with Galera 26.4: wsrep_replicated).
        """
        if self._state.is_cluster_node:
            return True
        may_be_a_replica = bool(self._state.is_read_only or self._state.is_replica)
        return bool(self._state.logs_changes) or (may_be_a_replica and self._state.logs_changes is None)

    def _options(self, remedy: Remedy, said: Said) -> tuple[OptionLine, ...]:
        """The lines of my.cnf that this server can start with."""
        lines: list[OptionLine] = []
        for line in remedy.my_cnf:
            if is_nameless(line):
                continue
            name, value = line.option, line.partition("=")[2].strip()
            if name == "init_file" and not self._takes_an_init_file(said):
                continue
            if name in TABLE_CACHES and value.isdigit():
                if no_limit_suffices(int(value), self._state):
                    continue
                lines += limit_before(int(value), remedy.my_cnf, self._state)
            if name in OPTION_BEFORE and self._state.version_number is None:
                said.charge(
                    f"Before MySQL 5.5.3 the option is called {OPTION_BEFORE[name]}, and the server does not start with the other name."
                )
            lines.append(spelled_line(line, value, self._state))
        # The option file that Amazon writes from the parameter group is nobody's to change.
        return (
            tuple(lines)
            if not self._state.hosting.takes_set_global
            else tuple(one for line in lines for one in self._origins.remarked(line))
        )

    def _takes_an_init_file(self, said: Said) -> bool:
        """Whether my.cnf may name one: there can be one only."""
        present = self._state.value("init_file")
        if present not in (None, ""):
            path = printable(str(present))
            said.refuse(
                [
                    f"The server already has an init_file: add the lines for the init_file to the end of {path}, and keep its contents."
                ]
            )
            return False
        said.charge(
            "Write the init_file before you restart: where my.cnf names one that is missing, the server does not start."
        )
        if present is None and not self._known.variables:
            said.charge("If my.cnf already names an init_file, add the lines to that one: there can be only one.")
        return True


def _runs(command: Command) -> TypeGuard[Statement]:
    """Whether it is a statement that does something."""
    return isinstance(command, Statement) and not isinstance(command, Remark)
