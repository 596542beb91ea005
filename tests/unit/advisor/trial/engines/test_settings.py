"""Which settings the private servers of a trial of engines have."""

from pathlib import Path

import pytest

from myisam_advisor.trial.engines.engine_trial import disk_bytes
from myisam_advisor.trial.engines.settings import (
    MYISAM,
    cache_bytes,
    cache_options,
    chosen_engines,
    engine_settings,
    may_sort_copies,
    not_here,
    told_settings,
)
from myisam_advisor.trial.private.binaries import ServerBinaries

MIB = 1 << 20
WATCHED = {
    "innodb_flush_log_at_trx_commit": "2", "innodb_redo_log_capacity": "8388608", "key_buffer_size": str(512 * MIB), "innodb_buffer_pool_size": str(200 * MIB),
    "sql_mode": "", "ft_min_word_len": "3", "log_bin": "ON", "sync_binlog": "1",
}  # fmt: skip


def test_durability_is_the_watched_servers() -> None:
    words = engine_settings(WATCHED, is_same_release=True)
    assert "--loose-innodb-flush-log-at-trx-commit=2" in words
    assert "--loose-ft-min-word-len=3" in words
    assert "--sql-mode=" in words
    assert not any("key-buffer" in word or "buffer-pool" in word for word in words)


def test_another_release_is_given_only_what_each_takes() -> None:
    words = engine_settings(WATCHED, is_same_release=False)
    assert words == ["--loose-innodb-flush-log-at-trx-commit=2", "--loose-ft-min-word-len=3", f"--loose-innodb-redo-log-capacity={32 * MIB}"]
    assert "--ft-stopword-file=" in engine_settings({**WATCHED, "ft_stopword_file": ""}, is_same_release=False)
    assert "--ft-stopword-file=/data/stop.txt" in engine_settings({**WATCHED, "ft_stopword_file": "stop.txt", "datadir": "/data/"}, is_same_release=False)


def test_a_small_log_would_hold_the_other_engine_up() -> None:
    assert f"--loose-innodb-redo-log-capacity={32 * MIB}" in engine_settings(WATCHED, is_same_release=True)
    huge = engine_settings({"innodb_log_file_size": str(4096 * MIB)}, is_same_release=True)
    assert huge == [f"--loose-innodb-log-file-size={256 * MIB}"]


def test_each_engine_has_the_same_memory_and_no_more_than_there_is() -> None:
    assert cache_bytes(WATCHED, None, 2) == 512 * MIB
    assert cache_bytes(WATCHED, 1600 * MIB, 2) == 128 * MIB  # a quarter, for two, in InnoDB's chunks
    assert cache_bytes({}, 64 * MIB, 3) == 64 * MIB
    assert cache_options(MYISAM, 100) == [
        "--loose-key-buffer-size=100", f"--loose-innodb-buffer-pool-size={8 * MIB}", f"--loose-aria-pagecache-buffer-size={8 * MIB}",
    ]  # fmt: skip


def test_engines_are_those_that_were_asked_for() -> None:
    assert chosen_engines([], is_mariadb=True) == ["InnoDB", "Aria"]
    assert chosen_engines([], is_mariadb=False) == ["InnoDB"]
    assert chosen_engines(["aria", "aria"], is_mariadb=False) == ["Aria"]


def test_what_private_servers_have_and_have_not_is_told() -> None:
    assert not_here(WATCHED) == {"log_bin": "ON", "sync_binlog": "1"}
    told = told_settings({MYISAM: {"key_buffer_size": "1", "innodb_doublewrite": "ON", "port": "0"}, "InnoDB": {"innodb_buffer_pool_size": "2"}})
    assert told == {"innodb_doublewrite": "ON", "key_buffer_size": "1", "innodb_buffer_pool_size": "2"}


def test_the_files_that_sort_the_largest_copy_have_their_room() -> None:
    without = disk_bytes([100 * MIB, 10 * MIB], 1, is_sorted=False)
    # Up to 1.8 times what the largest becomes, and of the next none before those are gone.
    assert disk_bytes([100 * MIB, 10 * MIB], 1, is_sorted=True) == without + 540 * MIB
    assert disk_bytes([1000], 1, is_sorted=True) == disk_bytes([1000], 1, is_sorted=False)
    assert disk_bytes([], 2, is_sorted=True) == 600 * MIB


@pytest.mark.parametrize(
    ("name", "bulk", "sorts"),
    [("mariadb-10.11", "ON", True), ("mariadb-11.8", None, True), ("mariadb-11.4", "OFF", False), ("mariadb-11.4", "0", False), ("mariadb-10.5", None, False), ("mysql-9.7", None, False)],
)
def test_which_servers_may_sort_a_copy(name: str, bulk: str | None, sorts: bool) -> None:
    binaries = ServerBinaries(name, name.partition("-")[0], Path("/m"), Path("/m"), Path("/m"))
    words = engine_settings({"innodb_alter_copy_bulk": bulk} if bulk else {}, is_same_release=True)
    assert may_sort_copies(binaries, words) is sorts
