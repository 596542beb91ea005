"""All tables, searched, sorted and a page at a time; names are hostile."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from myisam_advisor.factbase.file import read_facts_file
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.reports.page.links import Links
from myisam_advisor.reports.page.look import Look, look_at
from myisam_advisor.reports.page.render import policy, render
from myisam_advisor.reports.page.table_list import SORTS, TABLES_A_PAGE, Chosen, table_list_view
from myisam_advisor.reports.page.table_page import NoTableView, TablePageView, table_page_view
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactRows

HOSTILE = ("</td><script>x</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "a/../b", "a.b", "a&b=c#d?e", "\u202egnp", "\udcff", "ü☃" * 30, "")
NAMES = tuple(column.name for column in declared_columns()["tables"])


def row(schema: str, table: str, **values: Value) -> tuple[Value, ...]:
    known: dict[str, Value] = {"schema_name": schema, "table_name": table, **values}
    return tuple(known.get(name) for name in NAMES)


def look_with(tmp_path_factory: pytest.TempPathFactory, *rows: tuple[Value, ...]) -> Look:
    file = tmp_path_factory.mktemp("facts") / "facts.yaml"
    file.write_text("schema: 1\nserver: {flavour: mariadb, version: 10.11.6, hostname: '<b>db</b>', data_directory: /d, local: 1}\ntables: []\n")
    facts = read_facts_file(str(file))
    facts = replace(facts, tables={**facts.tables, "tables": FactRows(NAMES, list(rows))}, unknown={})
    return look_at(Judgement(), facts, 1_700_000_000.0)


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Look:
    plain = [row("shop", f"t{number:05}", rows=number, data_bytes=number * 100, index_bytes=1024, data_resident_bytes=number * 50) for number in range(10_000)]
    return look_with(tmp_path_factory, *plain, row("shop", "Broken", crashed=1), *(row("<i>odd</i>", name, rows=1, data_bytes=7) for name in HOSTILE))


class Sound(HTMLParser):
    """The links of a page; any tag that a name made is a failure."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name == "href"]
        assert not any(name.startswith("on") for name, _ in attrs)


def read(page: str) -> Sound:
    sound = Sound()
    sound.feed(page)
    sound.close()
    assert sound.tags.count("script") == 1
    assert "img" not in sound.tags
    assert "i" not in sound.tags
    return sound


def test_every_table_is_reached_page_by_page(look: Look) -> None:
    reached: set[tuple[str, str]] = set()
    number = 1
    while True:
        view = table_list_view(look, Chosen(page=number), Links())
        assert len(view.tables) <= TABLES_A_PAGE
        for line in view.tables:
            query = parse_qs(urlsplit(line.address).query, keep_blank_values=True)
            reached.add((query["schema"][0], query["table"][0]))
        if not view.next:
            break
        assert parse_qs(urlsplit(view.next).query)["page"] == [str(number + 1)]
        number += 1
    assert number == -(-len(look.facts.tables["tables"].rows) // TABLES_A_PAGE)
    # Half of a surrogate pair is in no request: that one is listed, and cannot be asked for.
    assert len(reached) == len(look.facts.tables["tables"].rows)
    assert {name for name in HOSTILE if name != "\udcff"} <= {table for _, table in reached}


@pytest.mark.parametrize("sort", SORTS)
def test_each_order_is_one(look: Look, sort: str) -> None:
    view = table_list_view(look, Chosen(sort=sort), Links())
    first = view.tables[0].name
    expected = {"worst": "shop.Broken", "name": "`<i>odd</i>`.``", "rows": "shop.t09999", "data": "shop.t09999", "memory": "shop.t00001", "index": "shop.t00000", "activity": "`<i>odd</i>`.``"}
    assert first == expected[sort]
    assert [heading.is_sorted for heading in view.headings].count(True) == (sort != "worst")


def test_a_search_is_of_the_whole_name_in_any_case(look: Look) -> None:
    assert [line.name for line in table_list_view(look, Chosen(search="SHOP.BROKEN"), Links()).tables] == ["shop.Broken"]
    view = table_list_view(look, Chosen(search="t0000"), Links())
    assert view.sentence == "10 of 10,011 MyISAM tables."
    nothing = table_list_view(look, Chosen(search="no such"), Links())
    assert (nothing.tables, nothing.previous, nothing.next) == ((), "", "")
    assert "No table name contains that." in render(nothing)


def test_a_page_behind_the_last_is_the_last(look: Look) -> None:
    view = table_list_view(look, Chosen(page=999_999_999), Links())
    assert (len(view.tables), view.next) == (11, "")
    assert "page 101 of 101" in view.sentence


def test_names_and_searches_stay_text(look: Look) -> None:
    for search in ("<script>alert(1)</script>", '"><img src=x>', "", "\u202e"):
        page = render(table_list_view(look, Chosen(search=search, sort="name"), Links(target="<b>x</b>")))
        found = read(page)
        assert "b" not in found.tags
        assert len(found.addresses) > 5
        assert all(address.startswith(("./", "#", "data:image/svg+xml,")) for address in found.addresses)
    assert "&lt;/td&gt;&lt;script&gt;" in render(table_list_view(look, Chosen(sort="name"), Links()))


def test_an_order_is_worked_out_once(look: Look) -> None:
    table_list_view(look, Chosen(sort="rows"), Links())
    known = look.facts.tables["tables"].memo.others[("order of the list", "rows")]
    table_list_view(look, Chosen(sort="rows", page=3), Links())
    assert look.facts.tables["tables"].memo.others[("order of the list", "rows")] is known


@pytest.mark.parametrize("name", HOSTILE)
def test_each_table_has_a_page(look: Look, name: str) -> None:
    points = [(1_700_000_000.0 - 60 * minute, float(minute)) for minute in range(9, -1, -1)]
    view = table_page_view(look, ("<i>odd</i>", name), {"rows": points}, Links(), paths=False, warning="")
    assert isinstance(view, TablePageView)
    page = render(view)
    found = read(page)
    assert found.tags.count("path") == 1
    assert "No finding is about this table." in page
    assert not re.search(r'href="/|\u202e', page)


def test_a_table_that_is_gone_is_said_to_be(look: Look) -> None:
    view = table_page_view(look, ("<i>odd</i>", "<script>gone"), {}, Links(), paths=False, warning="")
    assert isinstance(view, NoTableView)
    found = read(render(view))
    assert any("search=%3Cscript%3Egone" in address for address in found.addresses)


def test_a_table_page_says_what_is_wrong_with_it(look: Look) -> None:
    view = table_page_view(look, ("shop", "Broken"), {}, Links(), warning="it is down: /run/mysqld/secret.sock", paths=False)
    assert isinstance(view, TablePageView)
    assert view.crashed
    assert "It is crashed: a trial copies sound tables only." in render(view)
    assert "secret" not in render(view)


def test_only_what_is_served_may_ask_the_daemon_again() -> None:
    assert "form-action 'self'" in policy(is_served=True)
    assert "form-action 'none'" in policy(is_served=False)
    assert "connect-src" not in policy(is_served=False)


def test_a_name_is_told_as_findings_tell_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    odd = look_with(tmp_path_factory, row("shop", "od`d name", rows=1, data_bytes=9), row("shop", "plain", rows=1, data_bytes=7))
    shown = [table.name for table in table_list_view(odd, Chosen(), Links()).tables]
    assert shown == ["shop.`od``d name`", "shop.plain"]
    missing = table_page_view(odd, ("shop", "a b"), {}, Links(), paths=True, warning="")
    assert isinstance(missing, NoTableView)
    assert missing.title == "shop.`a b`"
