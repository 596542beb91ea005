"""What `trial engine` measured of a table is what `migrate` tells of it, and what the server's own ALTER then comes to."""

import json
import os
import subprocess
from pathlib import Path

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.program import PROGRAM, run

from .conftest import schema
from .trials import TRIAL_SECONDS, make_table, temporary

__all__ = ["temporary"]  # a fixture that tests of a trial share
QUICKLY = ("--seconds", "0.02", "--rounds", "1")
OF_COPY, OF_OTHERS = "measured on a copy of the table on", "measured here on"


def test_a_table_that_was_tried_is_told_by_its_own_copy(flavour: PrivateServer, temporary: Path, tmp_path: Path) -> None:
    state = {"STATE_DIRECTORY": str(tmp_path / "state")}
    on = ("--socket", str(flavour.socket), "--user", "root")
    with schema(flavour, "shop"):
        tried = make_table(flavour, "shop", "orders", 8)
        make_table(flavour, "shop", "others", 8)
        flavour.execute("FLUSH TABLES")
        kept = _tried(temporary, state, *on, "--table", "shop.orders", "--to", "innodb", *QUICKLY)
        told = json.loads(run("migrate", *on, "--format", "json", "shop", environment=state).stdout)["tables"]
        (orders,) = (one for one in told if one["table_name"] == "orders")
        of_orders, of_others = (" ".join(run("migrate", *on, name, environment=state).stdout.split()) for name in ("shop.orders", "shop.others"))
        flavour.execute(f"ALTER TABLE {tried} ENGINE=InnoDB", "FLUSH TABLES")
        size = (flavour.data_directory / "shop" / "orders.ibd").stat().st_size
    assert "1 time is kept" in kept
    assert OF_COPY in of_orders
    assert OF_OTHERS in of_others
    assert OF_COPY not in of_others
    low, high = orders["bytes_after"]
    assert low <= size <= high < 1.12 * low
    assert orders["seconds"][1] < 2 * orders["seconds"][0]


def _tried(temporary: Path, state: dict[str, str], *words: object) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "TMPDIR": str(temporary), **state}
    done = subprocess.run([str(PROGRAM), "trial", "engine", *map(str, words)], capture_output=True, text=True, env=environment, timeout=TRIAL_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
