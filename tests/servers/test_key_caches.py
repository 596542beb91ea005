"""What servers count of a key cache that is off: MySQL each page as a miss, MariaDB nothing at all."""

import pytest

from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.look.fact_set import FactSet
from tests.support.servers import CopiedServer, binaries_of, working

from .conftest import look, schema, with_thresholds

TABLE = "(a INT NOT NULL AUTO_INCREMENT PRIMARY KEY, b INT) ENGINE=MyISAM"
LOOK_UP = "SELECT b FROM t WHERE a IN (17, 231, 345, 401, 777, 830)"
SITE = with_thresholds("key-cache-off", minimum_index_bytes=1024, minimum_reads_per_second=1)


def looked_up(server: PrivateServer) -> FactSet:
    """What is seen of a second in which rows are looked up by their index."""
    with schema(server, "d") as name:
        server.execute(f"CREATE TABLE d.t {TABLE}", f"INSERT INTO d.t (b) VALUES {', '.join(['(1)'] * 1000)}")
        with working(server, name, [LOOK_UP]):
            return look(server, 1.0)


@pytest.mark.parametrize("size", [0, 8192])
@pytest.mark.parametrize("kind", ["mariadb-10.11", "mariadb-11.8", "mysql-5.6", "mysql-9.7"])
def test_a_cache_that_is_off_is_found_though_nothing_is_counted(kind: str, size: int) -> None:
    counts = kind.startswith("mysql")
    with CopiedServer(binaries_of(kind), [f"--key-buffer-size={size}"]) as server:
        facts = looked_up(server)
        cache = facts.single("key_cache")
        assert (cache["size_bytes"], cache["usable_bytes"], cache["blocks_used"], cache["blocks_unused"]) == (size, 0, 0, 0)
        assert [cache[name] is not None for name in ("reads", "read_requests", "writes_per_second")] == [counts] * 3
        found = [one for one in judge(prepared(facts, SITE)).findings if one.rule == "key-cache-off"]
        assert len(found) == (0 if counts else 1)
        # Whichever rule tells it, its command makes a cache of it again.
        server.execute(*(str(command).rstrip(";") for one in found for command in one.commands) if found else ("SET GLOBAL key_buffer_size = 8388608",))
        facts = looked_up(server)
        requests = facts.single("key_cache")["read_requests_per_second"]
        assert isinstance(requests, float)
        assert requests > 0
        assert not [one for one in judge(prepared(facts, SITE)).findings if one.rule == "key-cache-off"]
