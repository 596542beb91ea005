"""MySQLTuner: how it is run, and how its report is read. Two releases are asked (advisers/mysqltuner.py, advisers/mysqltuner_newest.py).

Read are the two lists at the end of the report: "Variables to adjust", whole, and "General recommendations" as far as one says what is to be run or
gives a setting with its value; and its requests to convert tables. Statements that it lists together (OPTIMIZE of each table) are one change.
"Ready-to-Apply SQL Snippets" of newer releases say the first list once more, some of them so that no server takes them
(SET GLOBAL x = '0 (Recommended for SSD/NVMe)'): they are not held against it. What it marks as bad ([!!]) is what it names.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.advice.model import Advice, Change, WatchedServer
from benchmarks.advice.programs import SENTENCES, advice, asked, known_of, not_fetched, output_of, setting, shown
from benchmarks.advice.vague import Known, prose, terse
from tools.fetched_servers import cache_directory

CLIENT = "mysqltuner"
ADJUST, RECOMMENDATION = "adjust", "recommendation"
_VERSION = re.compile(r"MySQLTuner (\d[\w.]*)")
_HEADING = re.compile(r"^(General recommendations|Variables to adjust):\s*$")
_LINE = re.compile(r"^ {4,}(\S.*)$")
_BAD = re.compile(r"^\s*(?:\[!!\]|✘)\s+(.+)$")
_STATEMENT = re.compile(r"^((?:OPTIMIZE|ALTER|ANALYZE|REPAIR) TABLE `[^`]+`\.`[^`]+`[^;]*);")
_REQUEST = re.compile(
    r"^\s*(?:\[--\]|\u2139)\s+\* (InnoDB migration request for .+ Table: ALTER TABLE .+ ENGINE=InnoDB;)$"
)
_REQUESTED = re.compile(r" Table: (ALTER TABLE `[^`]+`\.`[^`]+` ENGINE=InnoDB);$")
_VALUED = re.compile(r"\b\w+\s*=\s*\S")
# hr_num() of its source: one of its settings is printed in thousands, not in bytes.
_THOUSANDS = re.compile(r"(\(~ )(\d+)([KMB])\)")
_TIMES = {"K": 1000, "M": 1000**2, "B": 1000**3}


@dataclass(frozen=True)
class Report:
    """What it printed, by what it is."""

    version: str
    adjust: tuple[str, ...]
    recommendations: tuple[str, ...]
    bad: tuple[str, ...]
    requests: tuple[str, ...]


@dataclass(frozen=True)
class MySQLTuner:
    """One release of it, from the folder of the cache that script/servers has filled."""

    name: str
    folder: str
    options: tuple[str, ...] = ()

    def why_not(self) -> str | None:
        """See Adviser."""
        if shutil.which("perl") is None:
            return "perl is missing"
        missing = next((one for one in ("mysql", "mysqladmin") if shutil.which(one, path=_path()) is None), None)
        if missing:
            return f"{missing}, which it calls, is missing: run script/servers {CLIENT}"
        return not_fetched(self.folder, "usr/bin/mysqltuner")

    def advice(self, server: WatchedServer) -> Advice:
        """See Adviser."""
        known = known_of(server, asked(server, "VARIABLES"))
        return advice_of(self.name, report_in(self._printed(server)), known)

    def _printed(self, server: WatchedServer) -> str:
        root = cache_directory() / self.folder
        environment = {"PATH": _path(), "PERL5LIB": str(cache_directory() / CLIENT / "usr/share/perl5")}
        with tempfile.NamedTemporaryFile("w", prefix="myisam-peer-", suffix=".cnf") as options:
            # Its --socket also names a port, which MariaDB's client takes for TCP.
            options.write(_login(server))
            options.flush()
            # Guessing passwords takes a connection each, and says nothing of speed.
            command = [
                "perl",
                str(root / "usr/bin/mysqltuner"),
                "--defaults-file",
                options.name,
                "--nocolor",
                "--skippassword",
                *self.options,
            ]
            return output_of(command, environment)


def _path() -> str:
    return f"{cache_directory() / CLIENT / 'usr/bin'}:/usr/sbin:/usr/bin:/sbin:/bin"


def _login(server: WatchedServer) -> str:
    password = f'password="{server.password}"\n' if server.password else ""
    return f"[client]\nuser={server.user}\n{password}socket={server.socket}\n"


def report_in(text: str) -> Report:
    """The report's parts; a line that is none of these is passed over."""
    lists: dict[str, list[str]] = {"General recommendations": [], "Variables to adjust": []}
    bad: list[str] = []
    requests: list[str] = []
    current: list[str] | None = None
    for line in text.splitlines():
        heading, item = _HEADING.match(line), _LINE.match(line)
        if heading:
            current = lists[heading[1]]
        elif item and current is not None:
            current.append(item[1])
        else:
            current = None
        bad += (found[1] for found in _BAD.finditer(line))
        requests += (found[1] for found in _REQUEST.finditer(line))
    version = _VERSION.search(text)
    adjust, recommendations = lists["Variables to adjust"], lists["General recommendations"]
    return Report(
        version[1] if version else "unknown", tuple(adjust), tuple(recommendations), tuple(bad), tuple(requests)
    )


def advice_of(name: str, report: Report, known: Known) -> Advice:
    """Its changes, and what it says without one that can be made."""
    changes: list[Change] = []
    named: list[str] = []
    for phrase in report.adjust:
        reading = terse(_in_bytes(phrase), known)
        if reading is None:
            named.append(phrase)
        else:
            changes.append(setting(reading, phrase, ADJUST, reading.variable))
    for sentence in report.recommendations:
        found = [] if _STATEMENT.match(sentence) else list(_recommended(sentence, known))
        changes += found
        if not (found or _STATEMENT.match(sentence)):
            named.append(sentence)
    changes += _together(report.recommendations, _STATEMENT)
    changes += _together(report.requests, _REQUESTED)
    return advice(name, report.version, changes, [*named, *report.bad])


def _recommended(sentence: str, known: Known) -> Iterator[Change]:
    for reading in prose(sentence, known) if _VALUED.search(sentence) else ():
        yield setting(reading, sentence, RECOMMENDATION, reading.variable)


def _together(sentences: Sequence[str], pattern: re.Pattern[str]) -> list[Change]:
    found = [(sentence, match[1]) for sentence in sentences if (match := pattern.search(sentence))][:SENTENCES]
    if not found:
        return []
    statements = dict.fromkeys(statement for _, statement in found)
    rule = " ".join(found[0][1].split()[:2]).lower()
    return [
        Change(None, None, ";\n".join(statements), shown("; ".join(said for said, _ in found)), RECOMMENDATION, rule)
    ]


def _in_bytes(phrase: str) -> str:
    return _THOUSANDS.sub(lambda found: f"{found[1]}{int(found[2]) * _TIMES[found[3]]})", phrase)
