"""What a look gave, with a page for each collector."""

from myisam_exporter.exposition.reading import reading_of
from myisam_exporter.exposition.text import page_of
from myisam_exporter.exposition.values import GroupValues
from myisam_exporter.metrics.base import Metric, Value

THINGS = [Metric("things", "gauge", "Things.")]


def found(number: int) -> GroupValues:
    return GroupValues({"one": THINGS, "other": THINGS}, {"one": [Value("things", 1)], "other": [Value("things", number)]})


def test_pages_are_those_of_before_where_nothing_changed() -> None:
    first = reading_of(found(1), {}, {})
    second = reading_of(found(2), {}, first.pages)
    assert second.pages["one"] is first.pages["one"]
    assert second.pages["other"].text == page_of(THINGS, [Value("things", 2)]).text
    assert list(second.values) == [Value("things", 1), Value("things", 2)]


def test_without_a_look_before_all_is_rendered_and_what_is_further_stands_beside_it() -> None:
    further = {"advice": page_of(THINGS, [Value("things", 9)])}
    reading = reading_of(found(2), {}, further=further)
    assert {name: page.text for name, page in reading.pages.items()} == {
        "one": page_of(THINGS, [Value("things", 1)]).text, "other": page_of(THINGS, [Value("things", 2)]).text, "advice": further["advice"].text,
    }  # fmt: skip
    assert list(reading.values) == [Value("things", 1), Value("things", 2)]
