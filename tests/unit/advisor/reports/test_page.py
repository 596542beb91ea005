"""The page's parts: the map, the curves, the verdict, what it must not tell; and the whole of it as a report."""

import random
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import read_facts_file
from myisam_advisor.judging.findings import Finding, Judgement, NotEvaluated
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.judging.verdict import COULD_GAIN, HELD_BACK, TO_MEND, UNKNOWN, first_sentence, verdict_of
from myisam_advisor.reports.page.host_paths import without_host_paths
from myisam_advisor.reports.page.links import Links
from myisam_advisor.reports.page.look import look_at
from myisam_advisor.reports.page.map_view import map_view, table_lines
from myisam_advisor.reports.page.render import policy, render
from myisam_advisor.reports.page.sparkline import HEIGHT, WIDTH, sparkline
from myisam_advisor.reports.page.table_map import CRASHED, EVICTED, HOT, TableMap, table_map
from myisam_advisor.reports.page.treemap import Rectangle, treemap
from myisam_advisor.reports.page.view import view_of
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactRows

PROGRAM = Path(sys.executable).with_name("myisam-advisor")
PLACE = Rectangle(10.0, 20.0, 300.0, 200.0)


@pytest.mark.parametrize("count", [1, 2, 7, 300])
def test_a_treemap_fills_its_place_by_weight(count: int) -> None:
    generator = random.Random(count)
    weights = sorted((generator.paretovariate(1.0) for _ in range(count)), reverse=True)
    rectangles = treemap(weights, PLACE)
    scale = PLACE.width * PLACE.height / sum(weights)
    for weight, (x, y, width, height) in zip(weights, rectangles, strict=True):
        assert width * height == pytest.approx(weight * scale)
        assert x >= PLACE.x - 1e-6
        assert y >= PLACE.y - 1e-6
        assert x + width <= PLACE.x + PLACE.width + 1e-6
        assert y + height <= PLACE.y + PLACE.height + 1e-6
    for place, (x, y, width, height) in enumerate(rectangles):
        for other in rectangles[place + 1 :]:
            across = min(x + width, other.x + other.width) - max(x, other.x)
            down = min(y + height, other.y + other.height) - max(y, other.y)
            assert across <= 1e-6 or down <= 1e-6, "two rectangles overlap"


def test_a_treemap_is_nearly_square() -> None:
    rectangles = treemap([1.0] * 16, Rectangle(0, 0, 400, 400))
    assert all(0.4 < one.width / one.height < 2.5 for one in rectangles)
    assert treemap([], PLACE) == []
    assert [one.width for one in treemap([1.0], Rectangle(0, 0, 0, 5))] == [0.0]


def test_weights_that_are_nothing_beside_another_have_no_place() -> None:
    for place in (PLACE, Rectangle(0, 0, 200, 300), Rectangle(0, 0, 1, 1)):
        rectangles = treemap([2.0**62, 5.0, 1.0], place)
        assert rectangles[0].width * rectangles[0].height == pytest.approx(place.width * place.height)
        assert all(one.width * one.height < 1e-9 for one in rectangles[1:])


def tables(*rows: dict[str, Value]) -> FactRows:
    columns = tuple(column.name for column in declared_columns()["tables"])
    return FactRows(columns, [[row.get(column) for column in columns] for row in rows])


def table(name: str, data: int, schema: str = "s", **values: Value) -> dict[str, Value]:
    known: dict[str, Value] = {"schema_name": schema, "table_name": name, "data_bytes": data, "data_resident_bytes": data}
    return known | values


def test_a_map_marks_what_is_crashed_hot_or_evicted() -> None:
    found = table_map(
        tables(
            table("big", 10**9),
            table("broken", 1000, crashed=1),
            table("busy", 10**6, write_statements_per_second=5.0),
            table("gone", 10**6, data_resident_bytes=0, data_recently_evicted_bytes=10**6),
            table("dark", 10**6, data_resident_bytes=None),
            table("empty", 0),
            {"schema_name": "s", "table_name": "unread", "crashed": 1},
        )
    )
    tiles = {tile.table: (tile, place) for _, _, placed in found.placed() for tile, place in placed}
    marks = {name: tile.marks for name, (tile, _) in tiles.items()}
    assert marks == {"big": (), "broken": (CRASHED,), "busy": (HOT,), "gone": (EVICTED,), "dark": (), "empty": (), "unread": (CRASHED,)}
    assert [tiles[name][0].shade for name in ("big", "gone", "dark", "empty")] == ["4", "0", "unknown", "unknown"]
    assert found.marked == {CRASHED: 2, HOT: 1, EVICTED: 1}
    assert found.data_bytes is None  # of one table it is not known
    assert {line.name: line.data for line in table_lines(found, None)}["s.unread"] == "unknown"
    # A thousandth of a thousandth of the data is still seen when it is broken.
    assert tiles["broken"][1].width * tiles["broken"][1].height > 1000
    assert [tile.table for tile in found.listed[:3]] == ["broken", "unread", "busy"]


def test_a_map_of_very_many_tables_stays_small_and_loses_none() -> None:
    rows = [table(f"t{number}", number % 997, f"s{number % 211}", crashed=int(number % 500 == 0)) for number in range(20_000)]
    found = table_map(tables(*rows))
    tiles = [tile for _, of_one in found.schemas for tile in of_one]
    assert len(tiles) < 400
    assert sum(tile.tables for tile in tiles) == found.tables == 20_000
    assert sum(tile.data_bytes or 0 for tile in tiles) == found.data_bytes == sum(int(str(row["data_bytes"])) for row in rows)
    assert found.marked[CRASHED] == 40
    assert sum(CRASHED in tile.marks for tile in tiles) == 40


def test_marks_that_nobody_can_tell_are_unknown() -> None:
    """Without an interval and without the right to read files."""
    found = table_map(tables({"schema_name": "s", "table_name": "t", "data_bytes": 5}))
    assert found.marked == {CRASHED: None, HOT: None, EVICTED: None}
    assert [number for _, _, number in map_view(found, None).marks] == ["unknown"] * 3


def test_no_tables_no_map() -> None:
    assert table_map(tables()) == TableMap(marked={CRASHED: 0, HOT: 0, EVICTED: 0}, schemas=(), tables=0, data_bytes=0, listed=())
    assert list(TableMap((), 0, 0, ()).placed()) == []


def test_a_curve_breaks_where_nothing_was_measured() -> None:
    points = [(float(moment), 5.0) for moment in range(0, 600, 10)] + [(float(moment), 10.0) for moment in range(3000, 3600, 10)]
    line = sparkline(points, 3600.0, 86_400.0)
    assert line is not None
    assert line.path.count("M") == 2
    assert (line.latest, line.lowest, line.highest, line.hours) == (10.0, 5.0, 10.0, 1.0)
    numbers = [float(number) for number in line.path.replace("M", " ").replace("L", " ").replace("h1", " ").split()]
    assert all(0 <= x <= WIDTH for x in numbers[::2])
    assert all(0 <= y <= HEIGHT for y in numbers[1::2])
    assert sparkline([], 1.0, 5.0) is None
    assert sparkline([(1.0, None)], 2.0, 5.0) is None
    assert sparkline([(0.0, 1.0)], 100.0, 5.0) is None
    single = sparkline([(1.0, 0.0)], 2.0, 5.0)
    assert single is not None
    assert "nan" not in single.path


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tmpdir (/srv/tmp/mysql) is full.", "tmpdir ((a path)) is full."),
        ("the socket /run/mysqld/mysqld.sock.", "the socket (a path)."),
        ("/var/lib/mysql/shop/orders.MYI is broken", "/var/lib/mysql/shop/orders.MYI is broken"),
        ("/var/lib/mysql", "/var/lib/mysql"),
        ("/var/lib/mysql2/x", "(a path)"),
        ("/var/lib/mysql/../../etc/shadow", "(a path)"),
        ("/proc/12/io cannot be read", "/proc/12/io cannot be read"),
        ("1,000 rows/s and 1/2 of /5", "1,000 rows/s and 1/2 of /5"),
        ("'/etc/mysql/my.cnf' says so", "'(a path)' says so"),
    ],
)
def test_only_paths_below_the_data_directory_are_told(text: str, shown: str) -> None:
    assert without_host_paths(text, "/var/lib/mysql/") == shown


def finding(rule: str, severity: str, resource: str = "", confidence: str = "confirmed", order: int = 50) -> Finding:
    return Finding(rule, f"Title of {rule}", severity, confidence, "server", "", None, "One thing. Another thing.", (), "", "", "", "", "", (), resource=resource, resource_order=order)


def test_one_sentence_says_what_holds_the_server_back() -> None:
    crashed, disk = finding("table-crashed", "critical"), finding("io-bound-data", "warning", "the disk")
    verdict = verdict_of(Judgement([crashed, disk]), 10.0)
    assert (verdict.kind, verdict.headline, verdict.tone) == (TO_MEND, "Title of table-crashed. Besides, held back by the disk.", "critical")
    verdict = verdict_of(Judgement([disk, finding("fragmented-table", "warning")]), 10.0)
    assert (verdict.kind, verdict.headline, verdict.detail, verdict.finding) == (HELD_BACK, "Held back by the disk.", "One thing.", disk)
    lock = finding("a-lock", "warning", "a lock", order=70)
    assert verdict_of(Judgement([lock, disk]), 10.0).finding == disk
    suspected = replace(disk, confidence="suspected")
    assert verdict_of(Judgement([suspected]), 10.0).headline == "Probably held back by the disk."
    cold = finding("page-cache-cold", "info", "a page cache that is still cold")
    assert verdict_of(Judgement([cold], ["x"]), 10.0).kind == COULD_GAIN
    assert verdict_of(Judgement([crashed], ["x"]), 10.0).headline == "Title of table-crashed."
    assert verdict_of(Judgement([finding("fragmented-table", "info")], ["x"]), 10.0).tone == "info"
    assert verdict_of(Judgement([], ["x"]), 10.0).tone == "good"
    assert verdict_of(Judgement([], ["x"], [NotEvaluated("y", "z")]), 10.0).detail == "1 rule could judge; 1 lacks a fact, see below."
    assert verdict_of(Judgement([], ["x"]), None).kind == UNKNOWN
    assert verdict_of(Judgement([finding("insufficient-sample", "info")], ["x"]), 10.0).kind == UNKNOWN
    assert verdict_of(Judgement(), 10.0).kind == UNKNOWN
    assert first_sentence("Table shop.orders is 1.5 times as large. It grows.") == "Table shop.orders is 1.5 times as large."


class Tags(HTMLParser):
    """The elements of a document; one that is closed in the wrong place is an error."""

    EMPTY = frozenset({"meta", "link", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.identifiers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.identifiers += [str(value) for name, value in attrs if name == "id"]
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


FACTS = """
schema: 1
server: {flavour: mariadb, version: 10.11.6-MariaDB, hostname: "<b>db</b>", data_directory: /var/lib/mysql, local: 1}
tables:
  - {schema_name: "<i>s</i>", table_name: "</svg><script>x</script>", crashed: 1, data_bytes: 1000, index_bytes: 2048}
key_cache: [{name: "</td><script>", size_bytes: 1048576, usable_bytes: 900000, blocks_unused: 100, block_size_bytes: 1024}]
"""


def test_the_report_is_one_sound_document(tmp_path: Path) -> None:
    file = tmp_path / "facts.yaml"
    file.write_text(FACTS)
    done = subprocess.run([str(PROGRAM), "check", "--facts", str(file), "--format", "html", "--fail-on", "never"], capture_output=True, text=True, check=True)
    tags = Tags()
    tags.feed(done.stdout)
    tags.close()
    assert done.stdout.startswith("<!doctype html>")
    assert tags.open == []
    assert tags.names.count("script") == 1
    assert len(tags.identifiers) == len(set(tags.identifiers))
    assert "&lt;/svg&gt;&lt;script&gt;x&lt;/script&gt; is marked crashed" in done.stdout.replace("`", "")
    assert 'href="/' not in done.stdout
    assert policy(is_served=False).split(";")[0] == "default-src 'none'"


def test_the_worst_page_stays_small(tmp_path: Path) -> None:
    """Ten thousand crashed tables with the longest and worst names there are."""
    file = tmp_path / "facts.yaml"
    file.write_text("schema: 1\nserver: {flavour: mariadb, version: 10.11.6, data_directory: /d, local: 1}\ntables: []\n")
    facts = complete(read_facts_file(str(file)))
    rows = [table(f"{number}" + "\"&'<" * 15, 1000 + number, "&<\"'" * 16, crashed=1, write_statements_per_second=9.0) for number in range(10_000)]
    facts = replace(facts, tables={**facts.tables, "tables": tables(*rows)}, unknown={})
    judgement = judge(prepared(facts, Site(shipped_rules())))
    assert len(judgement.findings) >= 1000
    body = render(view_of(look_at(judgement, facts, 0.0), links=Links("../" * 3, "t" * 64)))
    assert len(body.encode()) < 320_000  # each character of a name takes three in an address; compressed it is a tenth
    assert "10,000 MyISAM tables" in body
    assert "and 987 more" in body
