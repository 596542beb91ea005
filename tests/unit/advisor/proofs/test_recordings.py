"""Of which recordings a replay is a proof for this server."""

import pytest

from myisam_advisor.proofs.recordings import UNKNOWN_RECORDING, Recording
from tests.support.proofs import DAY, NOW

HERE = ("MariaDB", "10.11.11-MariaDB-log", NOW)


@pytest.mark.parametrize(("days", "says"), [(0, ""), (89.9, ""), (90.9, "the recording is 91 days old"), (800, "800 days old"), (-0.9, ""), (-2, "of the future")])
def test_one_of_the_last_ninety_days(days: float, says: str) -> None:
    told = Recording(NOW - days * DAY).why_no_proof(*HERE)
    assert says in told
    assert bool(told) is bool(says)
    assert not told or told.endswith("record this server anew (myisam-advisor record).")


@pytest.mark.parametrize(
    ("flavour", "version", "product", "says"),
    [
        ("mariadb", "10.11.2-MariaDB", "MariaDB", ""), ("mariadb", "10.6.2-MariaDB", "MariaDB", "of version 10.6, and this server is 10.11"),
        ("mysql", "10.11.2", "MariaDB", "of MySQL, and this server is MariaDB"), ("percona", "10.11.2", "MariaDB", "of Percona Server, and this server is MariaDB"),
        ("percona", "10.11.2", "MySQL", ""), ("mysql", "10.11.2", "Percona Server", ""), ("mariadb", "10.11.2", "MySQL", "of MariaDB, and this server is MySQL"),
        ("", "", "MariaDB", ""), ("mysqlx", "nonsense", "MariaDB", ""), ("mariadb", "", "MariaDB", ""),
    ],
)  # fmt: skip
def test_one_of_this_product_and_series(flavour: str, version: str, product: str, says: str) -> None:
    told = Recording(None, flavour, version).why_no_proof(product, *HERE[1:])
    assert says in told
    assert bool(told) is bool(says)


def test_one_of_all_statements() -> None:
    told = Recording(NOW, sampled="one in 10 (log_slow_rate_limit)").why_no_proof(*HERE)
    assert told.startswith("the recording has a part of the statements: one in 10 (log_slow_rate_limit). Record all of them")


def test_what_is_not_known_speaks_against_nothing() -> None:
    assert UNKNOWN_RECORDING.why_no_proof(*HERE) == ""
    assert UNKNOWN_RECORDING.measures(["SET GLOBAL concurrent_insert = 2;"])


@pytest.mark.parametrize(
    ("change", "measured"),
    [
        ("SET GLOBAL concurrent_insert = 2", False), ("concurrent-insert=ALWAYS", False), ("key_cache_segments = 8", False), ("hot.key_cache_segments=8", False),
        ("SET GLOBAL key_buffer_size = 8388608", True), ("ALTER TABLE `log`.`hits` PACK_KEYS=0", True),
    ],
)  # fmt: skip
def test_whole_seconds_show_nothing_of_writes_at_the_same_time(change: str, measured: bool) -> None:
    assert Recording(NOW, knows_moments=False).measures(["FLUSH TABLES;", change]) is measured
    assert Recording(NOW, knows_moments=True).measures([change])
