"""Ours, as a user runs it: `myisam-advisor check --format json` in a process of its own, and what its findings would have one run.

A finding's lines of my.cnf are changes of variables, and so is each SET GLOBAL; its other statements belong together, with the named key caches that they
fill. Lines for a shell (a copy of a file before a repair) are no change here. A finding without either is a sentence.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.advice.model import Advice, Change, WatchedServer
from benchmarks.advice.programs import advice, output_of, shown
from benchmarks.common import PROGRAM
from myisam_advisor.errors import TrialError

NAME, INTERVAL_SECONDS = "myisam-advisor", 10.0
STATEMENT_LETTERS = 20_000
# It says that there is nothing to judge.
NO_ADVICE = ("no-myisam",)
_OPTION = re.compile(r"(?P<name>[A-Za-z][\w.-]*)\s*=\s*(?P<value>[^#]*)")
_SET = re.compile(
    r"SET\s+(?:GLOBAL|PERSIST)\s+(?P<name>(?:`?\w+`?\.)?\w+)\s*:?=\s*(?P<value>[^;]+);?\s*", re.IGNORECASE
)
_HOLD = re.compile(r"(?:UN)?LOCK TABLES")
# What an SQL client is given; a shell's lines and remarks stand among them.
_SQL = re.compile(r"(?:ALTER|ANALYZE|CACHE INDEX|CHECK|FLUSH|KILL|LOAD INDEX|LOCK|OPTIMIZE|REPAIR|UNLOCK) ?[A-Z`0-9]")


@dataclass(frozen=True)
class Ours:
    """See the module."""

    name: str = NAME
    interval_seconds: float = INTERVAL_SECONDS

    def why_not(self) -> str | None:
        """See Adviser."""
        return None if PROGRAM.exists() else f"{PROGRAM} is missing: run script/bootstrap"

    def advice(self, server: WatchedServer) -> Advice:
        """See Adviser."""
        with tempfile.NamedTemporaryFile("w", prefix="myisam-peer-", suffix=".cnf") as options:
            password = f'password="{server.password}"\n' if server.password else ""
            options.write(f"[client]\nuser={server.user}\n{password}socket={server.socket}\n")
            options.flush()
            words = [
                "check",
                "--defaults-file",
                options.name,
                "--interval",
                f"{self.interval_seconds:g}s",
                "--format",
                "json",
                "--fail-on",
                "never",
            ]
            return advice_of(output_of([str(PROGRAM), *words]))


def advice_of(text: str) -> Advice:
    """A report as changes and sentences. Raises TrialError where there was a warning on top of it, or none at all."""
    try:
        document: Mapping[str, Any] = json.loads(text[text.index("{") :])
        findings: Sequence[Mapping[str, Any]] = document["findings"]
    except (ValueError, KeyError):
        raise TrialError(f"check printed no report: {shown(text)}") from None
    changes: list[Change] = []
    named: list[str] = []
    for finding in findings:
        if finding["rule"] in NO_ADVICE:
            continue
        found = list(changes_of(finding))
        changes += found
        if not found:
            named.append(f"{finding['rule']} [{finding['severity']}]: {finding['message']}")
    return advice(NAME, str(document["tool"]["version"]), changes, named)


def changes_of(finding: Mapping[str, Any]) -> Iterator[Change]:
    """What a finding would have set and run."""
    said, severity, rule = shown(finding["message"]), finding["severity"], finding["rule"]
    work = (finding.get("forecast") or {}).get("work")
    variables: dict[str, str] = {}
    for line in finding["my_cnf"]:
        if option := _OPTION.fullmatch(line.strip()):
            variables[_plain(option["name"])] = option["value"].strip()
    # A file of the finding's own statements, for the next start: without that file it is no change.
    variables.pop("init_file", None)
    statements: list[str] = []
    caches: dict[str, str] = {}
    # What waits for a copy first is measured as well: here everything is a copy.
    for command in (*finding["commands"], *finding["offered_commands"]):
        assignment = _SET.fullmatch(command)
        if assignment and "." in assignment["name"]:
            caches[_plain(assignment["name"])] = command
        elif assignment:
            variables.setdefault(_plain(assignment["name"]), assignment["value"].strip(" '"))
        elif _SQL.match(command):
            statements.append(command)
    if all(map(_HOLD.match, statements)):
        # What was held while a variable is set at once: nothing is left of it where the variable is set at the start.
        statements = []
    if statements:
        # A cache that the statements fill is theirs; my.cnf makes it anew at the next start.
        variables = {name: value for name, value in variables.items() if name not in caches}
        together = ";\n".join(one.strip().rstrip(";") for one in [*caches.values(), *statements])
        yield Change(None, None, together[:STATEMENT_LETTERS], said, severity, rule, work)
    else:
        variables |= {
            name: command.partition("=")[2].strip(" ;'") for name, command in caches.items() if name not in variables
        }
    for name, value in variables.items():
        yield Change(name, value, None, said, severity, rule, work)


def _plain(name: str) -> str:
    return name.replace("`", "").replace("-", "_").lower()


ADVISER = Ours()
