"""What of a trial of engines is kept for predictions."""

from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.cli.kept_rates import conversions_of, keep_rates
from myisam_advisor.proofs.rate_store import MAXIMUM_RATES, RateStore, table_key
from tests.unit.advisor.trial.engines.test_engine_report import RESULT


@pytest.fixture
def store(tmp_path: Path) -> RateStore:
    return RateStore(tmp_path / "state" / "rates")


def test_what_was_converted_is_kept_and_tells_a_rate(store: RateStore) -> None:
    assert "1 time is kept" in keep_rates(RESULT, "key", store)
    (kept,) = store.current().conversions
    assert (kept.engine, kept.seconds, kept.table) == ("InnoDB", 0.997, table_key("key", "shop", "words"))
    rate = store.current().rate_for("MariaDB", "10.11.19", "InnoDB", RESULT.taken_at + 1)
    assert rate is not None
    low, high = rate.seconds(kept.work, kept.way)
    assert low < 0.997 < high


def test_what_failed_or_was_over_at_once_is_no_measurement(store: RateStore) -> None:
    failed = replace(RESULT, tables=(RESULT.tables[1], replace(RESULT.tables[0], seconds=0.01), replace(RESULT.tables[0], bytes_after=None)))
    assert list(conversions_of(failed, "key")) == []
    assert keep_rates(failed, "key", store) == ""
    assert not store.directory.exists()


def test_what_cannot_be_kept_is_said(store: RateStore) -> None:
    keep_rates(RESULT, "key", store)
    for number in range(MAXIMUM_RATES):
        (store.directory / f"{number:016x}.json").write_text("{}")
    assert keep_rates(RESULT, "another server", store).startswith("Not kept: ")
