"""One plan from all findings: what runs now, what makes it last, what has to wait for a quiet hour, the way back, and how to see the effect."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from myisam_advisor.catalogue.conversions import NO_RATES, Rates
from myisam_advisor.catalogue.measured import rebuild_rates_for
from myisam_advisor.changes.offline import Offline, describe_offline, in_one_copy
from myisam_advisor.factbase.hosting import AMAZON, MY_CNF
from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.gate import PERSISTED_WINS
from myisam_advisor.remedies.option_lines import OptionLine, OptionRemark
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.script import is_offered, is_plain
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.remedies.statements.base import (
    Command,
    Phase,
    Remark,
    Statement,
    nothing_to_take_back,
    remark,
    way_back_not_known,
)
from myisam_advisor.remedies.statements.closing import FlushTables, copied_first, grouped
from myisam_advisor.remedies.statements.tables import AlterTable
from myisam_advisor.remedies.statements.variables import SetGlobal
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.server.sql import Sql, quote_value
from myisam_exporter.server.version_number import product_and_version

INIT_FILE = "init_file"
NAMED_CACHES_DEPRECATED_FROM = 80000
DEPRECATION = "MySQL 8.0 and later warn (1287) that SET GLOBAL name.key_buffer_size is deprecated: named key caches work up to 9.7, and may go in a later release."
# With a report of twenty minutes running, FLUSH TABLES and all that comes after it wait as long.
LOOK_FIRST = "Look first that no statement runs for long (SHOW PROCESSLIST): FLUSH TABLES waits for it, and statements that come after wait for the FLUSH."
PERSISTED = "A value that SET PERSIST wrote wins over these lines: look in performance_schema.persisted_variables. RESET PERSIST with the name removes it."
UNFIT_FOR_INIT_FILE = (
    "A name with a line break, a quote, a semicolon or another character that a server or a client could take for its own "
    "stands in no init_file: its lines are left out of it."
)
FORMER_PACKING = "PACK_KEYS=1 in the place of DEFAULT, where SHOW CREATE TABLE had it before the change"
KEY_CACHE_COLUMNS = {"key_buffer_size": "size_bytes", "key_cache_segments": "segments", "key_cache_block_size": "block_size_bytes"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One finding's change, as far as it runs at once: statements that belong together, in their order."""

    finding: Finding
    phase: Phase
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """A line of my.cnf, for which finding, and the value that holds now (None: unknown).

    A comment says what cannot be set there; it has no variable. `waits` is whether no statement of the plan sets it at once too; `remarks` say where
    the option stands now, and what wins over it.
    """

    line: OptionLine
    rule: str
    present: str | None
    waits: bool = False
    remarks: tuple[OptionRemark, ...] = ()

    @property
    def variable(self) -> str:
        """The variable's name; empty for a comment."""
        return self.line.option


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """Everything a person needs to carry the advice out, and back.

    `settings_note` stands beside the lines of my.cnf; `not_seen` are sentences on what nobody could judge.
    """

    server: str
    made_at: str
    findings: Sequence[Finding]
    online: Sequence[Step]
    shell: Sequence[ShellLine]
    settings: Sequence[Setting]
    init_file: Sequence[Statement]
    init_file_present: str
    offline: Sequence[Offline]
    rollback: Sequence[tuple[Finding, Sequence[Statement]]]
    verification: Sequence[tuple[Finding, Sequence[Statement]]]
    notes: Sequence[str]
    without_change: Sequence[Finding]
    settings_note: str
    not_seen: Sequence[str]

    @property
    def label(self) -> str:
        """What the settings are of: my.cnf, or what the server has in its place."""
        return next((finding.remedy.label for finding in self.findings), MY_CNF)

    @property
    def lasting(self) -> str:
        """The same with the init_file, where the server can have one."""
        return self.label if self.label == AMAZON.label else f"{self.label} and init_file"

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.online or self.settings or self.offline or self.shell)


def make_plan(
    findings: Sequence[Finding], facts: FactSet, rates: Rates = NO_RATES, not_seen: Sequence[str] = ()
) -> ChangePlan:
    """The plan of these findings, from the values that hold now; `rates` is what was measured on this machine."""
    known = PlanFacts(facts, rates)
    present = _Present(known)
    persists = any(PERSISTED_WINS in one.cost for one in findings)
    if persists:
        # It stands beside the lines of all of them.
        findings = [
            replace(one, cost=one.cost.replace(PERSISTED_WINS, "").replace("  ", " ").strip()) for one in findings
        ]
    steps: list[Step] = []
    offline: list[tuple[Finding, tuple[Statement, ...]]] = []
    shell: list[ShellLine] = []
    copies: dict[tuple[Command, ...], tuple[Command, ...]] = {}
    for finding in findings:
        groups, before = copied_first(grouped(finding.remedy.commands))
        if before:
            copies[groups[0]] = before
        for group in groups:
            phase = _phase(group, present)
            shell += [command for command in group if isinstance(command, ShellLine)]
            statements = tuple(command for command in group if isinstance(command, Statement))
            if phase is Phase.OFFLINE and not all(isinstance(one, Remark) for one in statements):
                offline.append((finding, statements))
            elif statements:
                steps.append(Step(finding, phase, statements))
    ordered = _looking_first(sorted(_without_repeats(steps), key=lambda step: step.phase))
    settings = list(_settings(findings, present, _set_at_once(ordered, findings)))
    # The server ends a statement of its init_file at the line's end, whatever name it is in; how it reads the rest differs by release.
    all_lines = [line for finding in findings for line in finding.remedy.init_file]
    init_lines = [line for line in all_lines if is_plain(line.sql)]
    rebuilt = rebuild_rates_for(facts, rates)
    return ChangePlan(
        server=_server(facts),
        made_at=time.strftime("%Y-%m-%d %H:%M", time.localtime()),
        findings=[finding for finding in findings if finding.commands or finding.my_cnf or finding.init_file],
        online=ordered,
        shell=shell,
        settings=settings,
        init_file=init_lines,
        init_file_present=present.variable(INIT_FILE) or "",
        offline=[
            replace(describe_offline(wanting, group, known, rebuilt), before=copies.get(group, ()))
            for wanting, group in in_one_copy(offline)
        ],
        rollback=[(finding, _way_back(finding, present)) for finding in reversed(findings) if finding.commands],
        verification=[(finding, _queries(finding)) for finding in findings],
        notes=list(_notes(facts, present, ordered, offline, all_lines)),
        without_change=[
            finding for finding in findings if not (finding.commands or finding.my_cnf or finding.init_file)
        ],
        settings_note=PERSISTED if settings and persists else "",
        not_seen=not_seen,
    )


def _phase(group: Sequence[Command], present: _Present) -> Phase:
    if any(map(is_offered, group)):
        return Phase.OFFLINE
    first = next((command for command in group if not isinstance(command, Remark)), group[0])
    if isinstance(first, ShellLine):
        return Phase.SHELL
    return Phase.GIVE_BACK if isinstance(first, SetGlobal) and present.gives_back(first) else first.phase


def _without_repeats(steps: Iterable[Step]) -> list[Step]:
    """A statement that two findings want is run once."""
    seen: set[tuple[Statement, ...]] = set()
    kept = []
    for step in steps:
        if step.statements not in seen:
            seen.add(step.statements)
            kept.append(step)
    return kept


def _looking_first(steps: Sequence[Step]) -> list[Step]:
    """The steps, with what to look at before the first that closes tables."""
    first = next((place for place, step in enumerate(steps) if step.phase is Phase.FLUSH), len(steps))
    looked = [replace(step, statements=(remark(LOOK_FIRST), *step.statements)) for step in steps[first : first + 1]]
    return [*steps[:first], *looked, *steps[first + 1 :]]


def _set_at_once(steps: Iterable[Step], findings: Iterable[Finding]) -> set[str]:
    """The options whose variables are set while the server runs. What an init_file does is run at once too."""
    commands = [command for step in steps for command in step.statements if isinstance(command, SetGlobal)]
    dynamic = (variable for finding in findings for variable in finding.remedy.at_once)
    return {INIT_FILE, *dynamic, *(f"{one.cache}.{one.variable}" if one.cache else one.variable for one in commands)}


def _settings(findings: Iterable[Finding], present: _Present, at_once: Collection[str]) -> Iterable[Setting]:
    seen = set()
    for finding in findings:
        remarks: list[OptionRemark] = []
        for line in finding.my_cnf:
            if isinstance(line, OptionRemark):
                remarks.append(line)
                continue
            name = line.option or line
            if name not in seen and not (name == INIT_FILE and present.variable(INIT_FILE)):
                seen.add(name)
                waits = bool(line.option) and line.option not in at_once
                yield Setting(line, finding.rule, present.option(line), waits, tuple(remarks))
            remarks = []


def _way_back(finding: Finding, present: _Present) -> list[Statement]:
    """What the finding's own planner says, else the reverse of each statement, last first; nothing where no statement takes any of it back.

    Where none is known for some of them, the finding's own words stand among the others.
    """
    if finding.remedy.undo_commands:
        return list(finding.remedy.undo_commands)
    statements = [one for one in finding.remedy.commands if isinstance(one, Statement) and not isinstance(one, Remark)]
    back = [statement.taken_back(present) for statement in reversed(statements)]
    nothing = {nothing_to_take_back(statement.sql) for statement in statements}
    not_known = {way_back_not_known(statement.sql) for statement in statements}
    if finding.undo:
        if (nothing | not_known).issuperset(back):
            return []
        in_words = remark(f"by hand: {' '.join(finding.undo.split())}")
        back = list(dict.fromkeys(in_words if line in not_known else line for line in back))
    if any(_asks_for_default_packing(line) for line in back):
        back.append(remark(FORMER_PACKING))
    if nothing.issuperset(back):
        return []
    if any(isinstance(line, SetGlobal) for line in back):
        # What is set back holds from a table's next opening, as what was set did.
        closings = [one for one in statements if isinstance(one, FlushTables)]
        said = {nothing_to_take_back(one.sql) for one in closings}
        back = [*(line for line in back if line not in said), *closings]
    return back


def _asks_for_default_packing(line: Statement) -> bool:
    return isinstance(line, AlterTable) and any(("PACK_KEYS", "DEFAULT") in one.pairs for one in line.options)


def _queries(finding: Finding) -> list[Statement]:
    found = (command.verification() for command in finding.remedy.commands if isinstance(command, Statement))
    return list(dict.fromkeys(query for query in found if query))


def _notes(
    facts: FactSet,
    present: _Present,
    online: Sequence[Step],
    offline: Sequence[object],
    init_lines: Sequence[Statement],
) -> Iterable[str]:
    named = any(isinstance(command, SetGlobal) and command.cache for step in online for command in step.statements)
    if named and _is_mysql_from(facts, NAMED_CACHES_DEPRECATED_FROM):
        yield DEPRECATION
    if any(step.phase is Phase.FLUSH for step in online):
        yield "FLUSH TABLES waits for running statements, and statements that come after it wait for it; closed tables lose their blocks in the key cache: run it at a quiet time."
    binary_log = present.variable("log_bin")
    if offline and str(binary_log).upper() in ("ON", "1"):
        yield (
            "The binary log is on: ALTER TABLE runs on the replicas too. SET GLOBAL, CACHE INDEX and what says NO_WRITE_TO_BINLOG do not: "
            "run them on each replica where they are wanted. Filters by database (binlog_do_db, replicate_do_db and their like) go by the database in use: "
            "where there are any, USE the table's own before its ALTER."
        )
    if not all(is_plain(line.sql) for line in init_lines):
        yield UNFIT_FOR_INIT_FILE
    if init_lines:
        yield "The server reads the init_file at its start as its own user, one statement a line; a statement that fails ends it there, without stopping the server."


def _is_mysql_from(facts: FactSet, version: int) -> bool:
    """Whether it is no MariaDB, and of this version or a later one; not where that is unknown."""
    server = facts.single("server")
    number = server.get("version_number")
    return server.get("flavour") != "mariadb" and isinstance(number, int) and number >= version


def _server(facts: FactSet) -> str:
    server = facts.single("server")
    version = str(server.get("version") or "of unknown version")
    host = server.get("hostname")
    return f"{product_and_version(server.get('flavour'), version, 'server of unknown kind')}{f' on {host}' if host else ''}"


class _Present:
    """The values that hold now."""

    def __init__(self, known: PlanFacts) -> None:
        self._variables = known.variables
        self._caches = {str(row["name"]): row for row in known.all.tables["key_cache"].dictionaries()}
        self._lists_caches = bool(self._caches) and known.all.single("server").get("flavour") == "mariadb"
        self._tables = known.tables_by_name

    def value(self, name: str, cache: str = "") -> Value:
        """A variable's value, or None. A named cache that is not there has size 0 where the server lists its caches: MariaDB."""
        if not cache:
            return self._variables.get(name)
        row = self._caches.get(cache)
        absent = 0 if self._lists_caches else None
        return absent if row is None else row.get(KEY_CACHE_COLUMNS.get(name, ""))

    def variable(self, name: str, cache: str = "") -> str | None:
        """The same as text."""
        value = self.value(name, cache)
        return None if value is None else str(int(value) if isinstance(value, float) and value.is_integer() else value)

    def option(self, line: OptionLine) -> str | None:
        """The value of the variable that a line of my.cnf sets."""
        cache, _, name = line.option.rpartition(".")
        return self.variable(name, cache)

    def of_variable(self, variable: str, cache: str) -> Sql | None:
        """The value that a SET GLOBAL would replace, as SQL."""
        value = self.value(variable, cache)
        return None if value is None else quote_value(value)

    def row_format(self, table: tuple[str, str] | None) -> str | None:
        """The format of the table's rows."""
        row = self._tables.get(table) if table else None
        return str(row["row_format"]) if row and row["row_format"] else None

    def pack_keys(self, table: tuple[str, str] | None) -> str | None:
        """PACK_KEYS as the table was made with."""
        value = (self._tables.get(table) or {}).get("pack_keys_option") if table else None
        return str(value) if value in (0, 1) else None

    def gives_back(self, wanted: SetGlobal) -> bool:
        """Whether the variable is a size that becomes smaller."""
        present = self.variable(wanted.variable, wanted.cache)
        if present is None or wanted.number is None or not wanted.variable.endswith("_size"):
            return False
        return present.isdigit() and wanted.number < int(present)
