"""What servers count of a key cache that is off (MySQL each page as a miss, MariaDB nothing), and when the counters of one begin anew."""

from dataclasses import replace

import pytest

from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.key_caches import holds_segments
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactRows, FactSet
from tests.support.servers import CopiedServer, binaries_of, status_number, working

from .conftest import look, on_every_server, schema, with_thresholds

TABLE = "(a INT NOT NULL AUTO_INCREMENT PRIMARY KEY, b INT) ENGINE=MyISAM"
LOOK_UP = "SELECT b FROM t WHERE a IN (17, 231, 345, 401, 777, 830)"
# As from afar: whoever may see no table, and a server that has run for a day.
USED = with_thresholds("no-myisam", minimum_uptime_seconds=0)
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
        for one in found:
            server.execute(*(str(command).rstrip(";") for command in one.undo_commands))
            assert status_number(server, "Key_blocks_unused") == 0


@on_every_server
def test_a_size_that_is_set_begins_all_counters_anew_a_flush_of_the_status_not_the_blocks_used(server: PrivateServer) -> None:
    before = looked_up(server).single("key_cache")
    # From MariaDB 11.5 on FLUSH STATUS is about the own session.
    server.execute("FLUSH GLOBAL STATUS" if server.binaries.name == "mariadb-11.8" else "FLUSH STATUS")
    flushed = look(server).single("key_cache")
    assert flushed["blocks_used"] == before["blocks_used"] != 0
    assert int(str(flushed["read_requests"])) < int(str(before["read_requests"]))
    size = int(str(before["size_bytes"]))
    looked_up(server)
    try:
        server.execute(f"SET GLOBAL key_buffer_size = {size // 2}")
        resized = look(server).single("key_cache")
        assert int(str(resized["blocks_used"])) < int(str(before["blocks_used"]))
        assert int(str(resized["read_requests"])) < int(str(before["read_requests"]))
    finally:
        server.execute(f"SET GLOBAL key_buffer_size = {size}")


def test_a_cache_that_was_used_is_not_lost_by_a_flush_of_the_status() -> None:
    site = with_thresholds("key-cache-layout-lost", minimum_uptime_seconds=0, minimum_requests=100)

    def lost() -> list[str]:
        return [one.message for one in judge(prepared(looked_up(server), site)).findings if one.rule == "key-cache-layout-lost"]

    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=16M"]) as server:
        server.execute("CREATE DATABASE own", f"CREATE TABLE own.t {TABLE}", f"INSERT INTO own.t (b) VALUES {', '.join(['(1)'] * 100)}", "SET GLOBAL hot.key_buffer_size = 8388608")
        assert len(lost()) == 1
        server.execute("CACHE INDEX own.t IN hot", "SELECT b FROM own.t WHERE a = 1", "FLUSH STATUS")
        assert lost() == []


def test_blocks_that_wait_are_no_number_after_a_flush_of_the_status() -> None:
    """Each that is written counts down from the 0 that FLUSH STATUS set: 25 blocks that waited were 18446744073709551591."""
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=16M", "--myisam-recover-options=OFF"]) as server, schema(server, "d"):
        server.execute(f"CREATE TABLE d.t {TABLE} DELAY_KEY_WRITE=1", *["INSERT INTO d.t (b) VALUES (1)"] * 9)
        assert look(server).single("key_cache")["blocks_dirty"] == status_number(server, "Key_blocks_not_flushed") != 0
        server.execute("FLUSH STATUS", "FLUSH TABLES d.t", "ALTER TABLE d.t DELAY_KEY_WRITE=0, FORCE")
        facts = look(server)
        assert facts.single("key_cache")["blocks_dirty"] is None
        judgement = judge(prepared(facts, SITE))
        assert ("status.Key_blocks_not_flushed",) in [one.facts for one in judgement.suspicious]
        assert not [one for one in judgement.not_evaluated if "blocks wait" in one.needs]


@pytest.mark.parametrize("kind", ["mariadb-10.11", "mariadb-11.8", "mysql-5.6", "mysql-9.7"])
def test_blocks_larger_than_pages_are_read_more_often_than_asked_for_and_that_is_believed(kind: str) -> None:
    with CopiedServer(binaries_of(kind), ["--key-buffer-size=16M", "--key-cache-block-size=4096"]) as server, schema(server, "d"):
        rows = ", ".join(f"({number % 97})" for number in range(9000))
        server.execute("CREATE TABLE d.t (a INT NOT NULL AUTO_INCREMENT PRIMARY KEY, b INT, KEY (b)) ENGINE=MyISAM", f"INSERT INTO d.t (b) VALUES {rows}")
        server.execute("SET GLOBAL key_buffer_size = 8388608", "LOAD INDEX INTO CACHE d.t")
        facts = look(server)
        cache = facts.single("key_cache")
        assert int(str(cache["reads"])) > 1.05 * int(str(cache["read_requests"])) + 1
        assert list(judge(prepared(facts, SITE)).suspicious) == []


@pytest.mark.parametrize("size", [0, 8192])
def test_where_tables_are_not_seen_a_cache_that_is_off_is_no_sign_that_nobody_uses_them(size: int) -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), [f"--key-buffer-size={size}"]) as server:
        seen = looked_up(server)
    hidden = {name: FactRows(seen.tables[name].columns, []) for name in ("tables", "indexes", "totals", "processlist")}
    unknown = {**seen.unknown, **dict.fromkeys(("tables", "indexes", "totals"), Unknown("out of sight"))}
    judgement = judge(prepared(replace(seen, tables={**seen.tables, **hidden}, unknown=unknown), USED))
    assert not [one for one in judgement.findings if one.rule == "no-myisam"]
    assert "key-cache-off" in {one.rule for one in judgement.not_evaluated}


@pytest.mark.parametrize("kind", ["mariadb-10.11", "mysql-5.6", "mysql-9.7"])
def test_pages_of_three_kilobytes_fit_no_blocks_of_their_own_size(kind: str) -> None:
    """key-cache-block-size: each of them lies across two such blocks, and across two of 4 KiB every other time."""
    asked: dict[int, int] = {}
    with CopiedServer(binaries_of(kind), ["--key-buffer-size=64M"]) as server, schema(server, "d"):
        rows = ", ".join(f"(RPAD({number * 7919 % 2003}, 600, 'x'))" for number in range(2003))
        server.execute("CREATE TABLE d.t (k VARCHAR(600) CHARACTER SET latin1 NOT NULL, KEY (k)) ENGINE=MyISAM PACK_KEYS=0", f"INSERT INTO d.t VALUES {rows}")
        for size in (1024, 3072, 4096):
            server.execute(f"SET GLOBAL key_cache_block_size = {size}")
            before = status_number(server, "Key_read_requests")
            server.execute(*(f"SELECT COUNT(*) FROM t WHERE k = RPAD({number}, 600, 'x')" for number in range(0, 2000, 20)), database="d")
            asked[size] = status_number(server, "Key_read_requests") - before
    assert asked[3072] / asked[1024] == pytest.approx(2 / 3, rel=0.02)
    assert asked[4096] / asked[1024] == pytest.approx(1 / 2, rel=0.05)


@pytest.mark.parametrize(("size", "segments"), [(303104, 30), (643072, 64)])
@pytest.mark.parametrize("kind", ["mariadb-10.11", "mariadb-11.8"])
def test_a_cache_too_small_for_its_segments_has_fewer(kind: str, size: int, segments: int) -> None:
    """Another size makes all of them anew then, under whoever uses them: that is not done online (decision 001)."""
    with CopiedServer(binaries_of(kind), [f"--key-buffer-size={size}", "--key-cache-segments=64"]) as server:
        facts = look(server)
    assert (facts.single("key_cache")["segments"], facts.tables["variable"].by_name("value")["key_cache_segments"]) == (segments, 64)
    assert [holds_segments(number, size, 1024) for number in (segments, 64)] == [True, segments == 64]


@pytest.mark.parametrize("kind", ["mariadb-10.11", "mariadb-11.8"])
def test_a_cache_is_as_large_as_what_was_set(kind: str) -> None:
    """KEY_CACHES has the segments' sum, which is less where they share no whole number of bytes: the way back set 4 KiB less than there was."""
    with CopiedServer(binaries_of(kind), ["--key-buffer-size=16M", "--key-cache-segments=10"]) as server:
        assert look(server).single("key_cache")["size_bytes"] == 16 << 20
        server.execute("SET GLOBAL key_buffer_size = 16777210")
        assert server.execute("SELECT @@GLOBAL.key_buffer_size") == [((16 << 20) - 4096,)]
