"""What is told of one table: the model, its drawing, and which table a user means."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.tables import CheckTable
from myisam_advisor.reports.one_table import CURVES, OneTable, curve_names, one_table, table_names
from myisam_advisor.reports.one_table_text import one_table_as_json, one_table_as_text
from tests.support.program import run

MIB, GIB = 1 << 20, 1 << 30
ORDERS: dict[str, object] = {
    "schema_name": "shop", "table_name": "orders", "row_format": "dynamic", "rows": 1_234_567, "data_bytes": 3 * GIB, "index_bytes": 100 * MIB,
    "free_bytes": 0, "max_data_bytes": (1 << 48) - 1, "fixed_row_bytes": 40, "data_resident_bytes": GIB, "rows_read_per_second": 1234.5, "crashed": 0,
}  # fmt: skip
ODD = {"schema_name": "a/b", "table_name": "x.y😀`\x1b[31m", "row_format": "fixed", "rows": 3, "data_bytes": 30, "index_bytes": 1024, "crashed": 1}
PACKED = {
    "schema_name": "shop", "table_name": "orders", "index_number": 1, "algorithm": "btree", "is_unique": 1, "is_packed": 1, "binary_search": 0,
    "binary_search_without_packing": 1, "page_bytes": 1024, "maximum_key_bytes": 40, "key_parts": 1, "key_description": "CHAR(32 bytes) NOT NULL", "is_enabled": 0,
}  # fmt: skip
DOCUMENT = {
    "schema": 1, "interval_seconds": 10, "server": {"flavour": "mariadb", "version": "10.11.6", "local": 1},
    "tables": [ORDERS, ODD, {"schema_name": "a", "table_name": "b.c"}, {"schema_name": "a.b", "table_name": "c"}], "indexes": [PACKED],
}  # fmt: skip


def told(name: tuple[str, str] = ("shop", "orders"), **changed: object) -> OneTable:
    document = {**DOCUMENT, "tables": [{**ORDERS, **changed}, *DOCUMENT["tables"][1:]]}  # type: ignore[index]
    ready = prepared(facts_from_document(document), Site(shipped_rules()))
    found = one_table(ready.judged, judge(ready), name)
    assert found is not None
    return found


def value(table: OneTable, fact: str) -> str | None:
    return next((one.value for section in table.sections for one in section.values if one.fact == fact), None)


def test_values_have_their_units_and_parts_their_whole() -> None:
    table = told()
    assert table.summary == "dynamic rows · 1,234,567 rows · 3 GiB data · 100 MiB indexes · 1 index"
    assert value(table, "data_resident_bytes") == "1 GiB of 3 GiB (33 %)"
    assert value(table, "free_bytes") == "none"
    assert value(table, "max_data_bytes") == "256 TiB, less than 0.1 % used"
    assert value(table, "rows_read_per_second") == "1,230/s"
    assert value(table, "crashed") is None
    assert value(told(crashed=1), "crashed") == "yes"
    assert value(told(data_resident_bytes=3 * GIB + 4096), "data_resident_bytes") == "all of 3 GiB"


def test_what_is_unknown_is_named_with_its_reason_and_never_shown_as_a_number() -> None:
    table = told()
    assert value(table, "write_statements_per_second") is None
    (missing,) = [one for one in table.missing if "Write statements" in one.labels]
    assert missing.why == "not in the facts file"
    of_others = told(("a", "b.c"))
    assert value(of_others, "rows") is None
    assert ["known of other tables" in one.why for one in of_others.missing if "Rows" in one.labels] == [True]
    assert of_others.indexes_unknown  # this one's index file is not known
    assert told(("a/b", str(ODD["table_name"]))).indexes_unknown == ""  # this one's holds a header and no index


def test_an_index_is_told_as_the_engine_uses_it() -> None:
    (index,) = told().indexes
    assert (index.kind, index.keys, index.page, index.enabled) == ("unique btree", "packed", "1 KiB", False)
    assert index.search == "from the start, by binary search with PACK_KEYS=0"


@pytest.mark.parametrize(
    ("changed", "experiments", "why"),
    [
        ({}, ["pack-keys", "row-format", "read-buffer", "mmap"], ""),
        ({"row_format": "fixed", "fixed_row_bytes": None}, ["pack-keys", "read-buffer"], ""),
        ({"crashed": 1}, [], "crashed"),
        ({"row_format": "compressed"}, [], "compressed"),
        ({"partitions": 4}, [], "partitioned"),
    ],
)
def test_only_what_can_be_tried_is_offered(changed: dict[str, object], experiments: list[str], why: str) -> None:
    table = told(("shop", "orders"), **changed)
    assert [trial.command.split()[2] for trial in table.trials] == experiments
    assert why in table.untried
    assert all(trial.command.endswith("--table shop.orders --copy-limit 4G") for trial in table.trials)


def told_of(server: dict[str, object], **changed: object) -> OneTable:
    document = {**DOCUMENT, "server": server, "tables": [{**ORDERS, **changed}]}
    ready = prepared(facts_from_document(document), Site(shipped_rules()))
    found = one_table(ready.judged, judge(ready), ("shop", "orders"))
    assert found is not None
    return found


@pytest.mark.parametrize("flavour", ["mysql", "percona"])
def test_what_has_no_effect_on_this_version_is_not_offered(flavour: str) -> None:
    newest: dict[str, object] = {"flavour": flavour, "version": "8.0.33", "local": 1}
    assert [trial.command.split()[2] for trial in told_of(newest).trials] == ["pack-keys", "row-format"]
    assert [trial.command.split()[2] for trial in told_of({**newest, "version": "5.6.24"}).trials] == ["pack-keys", "row-format", "read-buffer", "mmap"]
    document = {**DOCUMENT, "server": newest, "tables": [{**ORDERS, "row_format": "fixed", "fixed_row_bytes": None}], "indexes": []}
    ready = prepared(facts_from_document(document), Site(shipped_rules()))
    table = one_table(ready.judged, judge(ready), ("shop", "orders"))
    assert table is not None
    assert (table.trials, "has an effect on this version" in table.untried) == ((), True)


def test_where_files_are_out_of_sight_no_copy_is_offered() -> None:
    table = told_of({"flavour": "mariadb", "version": "10.11.6", "local": 0})
    assert (table.trials, "cannot be seen from here" in table.untried) == ((), True)


def test_a_name_that_no_shell_line_can_hold_makes_none() -> None:
    document = {**DOCUMENT, "tables": [{**ORDERS, "schema_name": "a", "table_name": "x\ny"}]}
    ready = prepared(facts_from_document(document), Site(shipped_rules()))
    table = one_table(ready.judged, judge(ready), ("a", "x\ny"))
    assert table is not None
    assert table.trials == ()
    assert "cannot be written" in one_table_as_text(table, "", 0, 1)


def test_findings_about_it_come_first_then_those_that_would_change_it() -> None:
    facts = prepared(facts_from_document(DOCUMENT), Site(())).judged
    layout = Finding("layout", "", "warning", "confirmed", "server", "", None, "Two tables share.", (), "", "", "", "", "", (), Remedy((CheckTable(("shop", "orders")),)))
    about = replace(layout, rule="pack-keys", scope="table", object="shop.orders", remedy=Remedy())
    other = replace(about, object="shop.lines")
    server = replace(layout, rule="io-bound-data", remedy=Remedy())
    table = one_table(facts, Judgement((layout, other, about, server)), ("shop", "orders"))
    assert table is not None
    assert [one.rule for one in table.findings] == ["pack-keys", "layout"]
    assert [one.rule for one in table.elsewhere] == ["io-bound-data"]


def test_curves_are_those_of_the_table_alone_and_drawn() -> None:
    facts = prepared(facts_from_document(DOCUMENT), Site(())).judged
    points = tuple((60.0 * minute, float(minute % 7)) for minute in range(100))
    table = one_table(facts, Judgement(), ("shop", "orders"), {"rows_read_per_second": points, "rows": ((0.0, None),), "data_bytes": ()})
    assert table is not None
    assert [curve.column for curve in table.curves] == ["rows_read_per_second"]
    text = one_table_as_text(table, "", 0, 6000)
    assert "0/s to 6/s" in text
    assert "▇" in text or "█" in text
    assert curve_names("shop", "orders")["tables.rows[shop.orders]"] == "rows"
    assert len(curve_names("shop", "orders")) == len(CURVES)


@pytest.mark.parametrize(("columns", "is_below"), [("80", True), ("120", False)])
def test_no_figure_of_a_curve_is_broken(columns: str, is_below: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    facts = prepared(facts_from_document(DOCUMENT), Site(())).judged
    points = tuple((60.0 * minute, 0.0 if minute == 50 else 6e9) for minute in range(100))
    table = one_table(facts, Judgement(), ("shop", "orders"), {"data_bytes": points})
    assert table is not None
    (line,) = (line for line in one_table_as_text(table, "", 0, 6000).splitlines() if "median" in line)
    assert line.endswith("  0 B to 5.6 GiB, median 5.6 GiB")
    assert line.startswith(" " * 32) == is_below


def test_no_letter_of_a_name_steers_the_terminal() -> None:
    text = one_table_as_text(told(("a/b", str(ODD["table_name"]))), "headline", 0, 1)
    assert "\x1b" not in text
    assert "\\x1b[31m" in text
    assert "CRITICAL  table-crashed" in text


def test_json_holds_the_facts_as_they_are() -> None:
    document = json.loads(one_table_as_json(told()))
    assert (document["schema"], document["tool"]["name"]) == (1, "myisam-advisor")
    assert document["time"].endswith("Z")
    assert document["table"]["data_bytes"] == 3 * GIB
    assert document["table"]["write_statements_per_second"] is None
    assert document["indexes"][0]["key_description"] == "CHAR(32 bytes) NOT NULL"
    assert document["trials"][0]["command"].startswith("myisam-advisor trial pack-keys")


def test_places_of_tables_are_found_once_for_each_generation() -> None:
    facts = prepared(facts_from_document(DOCUMENT), Site(())).judged
    assert table_names(facts) is table_names(facts)
    assert table_names(facts)["a.b", "c"] == 3
    assert one_table(facts, Judgement(), ("shop", "nothing")) is None


@pytest.fixture(scope="module")
def facts_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("facts") / "facts.json"
    path.write_text(json.dumps(DOCUMENT))
    return path


@pytest.mark.parametrize(
    ("name", "title"),
    [("shop.orders", "shop.orders  "), ("`shop`.orders", "shop.orders  "), ("`a.b`.c", "`a.b`.c  "), ("a.`b.c`", "a.`b.c`  "), ("a/b.x.y😀`\x1b[31m", "`a/b`.`x.y😀``\\x1b[31m`  ")],
)  # fmt: skip
def test_each_table_can_be_named(facts_file: Path, name: str, title: str) -> None:
    done = run("table", name, "--facts", facts_file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(title)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("shop.order",), "there is no MyISAM table shop.order in the facts file. Did you mean shop.orders?"),
        (("orders",), "'orders' names no database: write DATABASE.TABLE. Did you mean shop.orders?"),
        (("shop",), "'shop' is a database and names no table: write DATABASE.TABLE. For example shop.orders."),
        (("a.b.c",), "a.b.c may be several tables: write `a`.`b.c` or `a.b`.`c`"),
        (("mysql.user",), "one of the server's own tables"),
        (("",), "names no database"),
        (("shop.orders", "--since", "soon"), "is not a duration"),
        (("shop.orders", "--format", "xml"), "'xml' is not one of"),
        (("shop.orders", "--history", "/nowhere/h.sqlite"), "/nowhere/h.sqlite"),
    ],
)
def test_a_name_that_is_wrong_is_told_what_is_there(facts_file: Path, words: tuple[str, ...], message: str) -> None:
    done = run("table", *words, "--facts", facts_file)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_the_site_ignores_is_named(facts_file: Path, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("ignored_schemas: [shop]\n")
    done = run("table", "shop.orders", "--facts", facts_file, "--config", tmp_path / "config.yaml")
    assert done.returncode == 2
    assert "the configuration ignores the database shop" in done.stderr
