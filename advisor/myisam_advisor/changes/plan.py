"""One plan from all findings: what runs now, what makes it last, what has to wait for a quiet hour, the way back, and how to see the effect."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from myisam_advisor.changes import statements
from myisam_advisor.changes.offline import Offline, describe_offline, in_one_copy
from myisam_advisor.findings import Finding, Judgement
from myisam_advisor.measured import rebuild_rates_for
from myisam_advisor.planning import PlanFacts
from myisam_exporter.columns import Value
from myisam_exporter.errors import UserError
from myisam_exporter.fact_set import FactSet

INIT_FILE = "init_file"
NAMED_CACHES_DEPRECATED_FROM = 80000
DEPRECATION = "MySQL 8.0 and later warn (1287) that SET GLOBAL name.key_buffer_size is deprecated: named key caches work up to 9.7, and may go in a later release."
LOCKED_WORDS = ("LOCK TABLES ", "UNLOCK TABLES")


@dataclass(frozen=True, slots=True)
class Step:
    """One finding's change, as far as it runs at once: statements that belong together, in their order."""

    finding: Finding
    phase: int
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """A line of my.cnf, for which finding, and the value that holds now (None: unknown)."""

    line: str
    rule: str
    present: str | None

    @property
    def variable(self) -> str:
        """The variable's name."""
        return self.line.partition("=")[0].strip()


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """Everything a person needs to carry the advice out, and back."""

    server: str
    made_at: str
    findings: Sequence[Finding]
    online: Sequence[Step]
    shell: Sequence[str]
    settings: Sequence[Setting]
    init_file: Sequence[str]
    init_file_present: str
    offline: Sequence[Offline]
    rollback: Sequence[tuple[Finding, Sequence[str]]]
    verification: Sequence[tuple[Finding, Sequence[str]]]
    notes: Sequence[str]
    without_change: Sequence[Finding] = field(default_factory=tuple)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.online or self.settings or self.offline or self.shell)


def choose(judgement: Judgement, wanted: Sequence[str], rule_ids: Iterable[str]) -> list[Finding]:
    """The findings that RULE or RULE:OBJECT name; all of them where nothing is named.

    Raises UserError for a rule that does not exist, or that has no such finding, with what became of it.
    """
    if not wanted:
        return list(judgement.findings)
    known, chosen = set(rule_ids), []
    for name in wanted:
        rule, _, about = name.partition(":")
        if rule not in known:
            raise UserError(f"there is no rule {rule!r}. `myisam-advisor explain` lists them.")
        found = [one for one in judgement.findings if one.rule == rule and about in ("", one.object)]
        if not found:
            raise UserError(f"{name} has no finding: {_why_not(judgement, rule, about)}.")
        chosen += [one for one in found if one not in chosen]
    return chosen


def _why_not(judgement: Judgement, rule: str, about: str) -> str:
    objects = [one.object for one in judgement.findings if one.rule == rule]
    if objects:
        return f"it speaks of {', '.join(objects[:5])}"
    for dropped in judgement.dropped:
        if dropped.rule == rule and about in ("", dropped.object):
            return f"it was dropped, because {dropped.why}"
    for missing in judgement.not_evaluated:
        if missing.rule == rule:
            return f"it needs {missing.needs}"
    for other in judgement.not_applicable:
        if other.rule == rule:
            return other.why
    if any(one.finding.rule == rule for one in judgement.suppressed):
        return "the configuration suppresses it"
    return "the rule looked, and found nothing"


def make_plan(findings: Sequence[Finding], facts: FactSet) -> ChangePlan:
    """The plan of these findings, from the values that hold now."""
    known = PlanFacts(facts)
    present = _Present(known)
    steps: list[Step] = []
    offline: list[tuple[Finding, tuple[str, ...]]] = []
    shell: list[str] = []
    for finding in findings:
        for group in grouped(finding.commands):
            phase = _phase(group, present)
            if phase == statements.OFFLINE:
                offline.append((finding, group))
            elif phase == statements.SHELL:
                shell += group
            else:
                steps.append(Step(finding, phase, group))
    ordered = sorted(_without_repeats(steps), key=lambda step: step.phase)
    settings = list(_settings(findings, present))
    # The server ends a statement of its init_file at the line's end, whatever name it is in.
    all_lines = [line for finding in findings for line in finding.init_file]
    init_lines = [line for line in all_lines if "\n" not in line]
    rates = rebuild_rates_for(facts)
    return ChangePlan(
        _server(facts),
        time.strftime("%Y-%m-%d %H:%M", time.localtime()),
        [finding for finding in findings if finding.commands or finding.my_cnf or finding.init_file],
        ordered,
        shell,
        settings,
        init_lines,
        present.variable(INIT_FILE) or "",
        [describe_offline(wanting, group, present.tables, known, rates) for wanting, group in in_one_copy(offline)],
        [(finding, _way_back(finding, present)) for finding in reversed(findings) if finding.commands],
        [(finding, _queries(finding)) for finding in findings],
        list(_notes(facts, present, ordered, offline, all_lines)),
        [finding for finding in findings if not (finding.commands or finding.my_cnf or finding.init_file)],
    )


def grouped(commands: Sequence[str]) -> list[tuple[str, ...]]:
    """Commands that must stay together: what stands between LOCK TABLES and UNLOCK TABLES, and a remark with what is around it."""
    groups: list[list[str]] = []
    locked = glued = False
    for command in commands:
        if (locked or glued or statements.is_remark(command)) and groups:
            groups[-1].append(command)
        else:
            groups.append([command])
        glued = statements.is_remark(command)
        locked = command.startswith(LOCKED_WORDS[0]) or (locked and not command.startswith(LOCKED_WORDS[1]))
    return [tuple(group) for group in groups]


def _phase(group: Sequence[str], present: _Present) -> int:
    first = next(command for command in group if not statements.is_remark(command))
    assigned = statements.assignment(first)
    return statements.phase(first, assigned is not None and present.gives_back(assigned))


def _without_repeats(steps: Iterable[Step]) -> list[Step]:
    """A statement that two findings want is run once."""
    seen: set[tuple[str, ...]] = set()
    kept = []
    for step in steps:
        if step.statements not in seen:
            seen.add(step.statements)
            kept.append(step)
    return kept


def _settings(findings: Iterable[Finding], present: _Present) -> Iterable[Setting]:
    seen = set()
    for finding in findings:
        for line in finding.my_cnf:
            name = line.partition("=")[0].strip()
            if name not in seen and not (name == INIT_FILE and present.variable(INIT_FILE)):
                seen.add(name)
                yield Setting(line, finding.rule, present.variable(name))


def _way_back(finding: Finding, present: _Present) -> list[str]:
    """What the finding's own planner says, else the reverse of each statement, last first."""
    if finding.undo_commands:
        return list(finding.undo_commands)
    return [
        statements.taken_back(command, present.of_statement(command), present.row_format(command))
        for command in reversed(finding.commands)
        if not statements.is_remark(command)
    ]


def _queries(finding: Finding) -> list[str]:
    found = (statements.verification(command) for command in finding.commands if not statements.is_remark(command))
    return list(dict.fromkeys(query for query in found if query))


def _notes(
    facts: FactSet, present: _Present, online: Sequence[Step], offline: Sequence[object], init_lines: Sequence[str]
) -> Iterable[str]:
    server = facts.single("server")
    number, flavour = server.get("version_number"), server.get("flavour")
    named = any(
        assigned and "." in assigned.variable
        for step in online
        for statement in step.statements
        for assigned in (statements.assignment(statement),)
    )
    if named and flavour != "mariadb" and isinstance(number, int) and number >= NAMED_CACHES_DEPRECATED_FROM:
        yield DEPRECATION
    if any(step.phase == statements.FLUSH for step in online):
        yield "FLUSH TABLES waits for running statements, and each closed table leaves the key cache: run it at a quiet time."
    binary_log = present.variable("log_bin")
    if offline and str(binary_log).upper() in ("ON", "1"):
        yield "The binary log is on: ALTER, OPTIMIZE and REPAIR TABLE, and FLUSH TABLES, run on the replicas too. SET GLOBAL and CACHE INDEX do not."
    if any("\n" in line for line in init_lines):
        yield "A table whose name holds a line break cannot stand in an init_file: its lines are left out of it."
    if init_lines:
        yield "The server reads the init_file at its start as its own user, one statement a line; a statement that fails ends it there, without stopping the server."


def _server(facts: FactSet) -> str:
    server = facts.single("server")
    names = {"mariadb": "MariaDB", "mysql": "MySQL", "percona": "Percona Server"}
    kind = names.get(str(server.get("flavour")), "server of unknown kind")
    host = server.get("hostname")
    return f"{kind} {server.get('version') or 'of unknown version'}{f' on {host}' if host else ''}"


class _Present:
    """The values that hold now."""

    def __init__(self, known: PlanFacts) -> None:
        self._variables = known.variables
        self._caches = {str(row["name"]): row for row in known.all.tables["key_cache"].dictionaries()}
        self._lists_caches = bool(self._caches) and known.all.single("server").get("flavour") == "mariadb"
        self.tables = {(row["schema_name"], row["table_name"]): row for row in known.tables}

    def variable(self, name: str) -> str | None:
        """A server variable as SQL has it, or None. A named cache that is not there has size 0 where the server lists its caches: MariaDB."""
        cache, _, rest = name.rpartition(".")
        if cache:
            row = self._caches.get(cache)
            known = {
                "key_buffer_size": "size_bytes",
                "key_cache_segments": "segments",
                "key_cache_block_size": "block_size_bytes",
            }
            absent = 0 if self._lists_caches else None
            value: Value = absent if row is None else row.get(known.get(rest, ""))
        else:
            value = self._variables.get(name)
        return None if value is None else str(int(value) if isinstance(value, float) and value.is_integer() else value)

    def of_statement(self, statement: str) -> str | None:
        """The value that a SET GLOBAL would replace, as SQL."""
        assigned = statements.assignment(statement)
        value = self.variable(assigned.variable) if assigned else None
        if value is None or value.replace(".", "", 1).isdigit() or value.isalpha():
            return value
        return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"

    def row_format(self, statement: str) -> str | None:
        """The format of the statement's table."""
        table = statements.table_of(statement)
        row = self.tables.get(table) if table else None
        return str(row["row_format"]) if row and row["row_format"] else None

    def gives_back(self, assigned: statements.Assignment) -> bool:
        """Whether the variable is a size that becomes smaller."""
        present = self.variable(assigned.variable)
        if present is None or not assigned.variable.endswith("_size"):
            return False
        return present.isdigit() and assigned.value.isdigit() and int(assigned.value) < int(present)
