"""Values as text: hostile labels, duplicates and undeclared values cannot break a page."""

import gzip
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families
from prometheus_client.parser import text_string_to_metric_families

from myisam_exporter.collectors.base import all_collectors
from myisam_exporter.exposition import text
from myisam_exporter.exposition.text import (
    LONGEST_LABEL,
    Page,
    _Registry,
    clean_label,
    family_of,
    joined,
    page_of,
    page_of_text,
    wants_open_metrics,
)
from myisam_exporter.metrics.base import BACKGROUND, Metric, Value, all_groups

METRICS = (Metric("things", "gauge", 'Help with\na line break and a "quote".', ("name",)), Metric("events_total", "counter", "Events."))


def parsed(page: Page) -> dict[str, list[tuple[dict[str, str], float]]]:
    samples: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(page.text.decode()):
        for sample in family.samples:
            samples.setdefault(sample.name, []).append((sample.labels, sample.value))
    return samples


def test_counters_and_gauges_have_type_and_help() -> None:
    page = page_of(METRICS, [Value("things", 2, ("a",)), Value("events_total", 3)])
    assert b"# TYPE myisam_things gauge\n" in page.text
    assert b"# TYPE myisam_events_total counter\n" in page.text
    assert parsed(page) == {"myisam_things": [({"name": "a"}, 2.0)], "myisam_events_total": [({}, 3.0)]}


def test_what_is_unknown_is_absent() -> None:
    assert page_of(METRICS, [Value("things", None, ("a",)), Value("events_total", None)]).text == b""


@pytest.mark.parametrize("label", [None, 5, b"caf\xe9", "caf\udce9", 'quo"te', "back\\slash", "new\nline", "", "😀"])
def test_any_label_gives_a_page_that_parses(label: object) -> None:
    page = page_of(METRICS, [Value("things", 1, (label,))])  # type: ignore[arg-type]
    assert parsed(page)["myisam_things"] == [({"name": clean_label(label)}, 1.0)]


@given(st.text(st.characters(codec="utf-8")))
def test_text_labels_survive_the_way_there_and_back(label: str) -> None:
    lines = page_of(METRICS, [Value("things", 1, (label,))]).text.decode()
    if not set(label) & set("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"):  # where the parser of the test splits lines
        assert parsed(page_of_text(lines.encode()))["myisam_things"] == [({"name": label}, 1.0)]
    assert lines.count("\nmyisam_things{") == 1


def test_a_series_that_comes_twice_or_is_declared_nowhere_is_left_out_and_logged_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that names one thing ten thousand times wrote twelve megabytes into the log with each scrape."""
    monkeypatch.setattr(text, "_said", set())
    values = [Value("things", 1, ("a",)), *[Value("things", 2, ("a",))] * 1000, Value("things", 1, ("b",)), Value("things", 2, ("b",)), Value("nothing", 1), Value("things", 1)]
    with caplog.at_level(logging.ERROR):
        pages = [page_of(METRICS, values) for _ in range(3)]
    assert [parsed(page) for page in pages] == 3 * [{"myisam_things": [({"name": "a"}, 1.0), ({"name": "b"}, 1.0)]}]
    assert sorted(record.getMessage() for record in caplog.records) == [
        "a series of things came twice, the second is left out: ('a',)",
        "a value of things has 0 labels: left out",
        "the metric nothing is declared nowhere: left out",
    ]


def test_a_label_without_end_is_cut_off() -> None:
    page = page_of(METRICS, [Value("things", 1, ("x" * LONGEST_LABEL,)), Value("things", 2, ("y" * 1_000_000,))])
    (whole, _), (cut, number) = parsed(page)["myisam_things"]
    assert (whole["name"], cut["name"], number) == ("x" * LONGEST_LABEL, "y" * LONGEST_LABEL + "...", 2.0)


def test_what_did_not_change_is_not_rendered_again() -> None:
    values = [Value("things", number, (f"t{number}",)) for number in range(3)]
    first = page_of(METRICS, [*values, Value("events_total", 1), Value("things", None, ("x",))], Page())
    same = page_of(METRICS, [*(Value(*value) for value in values), Value("events_total", 1.0), Value("things", None, ("x",))], first)
    assert same is first
    second = page_of(METRICS, [*values, Value("events_total", 2), Value("things", None, ("x",))], first)
    assert second.parts[0] is first.parts[0]
    assert parsed(second) == parsed(first) | {"myisam_events_total": [({}, 2.0)]}
    for others in ([], values[:2], [*values[:2], values[2]._replace(number=9)], [values[1], values[0], values[2]], [*values, Value("things", 3, ("t3",))]):
        made = page_of(METRICS, others, second)
        assert made.text == page_of(METRICS, others).text
        assert list(made.values) == list(page_of(METRICS, others).values) == others


def test_pages_joined_and_compressed_are_the_same_text() -> None:
    pages = [page_of(METRICS[:1], [Value("things", number, (f"t{number}",)) for number in range(500)]), page_of(METRICS[1:], [Value("events_total", 1)]), Page()]
    plain = b"".join(page.text for page in pages)
    assert joined(pages, False) == plain
    assert gzip.decompress(joined(pages, True)) == plain
    assert gzip.decompress(joined(pages, True)) == plain  # with the compressed form that was kept
    assert gzip.decompress(joined([], True)) == b""


def test_a_page_restricted_to_names() -> None:
    page = page_of(METRICS, [Value("things", 1, ("# HELP myisam_events_total x\n",)), Value("events_total", 3)])
    assert parsed(page.restricted(["myisam_events_total"])) == {"myisam_events_total": [({}, 3.0)]}
    assert set(parsed(page.restricted(["myisam_things", "nonsense", "\udce9"]))) == {"myisam_things"}
    assert page.restricted(["none"]).text == b""


def test_declarations_keep_the_conventions() -> None:
    known = {collector.name for collector in all_collectors()}
    slow = {collector.name for collector in all_collectors() if collector.expensive}
    seen: set[str] = set()
    for group in all_groups():
        assert set(group.collectors) <= known
        for metric in group.metrics:
            # docs/reference/metrics.md promises that it is said of each.
            assert metric.help.endswith(BACKGROUND) == (set(group.collectors) <= slow), metric.name
            assert metric.name not in seen
            seen.add(metric.name)
            assert (metric.kind == "counter") == metric.name.endswith("_total")
            assert metric.help.endswith(".")
            assert not {"type", "le", "quantile", "job", "instance"} & set(metric.labels)
            assert not metric.name.endswith(("_ratio", "_percent", "_ms", "_kb"))


QUOTED = (Metric("things", "gauge", 'Help with\na line break, a \\\\ and a "quote".', ("name",)), Metric("events_total", "counter", 'Events of "a_total".'))


def families_of(values: list[Value]) -> list[Any]:
    families = [family_of(metric, [value for value in values if value.name == metric.name]) for metric in QUOTED]
    return [family for family in families if family.samples]


@given(st.lists(st.text(st.characters(codec="utf-8")), unique_by=clean_label), st.floats(allow_nan=True))
def test_open_metrics_are_what_the_library_makes_of_the_same_values(labels: list[str], number: float) -> None:
    values = [*(Value("things", number, (label,)) for label in labels), Value("events_total", 3)]
    assert joined([page_of(QUOTED, values)], False, True) == generate_latest(_Registry(families_of(values)))  # type: ignore[no-untyped-call]


def test_open_metrics_end_with_their_mark_and_compress() -> None:
    pages = [page_of(QUOTED[:1], [Value("things", 1, ("# HELP x_total y\n# TYPE x_total counter\n",))]), page_of(QUOTED[1:], [Value("events_total", 1)])]
    plain = joined(pages, False, True)
    assert plain.endswith(b"# EOF\n")
    assert b"# TYPE myisam_events counter\nmyisam_events_total 1.0\n" in plain
    assert gzip.decompress(joined(pages, True, True)) == plain
    assert b"# EOF" not in joined(pages, False)
    assert {family.name for family in open_metrics_families(plain.decode())} == {"myisam_things", "myisam_events"}  # type: ignore[no-untyped-call]


PROMETHEUS_2 = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
PROMETHEUS_3 = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"


@pytest.mark.parametrize(("accept", "wanted"), [(PROMETHEUS_2, True), (PROMETHEUS_3, True), ("", False), ("*/*", False), ("text/plain;version=0.0.4", False), ("text/html", False), ("application/json, x-openmetrics", False)])
def test_open_metrics_are_for_who_asks(accept: str, wanted: bool) -> None:
    assert wants_open_metrics(accept) is wanted


def test_every_counter_is_called_so() -> None:
    """OpenMetrics knows no other."""
    assert [metric.name for group in all_groups() for metric in group.metrics if (metric.kind == "counter") != metric.name.endswith("_total")] == []
