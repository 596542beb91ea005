"""Each adviser that script/bench advice compares, where its program was fetched, beside a real server."""

import importlib
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.advice.model import Adviser, WatchedServer
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.servers.conftest import on_one_server, schema

FOLDER = Path(importlib.import_module("benchmarks.advice.advisers").__path__[0])
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
# What each says of a server that was just started, without a binary log.
SAYS = {
    "myisam-advisor": "",
    "mysqltuner": "within the last 24 hours",
    "mysqltuner-newest": "within the last 24 hours",
    "phpmyadmin": "Uptime is less than 1 day",
    "pt-variable-advisor": "Auto-extending InnoDB files",
}


@on_one_server
@pytest.mark.parametrize("name", NAMES)
def test_an_adviser_is_asked(server: PrivateServer, name: str) -> None:
    one: Adviser = importlib.import_module(f"benchmarks.advice.advisers.{name}").ADVISER
    why = one.why_not()
    if why:
        pytest.skip(why)
    if one.name == "myisam-advisor":
        one = replace(one, interval_seconds=0.5)  # type: ignore[type-var]
    with schema(server, "asked"):
        server.execute("CREATE TABLE asked.t (id INT PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO asked.t VALUES (1)")
        watched = WatchedServer(server.socket, server.binaries.name, server.data_directory, "root", None, 0.0)
        said = one.advice(watched)
    assert said.adviser == one.name
    assert said.version[0].isdigit()
    assert any(SAYS[one.name] in sentence for sentence in [*said.named, *(change.said for change in said.changes), ""])
    assert all((change.variable is None) != (change.statement is None) for change in said.changes)
    assert all(change.value is not None for change in said.changes if change.variable)
