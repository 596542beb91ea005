"""What doctor prints: each source, each remedy once with all that it mends, and how many sources work."""

import io
import json
import re
from pathlib import Path

import pytest

from myisam_advisor.cli.examination import (
    DEGRADED,
    NOT_HERE,
    OFF,
    WORKING,
    Examination,
    examination_as_document,
    examination_as_text,
    remedies_of,
    summary_of,
)
from myisam_exporter.facts.unknown import Unknown

SWITCH = "performance_schema=ON in my.cnf, then restart"
FILES = "run beside the server, with the right to read its data directory"
RULES = ("mmap-enable", "mmap-ineffective", "table-crashed", "table-near-size-limit")
EXAMINED = [
    Examination("status", WORKING, (), (), 0.001),
    Examination("performance_schema", OFF, (Unknown("performance_schema is off", SWITCH, off=True),), ("pack-keys",), 0.0),
    Examination("server", DEGRADED, (Unknown("performance_schema is off", SWITCH, off=True),), (), 0.0),
    Examination("myi", OFF, (Unknown("the data directory cannot be entered by this account, and so no header is read", FILES),), RULES, 0.0),
    Examination("cgroup", NOT_HERE, (Unknown("this machine has no control groups that count memory", off=True),), (), 0.0),
    Examination("host", DEGRADED, (Unknown("the disk's name cannot be read (\x1b[31mEIO)"),), ("io-bound-data",), 0.0),
]


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_one_remedy_is_said_once_for_all_that_it_mends_what_helps_most_first() -> None:
    first, second = remedies_of(EXAMINED)
    assert (first.what, first.rules) == (FILES, RULES)
    assert second.what == SWITCH
    assert [source for source, _ in second.mended] == ["performance_schema", "server"]
    text = examination_as_text(EXAMINED, io.StringIO(), "As root")
    assert text.count(SWITCH) == 1
    assert "   performance_schema, server: performance_schema is off\n" in text
    assert "rules that gain: mmap-enable, mmap-ineffective, table-crashed, table-near-size-limit" in text


def test_who_asks_comes_first_and_the_sum_last() -> None:
    lines = examination_as_text(EXAMINED, io.StringIO(), "As 'root'@'localhost'").splitlines()
    assert lines[0] == "As 'root'@'localhost'"
    assert lines[-1] == "1 of 5 sources work (1 more is not for this machine); do these 2 things to see more."
    assert all(lines)
    states = {line.split()[0]: line.split()[1] for line in lines if not line.startswith(" ")}
    assert states["cgroup"] == "not"
    assert states["performance_schema"] == "off"


@pytest.mark.parametrize(
    ("examined", "said"),
    [
        (EXAMINED[:1], "Every source works."),
        (EXAMINED[:2], "1 of 2 sources work; do this to see more."),
        ([EXAMINED[0], EXAMINED[5]], "1 of 2 sources work."),
    ],
)
def test_the_sum_promises_nothing_that_cannot_be_done(examined: list[Examination], said: str) -> None:
    assert summary_of(examined, remedies_of(examined)) == said


def test_what_has_no_remedy_is_said_beside_its_source_and_cannot_steer_the_terminal() -> None:
    text = examination_as_text(EXAMINED, io.StringIO())
    assert "\x1b" not in text
    assert re.search(r"\nhost +degraded .*\n +the disk's name cannot be read \(\\x1b\[31mEIO\)\n +rules that gain: io-bound-data\n", text)


@pytest.mark.parametrize("columns", ["50", "80", "120"])
def test_a_terminal_gets_whole_words(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("COLUMNS", columns), ("NO_COLOR", "1"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    lines = re.sub("\x1b.*?m", "", examination_as_text(EXAMINED, Terminal())).splitlines()
    assert max(map(len, lines)) <= int(columns)
    words = " ".join(lines).replace(",", "").split()
    assert {*RULES, *FILES.replace(",", "").split()} <= set(words)


def test_many_rules_are_counted_and_the_document_names_them() -> None:
    many = tuple(f"rule-{number:02}" for number in range(39))
    examined = [Examination("myi", OFF, (Unknown("hidden", FILES),), many, 0.001)]
    text = examination_as_text(examined, io.StringIO())
    assert "   39 rules gain: rule-00, rule-01, rule-02, rule-03 and 35 more (--format json names them)\n" in text
    document = json.loads(json.dumps(examination_as_document(examined, "As root", Path("/nowhere/history.sqlite"))))
    assert [source["rules"] for source in document["sources"]] == [list(many)]


def test_what_one_right_mends_stands_together_and_another_way_beside_what_it_does_for() -> None:
    examined = [
        Examination("mysqld_process", OFF, (Unknown("/proc/1/io cannot be read", FILES),), ("open-files-limit",), 0.001),
        Examination("myi", OFF, (Unknown("not verified", f"{FILES}; or let this user read the pid file"),), ("table-crashed",), 0.001),
    ]
    (remedy,) = remedies_of(examined)
    assert (remedy.what, remedy.rules) == (FILES, ("open-files-limit", "table-crashed"))
    text = examination_as_text(examined, io.StringIO())
    assert "   myi: not verified (or let this user read the pid file)\n" in text
    assert len(re.findall("  see 1 below", text)) == 2
    (alone,) = remedies_of(examined[1:])
    assert alone.what.endswith("; or let this user read the pid file")
