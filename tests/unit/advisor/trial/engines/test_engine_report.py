"""The report of a trial of engines, and its document, on what one found (MariaDB 10.11, two cores that others used too)."""

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from myisam_advisor.catalogue.copy_work import CopyWork
from myisam_advisor.trial.engines import report
from myisam_advisor.trial.engines.result import (
    Answers,
    Conversion,
    Crash,
    EngineResult,
    KindSpeed,
    Recorded,
    Refusal,
    Stayed,
)
from myisam_advisor.trial.typed_documents import ResultError, made

KEPT = Crash(7507, 7507, 0, 4, True, "1 client is using or hasn't closed the table properly", False, 0.35, 0.05, 0.0, 0.4)
LOST = Crash(7506, 3740, 3767, 4, True, "OK", False, 0.8, 0.01, 0.0, 0.8)
KINDS = (
    KindSpeed("reads by key", 1.18, 0.9, 1.5, "unclear", 8568.0, 10486.0, "6 rounds, ended by the budget"),
    KindSpeed("inserts of 100 rows", 0.47, 0.4, 0.6, "worse", 61035.0, 30440.0, "8 rounds until it was clear"),
    KindSpeed("COUNT(*) of the table", None, None, None, "unclear"),
)
WORDS = Conversion("shop", "words", "MyISAM", "InnoDB", 50_000, "dynamic", 2, 6_269_028, 4_941_924, 1_327_104, 0.997, 9_437_184, None, ("Data truncated (1265)",), True, KINDS, 12, None, LOST, CopyWork(50_000, 4_941_924, 1_327_104, 4, "counter", 1, 0, 0, 0, 1, 0, 0, None))  # fmt: skip
COUNTED = Conversion("shop", "counted", "MyISAM", "InnoDB", 2000, "dynamic", 1, 74_816, 40_000, 34_816, error=Refusal(1075, "there can be only one auto column"))
RESULT = EngineResult(
    (WORDS, COUNTED), (Stayed("shop", "words", 5, KEPT), Stayed("shop", "counted")), (), {}, {"shop.kept": "shop.kept: it is an InnoDB table."},
    {"shop.counted: crash": "too few rows"}, "MariaDB", "10.11.19-MariaDB",
    {"innodb_flush_log_at_trx_commit": "0", "innodb_log_file_size": "33554432", "key_buffer_size": "67108864", "innodb_buffer_pool_size": "67108864"}, {"log_bin": "ON", "sync_binlog": "1"},
    64 << 20, 0.0034, "2 cores", 1.8e9, (),
)  # fmt: skip


def test_the_document_comes_back_as_it_was() -> None:
    assert made(EngineResult, json.loads(json.dumps(asdict(RESULT)))) == RESULT
    assert json.loads(report.as_json(RESULT))["tables"][1]["error"] == {"code": 1075, "message": "there can be only one auto column"}


@pytest.mark.parametrize(("name", "value"), [("seconds", "long"), ("rows", None), ("error", {"code": "x", "message": ""}), ("kinds", [{}])])
def test_a_document_of_another_form_is_refused(name: str, value: Any) -> None:
    document = json.loads(json.dumps(asdict(RESULT)))
    document["tables"][0][name] = value
    with pytest.raises(ResultError):
        made(EngineResult, document)


def test_the_conclusion_tells_what_fails_what_is_slower_and_what_a_crash_loses() -> None:
    assert report.conclusion(RESULT) == "InnoDB: 1 of 2 tables converted; slower: inserts of 100 rows; killed under inserts it lost 3,767 of 7,506 acknowledged rows (innodb_flush_log_at_trx_commit=0)."
    whole = replace(RESULT, tables=(replace(WORDS, crash=KEPT, checksum_equal=False),))
    assert report.conclusion(whole) == "InnoDB: 1 of 1 table converted; 1 with other rows than before; slower: inserts of 100 rows; killed under inserts it lost none of 7,507 acknowledged rows this time; with innodb_flush_log_at_trx_commit=0 those of the last second may be lost."
    flushed = replace(whole, settings={"innodb_flush_log_at_trx_commit": "1"}, tables=(replace(WORDS, kinds=(), crash=KEPT), replace(WORDS, kinds=(), crash=KEPT)))
    assert report.conclusion(flushed) == "InnoDB: 2 of 2 tables converted; killed 2 times under inserts it lost none of 15,014 acknowledged rows (innodb_flush_log_at_trx_commit=1)."


def test_the_report_names_errors_rates_durability_and_what_was_not_tried() -> None:
    text = report.as_text(RESULT)
    assert max(map(len, text.splitlines())) <= 120
    for said in (
        "The ALTER fails: error 1075: there can be only one auto column", "Converted in 1 s (5.0 MB/s of rows and 1.3 MB/s of indexes)", "6.0 MiB on disk became 9 MiB, 1.51 times",
        "Warning: Data truncated (1265)", "The same rows and values as before.", "waits for locks of rows: 12; deadlocks: unknown", "3,767 of 7,506 acknowledged rows are lost",
        "innodb_flush_log_at_trx_commit=0", "Not tried: shop.kept: it is an InnoDB table.", "Not tried: shop.counted: crash: too few rows.", "6 rounds, ended by the budget", "innodb_log_file_size=32 MiB",
        "sync_binlog=1", "A flush to disk takes 3.40 ms", "slower",
    ):  # fmt: skip
        assert said in " ".join(text.split()), said


def test_rows_without_a_key_are_told_to_be_a_lower_bound() -> None:
    said = report.crash_line(replace(LOST, is_exact=False, repair_seconds=0.2, check="Size of datafile is: 12"))
    assert "(at least: no unique key tells rows apart, and 4 were on their way)" in said
    assert "0.2 s of it REPAIR TABLE" in said


def test_which_check_found_the_damage_is_told_and_the_extended_one_is_no_part_of_the_time_away() -> None:
    found = replace(KEPT, check="Corrupt", is_damaged=True, extended_check_seconds=6.8)
    assert "CHECK TABLE ... EXTENDED says: Corrupt; 0.4 s until it could be used; 7 s more for the extended check of its SPATIAL index." in report.crash_line(found)
    assert "CHECK TABLE says: 1 client" in report.crash_line(replace(KEPT, extended_check_seconds=6.8))
    assert "EXTENDED says" not in report.crash_line(replace(found, extended_check_seconds=0.0))


def test_rows_that_a_statement_leaves_open_are_told_with_what_leaves_them_open() -> None:
    kinds = ("select id from words limit ?", "select id from words order by size limit ?", "select sum(id) from words")
    answers = Answers(5, 1, ("select id from words",), kinds)
    text = " ".join(report.as_text(replace(RESULT, recorded=(Recorded("InnoDB", None, (), None, None, answers),))).split())
    for said in (
        "other order: select id from words (without ORDER BY the order of rows is not defined)",
        "other rows: select id from words limit ? (without ORDER BY it is not defined which rows LIMIT takes: name an order)",
        "other rows: select id from words order by size limit ? (where ORDER BY takes rows for equal, it is not defined which of them LIMIT takes)",
        "OTHER ROWS: select sum(id) from words",
    ):
        assert said in text, said
