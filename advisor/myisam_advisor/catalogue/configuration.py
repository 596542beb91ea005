"""/etc/myisam-advisor/config.yaml: thresholds, suppressions, further rules and ignored schemas, read and validated.

Every fault is one message with file, line and remedy. An expired suppression is no fault: its finding is back, and a warning says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from myisam_advisor.catalogue.rules import Parameter, Rule, load_rules, shipped_rules
from myisam_advisor.catalogue.shipped_files import shipped_document
from myisam_advisor.catalogue.site import Site, Suppression
from myisam_advisor.catalogue.thresholds import threshold_value
from myisam_advisor.texts.near import did_you_mean
from myisam_advisor.texts.yaml_files import KeyPath, YamlFile, fault_at, first_fault, read_yaml
from myisam_exporter.errors import UserError, brief
from myisam_exporter.outside.own_settings import expect_own

STANDARD_PATH = Path("/etc/myisam-advisor/config.yaml")


def load_site(path: Path | None, rule_folders: Sequence[Path], today: date | None = None) -> Site:
    """The site that the configuration file describes; without one, the shipped rules and those of the folders.

    `path` is None for the standard place, where a missing file is no fault. Raises UserError for a file that cannot be used.
    """
    if path is None and not _exists(STANDARD_PATH):
        return Site(with_own_rules(rule_folders))
    file = path or STANDARD_PATH
    expect_own("configuration", file)
    content = read_yaml(file, "configuration")
    if content.document is None:
        return Site(with_own_rules(rule_folders))
    fault = first_fault(content.document, _schema())
    if fault:
        raise fault_at(content, *fault)
    document: Mapping[str, Any] = content.document
    folders = [file.parent / folder for folder in document.get("rules_directories", ())]
    rules = {rule.id: rule for rule in with_own_rules((*folders, *rule_folders))}
    reads = document.get("storage_reads_per_second")
    if reads is not None:
        per_second = _number(reads, "reads per second", ("storage_reads_per_second",), content)
        rules = {name: _on_storage(rule, per_second) for name, rule in rules.items()}
    for name, thresholds in document.get("thresholds", {}).items():
        if name not in rules:
            raise fault_at(content, ("thresholds", name), _no_such(name, "rule", rules))
        rules[name] = _with_thresholds(rules[name], thresholds, content)
    suppressions = [
        _suppression(entry, place, rules, content) for place, entry in enumerate(document.get("suppressions", ()))
    ]
    now = today or date.today()
    return Site(
        tuple(rules.values()),
        tuple(suppression for suppression in suppressions if not suppression.expired(now)),
        tuple(document.get("ignored_schemas", ())),
        tuple(_expired(suppression, file) for suppression in suppressions if suppression.expired(now)),
    )


def with_own_rules(folders: Sequence[Path]) -> tuple[Rule, ...]:
    """The shipped rules and those of these folders, by id. Raises UserError for one that cannot be used."""
    own = load_rules(folders)
    taken = {rule.id for rule in shipped_rules()}
    for rule in own:
        if rule.id in taken:
            raise UserError(f"{rule.path}: the rule id {rule.id} is taken by a shipped rule: give it another.")
    return tuple(sorted((*shipped_rules(), *own), key=lambda rule: rule.id))


def _on_storage(rule: Rule, reads_per_second: float) -> Rule:
    """The rule with each threshold that is a share of what the storage does moved to this storage."""
    moved = {
        name: replace(known, default=known.storage_share * reads_per_second, shipped=known.default)
        for name, known in rule.parameters.items()
        if known.storage_share is not None
    }
    return replace(rule, parameters={**rule.parameters, **moved}) if moved else rule


def _with_thresholds(rule: Rule, thresholds: Mapping[str, Any], content: Any) -> Rule:
    parameters = dict(rule.parameters)
    for name, value in thresholds.items():
        place = ("thresholds", rule.id, name)
        if name not in parameters:
            raise fault_at(content, place, _no_such(name, "threshold", parameters, rule.id))
        known: Parameter = parameters[name]
        chosen = _number(value, known.unit, place, content)
        shipped = known.default if known.shipped is None else known.shipped
        parameters[name] = replace(known, default=chosen, shipped=shipped)
    return replace(rule, parameters=parameters)


def _number(value: object, unit: str, place: KeyPath, content: YamlFile) -> int | float:
    """A number of the file's in this unit. Raises UserError for what is none, or infinite."""
    try:
        return threshold_value(value, unit)
    except ValueError as error:
        raise fault_at(content, place, f"{error}.") from None


def _suppression(entry: Mapping[str, Any], place: int, rules: Mapping[str, Rule], content: Any) -> Suppression:
    if entry["rule"] not in rules:
        raise fault_at(content, ("suppressions", place, "rule"), _no_such(entry["rule"], "rule", rules))
    until = entry.get("until")
    try:
        last_day = date.fromisoformat(until) if until else None
    except ValueError:
        raise fault_at(content, ("suppressions", place, "until"), f"{until} is not a date: write 2027-01-31.") from None
    return Suppression(entry["rule"], entry["reason"], entry.get("object", "*"), last_day)


def _expired(suppression: Suppression, file: Path) -> str:
    about = "" if suppression.object == "*" else f" for {suppression.object}"
    return (
        f"the suppression of {suppression.rule}{about} in {file} expired on {suppression.until}: "
        "its findings are shown again. Renew or remove it."
    )


def _no_such(name: object, kind: str, known: Mapping[str, object], rule_id: str = "") -> str:
    """What is said of a name that nothing has: those that are nearly written so, and what lists all."""
    owner = f"{rule_id} has no" if rule_id else "there is no"
    listing = f"`myisam-advisor explain{' ' + rule_id if rule_id else ''}` lists them."
    return f"{owner} {kind} {brief(name)}.{did_you_mean(str(name), known)} {listing}"


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True  # there is something that may not be read: the error will say so


def _schema() -> dict[str, Any]:
    loaded: dict[str, Any] = shipped_document("configuration-schema.json")
    return loaded
