"""Addresses that a page leads to: relative, and safe for any name."""

from urllib.parse import parse_qs, urljoin, urlsplit

import pytest

from myisam_advisor.reports.page.links import Links, base_of

NAMES = ("orders", "a/b", "../..", "a&b=c", "<script>", '"\'', "ü☃", "%2e", "a b+c", "?#", "\\", "")


@pytest.mark.parametrize("root", ["http://localhost:9942/", "https://monitoring.example/myisam/"])
@pytest.mark.parametrize("path", ["", "rules", "rules/", "rules/table-crashed", "tables", "table"])
def test_every_link_stays_below_the_root_from_every_page(root: str, path: str) -> None:
    links = Links(base_of(f"/{path}"))
    page = urljoin(root, path)
    assert urljoin(page, links.home()) == root
    assert urljoin(page, links.rules()) == f"{root}rules"
    assert urljoin(page, links.rule("table-crashed")) == f"{root}rules/table-crashed"
    assert urljoin(page, links.advice()) == f"{root}advice.json"
    assert urljoin(page, links.metrics()) == f"{root}metrics"
    for name in NAMES:
        found = urlsplit(urljoin(page, links.table(name, f"{name}2")))
        assert f"{found.scheme}://{found.netloc}{found.path}" == f"{root}table"
        assert parse_qs(found.query, keep_blank_values=True) == {"schema": [name], "table": [f"{name}2"]}


def test_a_probed_server_is_in_every_link() -> None:
    links = Links("../", "the <b>archive</b> & co")
    quoted = "target=the+%3Cb%3Earchive%3C%2Fb%3E+%26+co"
    for link in (links.home(), links.rules(), links.rule("x"), links.tables(search="a"), links.table("a", "b"), links.advice()):
        assert link.startswith("../")
        assert link.endswith(quoted)
    assert links.metrics() == f"../probe?{quoted}"
    assert links.server("") == "../"


def test_a_name_that_no_request_can_hold_makes_a_link_nonetheless() -> None:
    assert Links().table("\udcff", "x") == "./table?schema=%3F&table=x"


def test_metrics_are_where_they_were_put() -> None:
    assert Links("../", telemetry_path="/data/metrics").metrics() == "../data/metrics"
