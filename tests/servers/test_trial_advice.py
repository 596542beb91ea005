"""One scenario of `script/bench advice`, whole: a server is asked about, each change is measured beside the untouched one, and nobody is asked twice."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.advice import averting
from benchmarks.advice.__main__ import Run, do_scenario
from benchmarks.advice.averting import AVERTS, DOES_NOT_AVERT, NOT_PROVOKED, REFUSED, verdict_of
from benchmarks.advice.model import Advice, Change, WatchedServer
from benchmarks.advice.outcomes import NOT_APPLICABLE, UNSAFE
from benchmarks.advice.record import AVERTED, SEARCHED, Record, advice_of, measured_of, of_kind, whole_of
from benchmarks.advice.scenarios import read_scenario
from benchmarks.advice.work import Pace
from tests.support.servers import binaries_of
from tools.fetched_servers import keep_place

SERVER = "mariadb-10.11"
SCENARIO = """
group: key cache
fault: The key cache is smaller than the index.
named_by: {variables: [key_buffer_size]}
options: {key_buffer_size: 64K}
tables:
  - {name: t, rows: 2000, columns: {id: INT, k: CHAR(32)}, keys: [KEY (k)], values: {id: n, k: "LEFT(SHA2(n, 256), 32)"}}
load: {statements: {of: {"SELECT id FROM t WHERE k = '{hash:0:1999}'": 1}, threads: 1}}
search: {concurrent_insert: [0, 2]}
"""
TABLE = "ALTER TABLE made.t FORCE"
LATE = """
group: delayed keys
fault: Index blocks are written late, and nothing repairs a table after a crash.
named_by: {rules: [delay-key-write]}
options: {key_buffer_size: 8M, delay_key_write: ALL, myisam_recover_options: "OFF"}
tables:
  - {name: t, rows: 2000, columns: {id: INT, k: INT}, keys: [KEY (k)], values: {id: n, k: n}}
load: {statements: {of: {"SELECT id FROM t WHERE k = {number:0:1999}": 1}, threads: 1}}
damage:
  late: &killed {provoked_by: ["UPDATE made.t SET k = k + 5000"], killed: true, seen_by: ["CHECK TABLE made.t"]}
  other: *killed
  refused: *killed
  harmless: {sessions: 2, seen_by: ["SELECT COUNT(*) FROM made.t"]}
  fails: {sessions: 2, seen_by: ["SELECT COUNT(*) FROM made.nothing", "SELECT 1"]}
"""


def change(variable: str | None, value: str | None, statement: str | None = None) -> Change:
    return Change(variable, value, statement, "Do it.", "warning", "rule")


@dataclass
class Somebody:
    """Says the same of every server, and counts how often it was asked."""

    name: str = "somebody"
    watched: list[WatchedServer] = field(default_factory=list)

    def why_not(self) -> str | None:
        return None

    def advice(self, server: WatchedServer) -> Advice:
        self.watched.append(server)
        changes = (change("key_buffer_size", "8M"), change("no_such_variable", "1"), change("open_files_limit", "a few"), change(None, None, TABLE), change(None, None, "DELETE FROM made.t"))
        return Advice(self.name, "1.0", changes, ("The key cache is small.",))


@dataclass
class Warner(Somebody):
    """Warns of damage: of two rules the change has to do with it."""

    def advice(self, server: WatchedServer) -> Advice:
        rules = {"late": ("delay_key_write", "OFF"), "other": ("concurrent_insert", "0"), "refused": ("no_such_variable", "1"), "harmless": ("concurrent_insert", "0"), "fails": ("concurrent_insert", "0")}
        return Advice(self.name, "1.0", tuple(Change(*changed, None, "Do it.", "warning", rule) for rule, changed in rules.items()), ())


class Failing(Somebody):
    def advice(self, server: WatchedServer) -> Advice:
        raise ValueError("nothing to say")


def test_a_scenario_is_measured_and_goes_on_where_it_was(tmp_path: Path) -> None:
    binaries_of(SERVER)
    keep_place()
    (tmp_path / "small.yaml").write_text(SCENARIO)
    scenario, folder, asked = read_scenario(tmp_path / "small.yaml"), tmp_path / "results", Somebody()
    pace = Pace(run_seconds=0.05, loaded_seconds=0.2, piece_seconds=1.0)
    record = Record(folder, SERVER, "small")

    do_scenario(scenario, SERVER, [asked, Failing("nobody")], Run(folder, pace))
    lines = record.lines()
    assert set(advice_of(lines)) == {"somebody"}
    assert [line["why"] for line in of_kind(lines, "failed")] == ["ValueError: nothing to say"]
    outcomes = {key: line["outcome"] for key, line in measured_of(lines).items()}
    assert outcomes.pop("no_such_variable=1") == outcomes.pop("open_files_limit=a few") == NOT_APPLICABLE
    assert outcomes.pop("DELETE FROM made.t") == UNSAFE
    assert set(outcomes) == {"key_buffer_size=8388608", TABLE}
    assert all(measured_of(lines)[key]["ratio"] > 0 for key in outcomes)
    assert list(whole_of(lines)) == [frozenset({"key_buffer_size=8388608", TABLE, "DELETE FROM made.t"})]

    do_scenario(scenario, SERVER, [asked], Run(folder, pace, searches=2))
    assert len(asked.watched) == 1
    assert {line["settings"]["concurrent_insert"] for line in of_kind(record.lines(), SEARCHED)} == {"0", "2"}


def test_damage_is_provoked_without_and_with_what_a_rule_proposes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averting, "TIMES", 1)
    binaries_of(SERVER)
    keep_place()
    (tmp_path / "late.yaml").write_text(LATE)
    scenario, record = read_scenario(tmp_path / "late.yaml"), Record(tmp_path / "results", SERVER, "late")
    pace = Pace(run_seconds=0.05, loaded_seconds=0.1, piece_seconds=1.0)
    do_scenario(scenario, SERVER, [Warner()], Run(record.folder, pace))
    lines = {line["rule"]: line for line in of_kind(record.lines(), AVERTED)}
    assert {rule: verdict_of(line) for rule, line in lines.items()} == {
        "late": AVERTS, "other": DOES_NOT_AVERT, "refused": REFUSED, "harmless": NOT_PROVOKED, "fails": DOES_NOT_AVERT,
    }  # fmt: skip
    assert lines["late"]["without"] == [1]
    assert lines["fails"]["with_change"] == [2]
    assert "no_such_variable" in lines["refused"]["reason"]
