"""What a replay tries: what the user wrote, and the changes of findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.options import ServerOptions, SiteOptions, SourceOptions
from myisam_advisor.cli.sources import judged
from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_advisor.catalogue.rules import Rule
    from myisam_advisor.judging.findings import Finding
    from myisam_advisor.trial.statements.variants import Setting, Variant
    from myisam_exporter.facts.columns import TableName

NAME_ONE = "name a change (myisam-advisor trial replay --workload FILE --set key_buffer_size=256M, or --sql 'ALTER TABLE ...')."
# Whoever proves has no such file yet: what `prove` records goes when it ends.
RECORD_FIRST = "record your statements (myisam-advisor record --output FILE --seconds 60), and "
NONE_MISSING: Mapping[TableName, str] = MappingProxyType({})
# What keeps tables and replicas safe is not weighed against speed, whichever rule it is of, and two things a private server has of its own;
# unless somebody asks.
NOT_WEIGHED = frozenset(
    (
        "myisam_recover_options",
        "myisam_recover",
        "delay_key_write",
        "enforce_gtid_consistency",
        "relay_log_info_repository",
        "wsrep_mode",
        "thread_cache_size",
        "open_files_limit",
    )
)


@dataclass(frozen=True, slots=True)
class ReplayWish:
    """What to replay, and what to try: rules, settings, statements."""

    workload: Path | None
    findings: tuple[str, ...]
    settings: tuple[str, ...]
    statements: tuple[str, ...]
    speed: str
    interval: float
    history_file: Path | None

    @property
    def way_to_name_one(self) -> str:
        """What else can be done where no finding has a change to try."""
        return NAME_ONE

    def expect_fitting(self, is_replay: bool, *, takes_workload: bool = False) -> None:
        """Raises UsageError for what belongs to a replay and to no other experiment, and for a replay of nothing."""
        if is_replay and self.workload is None:
            raise click.UsageError(
                "replay needs --workload FILE. Record one: myisam-advisor record --output FILE --seconds 60."
            )
        if takes_workload and (self.findings or self.settings or self.statements):
            raise click.UsageError("RULE, --set and --sql belong to replay: myisam-advisor trial replay.")
        if not (is_replay or takes_workload) and (self.workload or self.findings or self.settings or self.statements):
            raise click.UsageError("RULE, --workload, --set and --sql belong to replay: myisam-advisor trial replay.")


class ProvingWish(ReplayWish):
    """The same of `prove`: its workload is recorded for it, and goes with it."""

    __slots__ = ()

    @property
    def way_to_name_one(self) -> str:
        """Its user has no such file yet."""
        return f"{RECORD_FIRST}{NAME_ONE}"


def expect_something(named: Sequence[Variant], findings: Sequence[Finding], wish: ReplayWish) -> list[Variant]:
    """What is tried, whichever tables can be copied. Raises TrialError where that is nothing: then nothing is recorded for it."""
    return variants_of(named, findings, None, wish)


def tables_of(findings: Iterable[Finding]) -> Mapping[TableName, None]:
    """The tables that the changes of these findings are of."""
    from myisam_advisor.remedies.statements.base import Statement

    commands = (command for finding in findings for command in finding.remedy.commands)
    tables = (command.table for command in commands if isinstance(command, Statement))
    return dict.fromkeys(table for table in tables if table is not None)


def needs_one_of(variants: Sequence[Variant], findings: Sequence[Finding]) -> bool:
    """Whether nothing of these variants can be tried without a copy of one of the findings' tables: none is of the server, and none was written by the user."""
    return all(variant.rules for variant in variants) and all(
        of_finding(finding, frozenset()) is None for finding in findings
    )


def named_changes(wish: ReplayWish, variables: Mapping[str, str]) -> list[Variant]:
    """What the user wrote, each alone."""
    from myisam_advisor.trial.statements.variants import Setting, Variant

    settings = [Setting.parsed(text) for text in wish.settings]
    for setting in settings:
        _expect_variable(setting, variables)
    named = [Variant(str(setting), settings=(setting,)) for setting in settings]
    return [*named, *(Variant(text, statements=(text,)) for text in wish.statements)]


def findings_of(wish: ReplayWish, server: ServerOptions, site: SiteOptions) -> list[Finding]:
    """The findings that are named; where none is, all that are for speed."""
    from myisam_advisor.judging.chosen import choose, refuse_unknown_rules

    in_force = site.load()
    known = [rule.id for rule in in_force.rules]
    refuse_unknown_rules((name.partition(":")[0] for name in wish.findings), known)
    judgement, _ = judged(SourceOptions(server, None), in_force, wish.interval, wish.history_file, for_trial=True)
    chosen = choose(judgement, wish.findings, known)
    return chosen if wish.findings else for_speed(chosen, in_force.rules)


def for_speed(findings: Sequence[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """Those whose remedy is there to make statements faster: what else it is for, a replay does not see."""
    wanted = {rule.id for rule in rules if rule.is_for_speed}
    return [finding for finding in findings if finding.rule in wanted]


def variants_of(
    named: Sequence[Variant],
    findings: Sequence[Finding],
    copied: frozenset[TableName] | None,
    wish: ReplayWish,
    missing: Mapping[TableName, str] = NONE_MISSING,
) -> list[Variant]:
    """What the user wrote, and the changes of findings, as of_finding takes them; `missing` says of tables why they are not copied.

    Raises TrialError where there is none, or none of a rule that was named.
    """
    from myisam_advisor.errors import TrialError

    weighed = [finding for finding in findings if wish.findings or finding.variable not in NOT_WEIGHED]
    tried = {finding.rule for finding in weighed if of_finding(finding, copied) is not None}
    untried = [finding for finding in weighed if finding.rule not in tried]
    if untried and wish.findings:
        raise TrialError(_cannot_be_tried(untried[0], copied, missing))
    changes = (of_finding(finding, copied) for finding in weighed)
    chosen = [*named, *(variant for variant in changes if variant is not None)]
    if not chosen:
        uncopied = [why for finding in weighed if (why := _why_uncopied(finding, copied, missing))]
        raise TrialError(_nothing_to_try(findings, "; ".join(dict.fromkeys(uncopied)), wish.way_to_name_one))
    return _apart(chosen)


def _cannot_be_tried(finding: Finding, copied: frozenset[TableName] | None, missing: Mapping[TableName, str]) -> str:
    """Of the table where that is why; else what the change is instead."""
    why = _why_uncopied(finding, copied, missing)
    on = "tables" if copied is None else "these tables"
    return f"{finding.rule}: nothing of its change can be tried on copies of {on}: {why or finding.to_do or finding.recommendation}"


def _why_uncopied(finding: Finding, copied: frozenset[TableName] | None, missing: Mapping[TableName, str]) -> str:
    """Of a finding whose change is not tried: why the tables are not copied that it is of; empty where it is not for that."""
    from myisam_advisor.texts.templates import object_name

    if copied is None or of_finding(finding, None) is None:
        return ""
    return "; ".join(
        missing.get(table) or f"no statement of the recording touches {object_name(*table)}"
        for table in tables_of([finding])
        if table not in copied
    )


def _nothing_to_try(findings: Sequence[Finding], uncopied: str, way: str) -> str:
    """Who has just read other findings of `check` sees which there were this time, and why their tables are not copied; `way` is what else can be done."""
    rules = list(dict.fromkeys(finding.rule for finding in findings))
    if not rules:
        return f"nothing was found whose remedy makes statements faster: look under load, and for longer (--interval), or {way}"
    why = f": {uncopied}. Or " if uncopied else ": "
    return f"no finding has a change that can be tried (found: {', '.join(rules)}){why}{way}"


def not_tried(
    findings: Sequence[Finding], copied: frozenset[TableName], wish: ReplayWish, missing: Mapping[TableName, str]
) -> list[str]:
    """The findings whose change is not tried, in sentences: their tables are not among those that are copied, or a rule that was named has no such change for this one."""
    return [
        f"{finding.rule} ({finding.object}) was not tried: {_why_uncopied(finding, copied, missing) or 'nothing of its change can be tried on a copy'}."
        for finding in findings
        if (finding.variable not in NOT_WEIGHED or wish.findings)
        and of_finding(finding, copied) is None
        and (wish.findings or of_finding(finding, None) is not None)
    ]


def _apart(variants: Sequence[Variant]) -> list[Variant]:
    """The same, none twice, each with a name of its own."""
    named: dict[str, Variant] = {}
    for variant in dict.fromkeys(variants):
        name, number = variant.name, 2
        while name in named:
            name, number = f"{variant.name} ({number})", number + 1
        named[name] = replace(variant, name=name)
    return list(named.values())


def _expect_variable(setting: Setting, variables: Mapping[str, str]) -> None:
    from myisam_advisor.errors import TrialError
    from myisam_advisor.texts.near import did_you_mean

    if setting.variable not in variables:
        near = did_you_mean(setting.variable, variables)
        raise TrialError(f"--set {setting}: this server has no variable {setting.variable}.{near}")


def of_finding(finding: Finding, copied: frozenset[TableName] | None) -> Variant | None:
    """A finding's change as a private server takes it: the options of its start, and what is done to the tables that are copied (None: to all of them).

    None where there is neither, or it only has the server tell more. Other engines are not tried: a small private server says nothing of them.
    """
    from myisam_advisor.proofs.changes import changes_of
    from myisam_advisor.remedies.statements.base import Change, Phase, Remark, Statement
    from myisam_advisor.trial.statements.variants import Variant

    options = tuple(
        f"--{line.option}={line.partition('=')[2].strip()}" for line in finding.my_cnf if line.option and "=" in line
    )
    options = tuple(one for one in options if not one.startswith("--init"))
    wanted = (Phase.ASSIGN, *(() if options else (Phase.SET, Phase.GIVE_BACK)))
    statements = tuple(
        str(command.sql).rstrip("; \n")
        for command in finding.remedy.commands
        if isinstance(command, Statement)
        and not isinstance(command, Remark)
        and (command.rewrites or command.phase in wanted)
        and (copied is None or command.table is None or command.table in copied)
        and Change.INTO_INNODB not in command.changes
    )
    if not changes_of((*options, *statements)):
        return None
    name = f"{finding.rule} ({finding.object})" if finding.object else finding.rule
    return Variant(name, (finding.rule,), (), options, statements)
