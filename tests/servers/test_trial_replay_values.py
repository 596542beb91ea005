"""`trial replay` under changes that make statements do something else: what is soon done for that reason is not fast."""

import os
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import pytest

from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.material import Material, ReplayOptions
from myisam_advisor.trial.statements.replay_result import ReplayResult
from myisam_advisor.trial.statements.replaying import run_replay
from myisam_advisor.trial.statements.stages import Stage
from myisam_advisor.trial.statements.variants import Setting, Variant
from myisam_advisor.trial.tables.sources import find_copyable
from myisam_advisor.trial.typed_documents import made
from myisam_advisor.workload.events import Event
from tests.support.apart import by_somebody_else
from tests.support.workloads import event

from .conftest import on_one_server, schema

ROWS = 2_000


@contextmanager
def material(server: PrivateServer, events: Sequence[Event]) -> Iterator[Material]:
    with schema(server, "shop"):
        rows = ",".join(f"('word {number}', {number}.1)" for number in range(ROWS))
        server.execute(
            "CREATE TABLE words (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, size DOUBLE, KEY (name)) ENGINE=MyISAM",
            f"INSERT INTO words (name, size) VALUES {rows}",
            "FLUSH TABLES",
            database="shop",
        )
        with find_copyable(server.data_directory, [("shop", "words")], 1 << 30) as (sources, missing):
            yield Material(server.binaries, [], lambda: iter(events), sources, missing)


def replayed(server: PrivateServer, events: Sequence[Event], *variants: Variant) -> ReplayResult:
    with material(server, events) as about:

        def work() -> Any:
            return asdict(run_replay(about, variants, ReplayOptions(maximum_rounds=4), Listener()))

        return made(ReplayResult, by_somebody_else(work))


def reads(statement: bytes, rows: int, count: int = 30) -> list[Event]:
    return [event(1, number * 1000, statement, rows) for number in range(count)]


def test_as_many_rows_with_other_values_are_no_speed(server: PrivateServer) -> None:
    long_ones = reads(b"SELECT GROUP_CONCAT(name ORDER BY id) FROM words", 1)
    variants = (
        Variant("short", settings=(Setting("group_concat_max_len", "16"),)),
        Variant("fewer", statements=("DELETE FROM shop.words WHERE id > 10",)),
        Variant("same", settings=(Setting("key_buffer_size", "2M"),)),
        Variant("same in a table of its own", statements=("ALTER TABLE shop.words PACK_KEYS=1",)),
    )
    result = replayed(server, long_ones, *variants)
    told = {one.name: one for one in result.variants}
    for name in ("short", "fewer"):
        assert "of the weight are answered otherwise under it, so that its speed says nothing: select group_concat" in told[name].problem
        assert told[name].problem.endswith("returns other rows")
        assert told[name].times is None
    for name in ("same", "same in a table of its own"):
        assert told[name].problem == ""
        assert told[name].measured is not None
    assert not any("answered otherwise" in note for note in result.fidelity.notes)


def test_values_behind_a_limit_are_compared_where_it_leaves_nothing_open(server: PrivateServer) -> None:
    # The rows that are changed are among those that each returns; the last two leave open which rows come.
    events = [
        *reads(b"SELECT id, name FROM words ORDER BY id DESC LIMIT 3, 4", 4),
        *reads(b"SELECT name FROM words WHERE name = 'word 1995' LIMIT 5", 1),
        *reads(b"SELECT * FROM words WHERE id = 1996 LIMIT 1", 1),
        *reads(b"SELECT name FROM words ORDER BY size > 100 DESC LIMIT 7", 7),
        *reads(b"SELECT MAX(id) FROM (SELECT id FROM words LIMIT 7) some", 1),
    ]
    changed = Variant("changed", statements=("UPDATE shop.words SET size = 0, name = CONCAT(name, '!') WHERE id > 1000",))
    # Physically the other way round: the same rows for whoever says which.
    turned = Variant("turned", statements=("ALTER TABLE shop.words ORDER BY size DESC",))
    result = replayed(server, events, changed, turned)
    told = {one.name: one for one in result.variants}
    assert told["changed"].problem.startswith("statements with 60 % of the weight are answered otherwise under it")
    assert told["turned"].problem == ""
    assert "Values were compared of SELECTs with 60 % of the weight, not of 40 % (LIMIT leaves open which rows come)." in result.fidelity.notes


@on_one_server
def test_what_a_statement_leaves_open_is_no_other_value(server: PrivateServer) -> None:
    events = [
        *reads(b"SELECT id, name FROM words LIMIT 7", 7),
        *reads(b"SELECT RAND(), id FROM words WHERE id < 50", 49),
        *reads(b"SELECT name FROM words WHERE size > 1", ROWS - 1),
        *reads(b"SELECT SUM(size), AVG(size) FROM words", 1),
    ]
    turned = Variant("turned", statements=("ALTER TABLE shop.words ORDER BY name DESC",))
    result = replayed(server, [*events, *reads(b"SELECT name FROM words WHERE id = @last", 1)], turned)
    assert [one.problem for one in result.variants] == [""]
    left = "20 % (LIMIT leaves open which rows come), 20 % (with variables of their connections), 20 % (other values whenever they are asked)"
    assert f"Values were compared of SELECTs with 40 % of the weight, not of {left}." in result.fidelity.notes


@on_one_server
def test_other_values_of_little_weight_are_told(server: PrivateServer) -> None:
    heavy = [event(1, number * 1000, b"SELECT COUNT(*) FROM words WHERE name LIKE '%9%'", 1, duration=90_000) for number in range(30)]
    light = [event(1, 40_000, b"SELECT GROUP_CONCAT(name ORDER BY id) FROM words", 1, duration=10)]
    result = replayed(server, [*heavy, *light], Variant("short", settings=(Setting("group_concat_max_len", "16"),)))
    assert result.variants[0].problem == ""
    assert [one for one in result.fidelity.notes if re.match(r"Under short, statements with (less than )?0\.0\d % of the weight are answered otherwise: select group_concat", one)]


def test_writes_that_change_nothing_any_more_are_no_speed(server: PrivateServer) -> None:
    # Rows sent are 0 for each write, whatever it does, and that is all that a slow log tells.
    writes = [event(1, number * 1000, b"UPDATE words SET size = size + 1 WHERE id = %d" % (number + 1), 0) for number in range(50)]
    empty = Variant("empty", statements=("DELETE FROM shop.words",))
    result = replayed(server, writes, empty, Variant("same", settings=(Setting("key_buffer_size", "2M"),)))
    told = {one.name: one for one in result.variants}
    assert "returns other rows" in told["empty"].problem
    assert told["same"].problem == ""


@pytest.mark.parametrize("setting", [Setting("read_buffer_size", "1"), Setting("table_open_cache", "99999999")])
def test_a_value_that_the_server_makes_another_of_is_not_said_to_be_tried(server: PrivateServer, setting: Setting) -> None:
    variants = (Variant("set", settings=(setting,)), Variant("at the start", options=(setting.option,)), Variant("same", settings=(Setting("key_buffer_size", "2M"),)))
    told = {one.name: one for one in replayed(server, reads(b"SELECT name FROM words WHERE id = 5", 1), *variants).variants}
    for name in ("set", "at the start"):
        assert f"the server does not take {setting.value}: it makes" in told[name].problem
    assert told["same"].problem == ""


@on_one_server
def test_a_server_that_dies_under_a_change_is_that_changes_problem(server: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Stage.restore
    deaths: list[int] = []

    def restore(stage: Stage) -> None:
        kept(stage)
        # Under this one a statement of the workload has it end, not at once.
        if stage.server.execute("SELECT @@GLOBAL.key_buffer_size")[0][0] == 3 << 20 and stage.server.process:
            deaths.append(stage.server.process.pid)
            os.kill(stage.server.process.pid, signal.SIGABRT)

    monkeypatch.setattr(Stage, "restore", restore)
    variants = (
        Variant("deadly", settings=(Setting("key_buffer_size", "3M"),)),
        Variant("deadly in a server of its own", options=("--key-buffer-size=3M",)),
        Variant("same", settings=(Setting("key_buffer_size", "2M"),)),
    )
    with material(server, reads(b"SELECT name FROM words WHERE id = 5", 1)) as about:

        def work() -> Any:
            return asdict(run_replay(about, variants, ReplayOptions(maximum_rounds=4), Listener())), len(deaths)

        document, count = by_somebody_else(work)
    told = {one.name: one for one in made(ReplayResult, document).variants}
    assert count == 2
    assert told["deadly"].problem.startswith("the private server died under it")
    assert "died" in told["deadly in a server of its own"].problem
    assert (told["same"].problem, told["same"].measured is not None) == ("", True)
