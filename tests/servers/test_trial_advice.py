"""One scenario of `script/bench advice`, whole: a server is asked about, each change is measured beside the untouched one, and nobody is asked twice."""

from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.advice.__main__ import Run, do_scenario
from benchmarks.advice.model import Advice, Change, WatchedServer
from benchmarks.advice.outcomes import NOT_APPLICABLE, UNSAFE
from benchmarks.advice.record import SEARCHED, Record, advice_of, measured_of, of_kind, whole_of
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
