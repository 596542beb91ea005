"""pt-variable-advisor of percona-toolkit: sentences over SHOW VARIABLES.

It reads them from a file, as it says it can, so that no library of Perl is needed. Asked for all it says (--verbose twice): the remedy is mostly in what follows
the first sentence.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping

from benchmarks.advice.model import Advice, Change, WatchedServer
from benchmarks.advice.programs import advice, asked, known_of, not_fetched, output_of, setting
from benchmarks.advice.vague import Known, prose
from tools.fetched_servers import cache_directory

PACKAGE, PROGRAM = "percona-toolkit", "usr/bin/pt-variable-advisor"
_RULE = re.compile(
    r"^# (?P<severity>[A-Z]+) (?P<rule>[^:\n]+): (?P<said>(?:(?!\n\s*\n|\n# [A-Z]+ ).)+)", re.MULTILINE | re.DOTALL
)
_NUMBERED = re.compile(r"-\d+$")
_VERSION = re.compile(r"pt-variable-advisor (\d[\w.]*)")


class PtVariableAdvisor:
    """See the module."""

    name = "pt-variable-advisor"

    def why_not(self) -> str | None:
        """See Adviser."""
        return "perl is missing" if shutil.which("perl") is None else not_fetched(PACKAGE, PROGRAM)

    def advice(self, server: WatchedServer) -> Advice:
        """See Adviser."""
        program = ["perl", str(cache_directory() / PACKAGE / PROGRAM)]
        variables = asked(server, "VARIABLES")
        version = _VERSION.search(output_of([*program, "--version"]))
        with tempfile.NamedTemporaryFile("w", prefix="myisam-peer-", suffix=".txt", encoding="utf-8") as file:
            file.write(listed(variables))
            file.flush()
            text = output_of(
                [
                    *program,
                    "--config",
                    "/dev/null",
                    "--no-version-check",
                    "--verbose",
                    "--verbose",
                    "--source-of-variables",
                    file.name,
                ]
            )
        return advice_of(text, version[1] if version else "unknown", known_of(server, variables))


def listed(variables: Mapping[str, str]) -> str:
    """As `mysql -e 'SHOW VARIABLES'` prints them."""
    return "".join(
        f"{name}\t{_on_one_line(value)}\n" for name, value in {"Variable_name": "Value", **variables}.items()
    )


def _on_one_line(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def advice_of(text: str, version: str, known: Known) -> Advice:
    """What it printed as changes, and the sentences without one."""
    changes: list[Change] = []
    named: list[str] = []
    for rule in _RULE.finditer(text):
        found = list(_changes(rule, known))
        changes += found
        if not found:
            named.append(f"{rule['rule']}: {rule['said']}")
    return advice(PtVariableAdvisor.name, version, changes, named)


def _changes(rule: re.Match[str], known: Known) -> Iterator[Change]:
    subject = _NUMBERED.sub("", rule["rule"])
    for reading in prose(rule["said"], known, subject):
        yield setting(reading, rule["said"], rule["severity"].lower(), rule["rule"])


ADVISER = PtVariableAdvisor()
