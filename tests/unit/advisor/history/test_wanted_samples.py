"""A few facts of samples: the same that are in the whole samples, without taking these apart."""

import json
import zlib
from pathlib import Path

import pytest

from myisam_advisor.history import format as history_format
from myisam_advisor.history.file import open_to_write
from myisam_advisor.history.format import SAMPLE, TARGET, target_id
from myisam_advisor.history.reader import samples_of_target
from myisam_advisor.history.wanted_samples import wanted_samples

LABEL = "db"
FACT = "tables.rows[s.t]"
NAMES = [FACT, "tables.rows[s.tt]", 'tables.rows[s.a"b]', "tables.rows[s.\\]", "tables.rows[s.ü\n]", "mysqld.threads"]
# Tables whose names look like the text around a fact, and would be the wanted one to whoever reads carelessly.
ALIKE = [f'","{FACT}":1,"', f'x"{FACT}', f"x{FACT}", f'\\"{FACT}', f"{FACT}]"]


def history(path: Path, *packed: bytes) -> Path:
    records = open_to_write(path)
    with records.database:
        records.put(TARGET, [(target_id(LABEL), LABEL)])
        records.put(SAMPLE, [(target_id(LABEL), 1000.0 + place, 1.0, one) for place, one in enumerate(packed)])
    records.database.close()
    return path


def packed(sample: object) -> bytes:
    return zlib.compress(json.dumps(sample, separators=(",", ":")).encode())


def test_they_are_what_the_whole_samples_have(tmp_path: Path) -> None:
    values = [0, 7, -3, 1.5, -2.5e-07, 1e22, 123456789012345678, None]
    samples = [{**dict.fromkeys(ALIKE, 99), **{name: values[(place + turn) % len(values)] for place, name in enumerate(NAMES)}} for turn in range(len(values))]
    backwards = [dict(reversed(list(one.items()))) for one in samples]
    only_alike, nothing = dict.fromkeys(ALIKE, 99), dict[str, int]()
    path = history(tmp_path / "h", *map(packed, [*samples, *backwards, only_alike, nothing]))
    whole = samples_of_target(path, LABEL, 1001, 2000, set(NAMES).__contains__)
    assert len(whole) == 2 * len(values) + 1
    assert [(moment, dict(sample)) for moment, sample in wanted_samples(path, LABEL, 1001, 2000, NAMES)] == [(moment, dict(sample)) for moment, _, sample in whole]
    assert wanted_samples(path, LABEL, 1001, 1001, [FACT, "no.such"]) == [(1001.0, {FACT: 7})]
    assert wanted_samples(path, "another", 0, 2000, NAMES) == []


def test_no_sample_is_taken_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = history(tmp_path / "h", packed({FACT: 1}))
    monkeypatch.setattr(history_format, "parse_json", None)
    assert wanted_samples(path, LABEL, 0, 2000, [FACT]) == [(1000.0, {FACT: 1})]


def test_what_is_damaged_is_skipped_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("myisam_advisor.history.wanted_samples.MAXIMUM_SAMPLE_BYTES", 2000)
    cut, large = packed({FACT: 1})[:-1], packed({FACT: 1, "x" * 3000: 1})
    path = history(tmp_path / "h", b"no zlib", cut, large, packed([5]), zlib.compress(b""), packed({FACT: 2}))
    assert wanted_samples(path, LABEL, 0, 2000, [FACT]) == [(1005.0, {FACT: 2})]
    assert "5 damaged entries" in caplog.text


@pytest.mark.parametrize("value", ["text", [1], {"a": 1}, True, 10**120, 1e305])
def test_what_is_no_number_of_ours_is_left_out(tmp_path: Path, value: object) -> None:
    path = history(tmp_path / "h", packed({FACT: value, "mysqld.threads": 3}))
    assert wanted_samples(path, LABEL, 0, 2000, [FACT, "mysqld.threads"]) == [(1000.0, {"mysqld.threads": 3})]
