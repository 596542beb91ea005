from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.prepared import prepared

TABLES = [
    {"schema_name": schema, "table_name": "t", "rows": rows, "data_bytes": 100 * rows, "index_bytes": 0, "crashed": 0}
    for schema, rows in (("shop", 10), ("scratch_1", 5))
]  # fmt: skip


def test_the_history_keeps_what_the_site_does_not_want_judged() -> None:
    ready = prepared(facts_from_document({"schema": 1, "tables": TABLES}), Site((), ignored_schemas=("scratch_*",)))
    assert ready.complete.tables["tables"].values("schema_name") == ["shop", "scratch_1"]
    assert ready.complete.single("totals")["myisam_rows"] == 15
    assert ready.judged.tables["tables"].values("schema_name") == ["shop"]
    assert ready.judged.single("totals")["myisam_rows"] == 10
    assert ready.judged.single("totals")["myisam_tables"] == 1


def test_a_sum_that_was_counted_covers_the_ignored_databases_as_one_that_is_worked_out_does() -> None:
    counted = {"totals": {"myisam_tables": 2, "myisam_rows": 15, "myisam_data_bytes": 1500, "crashed_tables": 0}}
    site = Site((), ignored_schemas=("scratch_*",))
    sums = [prepared(facts_from_document({"schema": 1, "tables": TABLES, **more}), site).judged.single("totals") for more in (counted, {})]
    assert [(one["myisam_tables"], one["myisam_rows"], one["myisam_data_bytes"]) for one in sums] == [(1, 10, 1000)] * 2


def test_where_nothing_is_ignored_what_is_judged_is_what_there_is() -> None:
    ready = prepared(facts_from_document({"schema": 1, "server": {"version": "8.4.1"}}), Site(()))
    assert ready.judged is ready.complete
    assert ready.judged.single("server")["version_number"] == 80401
