"""The layouts of key caches that a trial compares differ in nothing else."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from myisam_advisor.trial.bench import SCHEMA
from myisam_advisor.trial.experiments.key_cache import OWN, SHARED, _layouts
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.servers import SERVERS, binaries_of

from .conftest import schema


@pytest.mark.parametrize("name", SERVERS)
def test_caches_of_their_own_have_the_shared_ones_blocks(name: str) -> None:
    with PrivateServer(binaries_of(name), ["--key-cache-block-size=4096"]) as server, schema(server, SCHEMA):
        for table in ("a", "b"):
            server.execute(f"CREATE TABLE {SCHEMA}.{table} (n INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")
        bench: Any = SimpleNamespace(server=server, is_mariadb=name.startswith("mariadb"), skipped={})
        layouts = _layouts(cast(Any, bench), ["a", "b"])
        layouts[OWN]()
        sizes = server.execute("SELECT @@GLOBAL.trial_1.key_cache_block_size, @@GLOBAL.trial_2.key_cache_block_size, @@GLOBAL.trial_1.key_buffer_size > 0")
        assert sizes == [(4096, 4096, 1)]
        layouts[SHARED]()
        assert server.execute("SELECT @@GLOBAL.trial_1.key_buffer_size") == [(0,)]
