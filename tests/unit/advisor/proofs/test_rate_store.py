"""Measurements are kept and found again; what somebody else put into the directory is none."""

import json
import stat
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from myisam_advisor.catalogue.conversions import NO_RATES, Conversion
from myisam_advisor.catalogue.copy_work import ARIA, SORTED
from myisam_advisor.proofs.rate_store import (
    FORMAT,
    VERSION,
    RateStore,
    conversion_of,
    id_of,
    own_rate_store,
    rate_stores,
    rates_of_all,
    table_key,
)
from myisam_exporter.errors import UserError
from tests.unit.advisor.catalogue.test_copy_work import WORK

ONE = Conversion("MariaDB", "10.11.19", "InnoDB", SORTED, 2.5, WORK, 4e7, 1_795_000_000.0, table_key("k", "shop", "orders"))


@pytest.fixture
def store(tmp_path: Path) -> RateStore:
    return RateStore(tmp_path / "state" / "rates")


def written(store: RateStore, name: str, **changed: object) -> None:
    document = {"format": FORMAT, "version": VERSION, **asdict(ONE), **changed}
    (store.directory / name).write_text(json.dumps(document), "utf-8")


def test_what_is_kept_is_found_again_and_the_same_table_takes_its_place(store: RateStore) -> None:
    assert store.current() == NO_RATES
    path = store.keep(ONE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    store.keep(replace(ONE, engine="Aria", way=ARIA))
    again = replace(ONE, seconds=2.0)
    store.keep(again)
    assert set(store.current().conversions) == {again, replace(ONE, engine="Aria", way=ARIA)}


def test_words_in_parts_are_kept_and_a_measurement_of_before_has_none(store: RateStore) -> None:
    words = replace(ONE, work=replace(WORK, word_bytes=10_000_000, part_words=800_000))
    store.keep(words)
    assert store.current().conversions == (words,)
    before = {name: value for name, value in asdict(WORK).items() if name != "part_words"}
    written(store, f"{id_of(ONE)}.json", work=before)
    assert RateStore(store.directory).current().conversions == (ONE,)


@pytest.mark.parametrize(("texts", "kept"), [({}, True), ({"plain_texts": 1}, False), ({"unique_texts": 1}, False), ({"clustered": "texts"}, False)])
def test_a_measurement_of_before_is_kept_where_it_has_no_texts_in_indexes(store: RateStore, texts: dict[str, object], *, kept: bool) -> None:
    store.keep(ONE)
    before = {name: value for name, value in {**asdict(WORK), **texts}.items() if name not in {"text_bytes", "first_text_bytes"}}
    written(store, f"{id_of(ONE)}.json", work=before)
    assert RateStore(store.directory).current().conversions == ((ONE,) if kept else ())


def test_no_name_of_a_table_is_kept(store: RateStore) -> None:
    assert "orders" not in store.keep(ONE).read_text("utf-8")
    assert table_key("k", "shop", "orders") != table_key("k", "shop", "customers")


@pytest.mark.parametrize(
    "changed",
    [
        {"seconds": 0}, {"seconds": "2"}, {"seconds": -1}, {"bytes_after": 1e300}, {"bytes_after": 0}, {"bytes_after": 1e14}, {"engine": 3}, {"engine": "x" * 101},
        {"engine": "In\nnoDB"}, {"format": "other"}, {"version": 1}, {"more": 1}, {"taken_at": True}, {"way": "another"}, {"work": 3}, {"work": {}},
        {"work": {**asdict(WORK), "more": 1}}, {"work": {**asdict(WORK), "rows": 1.5}}, {"work": {**asdict(WORK), "rows": -1}}, {"work": {**asdict(WORK), "rows": 1e300}},
        {"work": {**asdict(WORK), "clustered": "x"}}, {"work": {**asdict(WORK), "part_words": -1}}, {"work": {**asdict(WORK), "part_words": "7"}}, {"work": {"part_words": None}}, {"seconds": 1e15}, {"seconds": 1e-9}, {"way": "Aria"}, {"engine": "Aria"}, {"work": {**asdict(WORK), "data_bytes": 0, "index_bytes": 0}},
    ],
)  # fmt: skip
def test_what_is_no_measurement_is_left_out(store: RateStore, changed: dict[str, object]) -> None:
    store.keep(ONE)
    for number in range(3):
        written(store, f"{number:016x}.json", **changed)
    written(store, f"{id_of(ONE)}.json", **changed)
    (store.directory / f"{9:016x}.json").write_bytes(b"\xff{")
    (store.directory / f"{8:016x}.json").symlink_to("/etc/passwd")
    (store.directory / f"{7:016x}.json").write_text(" " * 5000, "utf-8")
    assert store.current().conversions == ()


def test_a_name_that_is_not_that_of_what_it_holds_is_left_out(store: RateStore) -> None:
    store.keep(ONE)
    written(store, f"{1:016x}.json")
    assert store.current().conversions == (ONE,)


def test_what_would_not_be_read_back_is_refused(store: RateStore) -> None:
    with pytest.raises(UserError, match="cannot be kept: nothing was copied"):
        store.keep(replace(ONE, seconds=0.0))
    assert conversion_of(store.keep(ONE).read_text("utf-8")) == ONE


def test_a_directory_that_is_full_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("myisam_advisor.proofs.rate_store.MAXIMUM_RATES", 1)
    store = RateStore(tmp_path)
    store.keep(ONE)
    store.keep(replace(ONE, seconds=3.0))
    with pytest.raises(UserError, match="holds 1 measurements"):
        store.keep(replace(ONE, engine="Aria", way=ARIA))


def test_of_two_directories_the_newer_measurement_counts(tmp_path: Path, store: RateStore, monkeypatch: pytest.MonkeyPatch) -> None:
    other, newer = RateStore(tmp_path / "other"), replace(ONE, taken_at=ONE.taken_at + 1, seconds=1.0)
    store.keep(newer)
    other.keep(ONE)
    assert rates_of_all([store, other]).conversions == rates_of_all([other, store]).conversions == (newer,)
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    assert own_rate_store().directory == tmp_path / "rates" == rate_stores()[0].directory
