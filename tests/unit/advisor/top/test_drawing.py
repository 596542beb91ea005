"""Screens of recorded machines and of made-up facts, of every size."""

import re
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.verdict import verdict_of
from myisam_advisor.top.columns import SORTS
from myisam_advisor.top.drawing import Frame, draw
from myisam_advisor.top.moment import Failure, Moment
from myisam_advisor.top.scene import Scene, missing
from myisam_advisor.top.view import FINDINGS, HELP, LIST, STATEMENTS, TABLE, WHY, View
from myisam_advisor.workload.kinds.seen import Gathered, MyisamTables, SeenStatements, Sums, not_told
from tests.support.recorded import RecordedLook

HOSTILE = "x\x1b]0;evil\x07\u202e\ud800\n\ty"
HOT = {"schema_name": "shop", "table_name": "orders", "rows_read_per_second": 1000.0, "rows_changed_per_second": 5.0, "data_bytes": 4096, "index_bytes": 1024, "crashed": 0}


class _Ascii(StringIO):
    encoding = "ascii"


def frame_of(scene: Scene, width: int = 80, height: int = 24, file: StringIO | None = None) -> Frame:
    return draw(Console(file=file or StringIO(), width=width, height=height), scene, width, height)


def text_of(scene: Scene, width: int = 80, height: int = 24, file: StringIO | None = None) -> str:
    return "\n".join("".join(segment.text for segment in line).rstrip() for line in frame_of(scene, width, height, file).lines)


def scene_of(look: RecordedLook, view: View | None = None) -> Scene:
    judgement = look.judgement
    moment = Moment(look.facts, judgement, verdict_of(judgement, look.facts.interval_seconds), 0.0)
    scene = Scene("/run/mysqld/mysqld.sock", view or View(), moment)
    scene.trails.add(look.facts, 1.0)
    return scene


def made_up(*tables: dict[str, object], view: View | None = None, **others: object) -> Scene:
    facts = facts_from_document({"schema": 1, "interval_seconds": 2, "tables": list(tables), **others})
    return Scene("here", view or View(), Moment(facts, Judgement(), verdict_of(Judgement(), 2.0), 0.0))


@pytest.mark.parametrize("page", [LIST, TABLE, FINDINGS, WHY, HELP])
@pytest.mark.parametrize("size", [(40, 10), (41, 11), (52, 14), (79, 23), (80, 24), (120, 40), (250, 90)])
def test_a_screen_has_exactly_its_size(look: RecordedLook, page: str, size: tuple[int, int]) -> None:
    scene = scene_of(look, View(page=page, selected="archive.packed"))
    lines = frame_of(scene, *size).lines
    assert len(lines) == size[1]
    console = Console(file=StringIO())
    assert {sum(segment.cell_length for segment in line) for line in lines} == {size[0]}, console


@pytest.mark.parametrize(("width", "version"), [(80, "10.11.19"), (120, "10.11.19-0+deb12u1")])
def test_how_long_the_server_is_up_has_room_before_the_tail_of_its_version(width: int, version: str) -> None:
    server = {"flavour": "mariadb", "version": "10.11.19-MariaDB-0+deb12u1", "uptime_seconds": 600}
    scene = replace(made_up(HOT, server=server), label="/run/mysqld/mysqld.sock")
    assert text_of(scene, width).splitlines()[0].startswith(f" MariaDB {version} · /run/mysqld/mysqld.sock · up 10 min ")


@pytest.mark.parametrize("size", [(1, 1), (20, 24), (39, 40), (80, 9)])
def test_a_terminal_that_is_too_small_is_told_so(look: RecordedLook, size: tuple[int, int]) -> None:
    scene = scene_of(look)
    assert len(frame_of(scene, *size).lines) == size[1]
    if size[1] > 5:
        assert "too small" in " ".join(text_of(scene, *size).split())


def test_the_list_shows_what_is_known_of_the_busiest_tables_first() -> None:
    cold = HOT | {"table_name": "archive", "rows_read_per_second": 1.0, "rows_changed_per_second": 0.0}
    shown = text_of(made_up(cold, HOT))
    assert re.search(r">shop\.orders +1k +5 ", shown), shown
    assert shown.index("shop.orders") < shown.index("shop.archive")


def test_what_is_not_known_is_a_dash_with_its_reason_and_never_0() -> None:
    scene = made_up(HOT)
    line = next(line for line in text_of(scene).splitlines() if "shop.orders" in line)
    assert line.split()[1:] == ["1k", "5", "-", "-", "-", "-", "5", "KiB"]
    assert "not in the facts file" in text_of(scene)
    assert {"writes/s", "waiting", "memory", "evicted"} <= {label for one in missing(scene) for label in one.labels}


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        ({"rows_changed_per_second": 7.0, "rows_added_per_second": 0.0}, "7"), ({"rows_added_per_second": 3.0}, "3"), ({"rows_added_per_second": -3.0}, "3"),
        ({"rows_added_per_second": 0.0, "write_statements_per_second": 363.0}, "-"), ({"rows_added_per_second": 0.0}, "-"),
        ({"rows_added_per_second": 0.0, "write_statements_per_second": 0.0}, "0"), ({}, "-"),
    ],
)  # fmt: skip
def test_a_table_that_is_updated_without_growing_is_not_said_to_be_unchanged(known: dict[str, float], shown: str) -> None:
    table = {name: value for name, value in HOT.items() if name != "rows_changed_per_second"} | known
    line = next(line for line in text_of(made_up(table)).splitlines() if "shop.orders" in line)
    assert line.split()[2] == shown


def test_one_remedy_is_named_in_the_line_and_all_on_the_page() -> None:
    scene = made_up(HOT)
    assert re.search(r" - running, switches and \d+ more: not in the facts file +w: all of it", text_of(scene).splitlines()[-2])
    assert "evicted" in text_of(replace(scene, view=View(page=WHY)))


@pytest.mark.parametrize("page", [LIST, TABLE])
def test_a_name_cannot_steer_the_terminal(page: str) -> None:
    name = f"shop.`{HOSTILE}`"
    scene = made_up(HOT | {"table_name": HOSTILE}, view=View(page=page, selected=name))
    shown = text_of(scene, 120)
    assert all(letter.isprintable() or letter == "\n" for letter in shown)
    assert "x\\x1b]0;evil" in shown


def test_a_wide_name_is_cut_without_moving_the_columns() -> None:
    lines = text_of(made_up(HOT, HOT | {"table_name": "日本" * 30})).splitlines()
    wide = next(line for line in lines if "日" in line)
    assert wide.endswith("5 KiB")
    assert "…" in wide


def test_a_terminal_of_ascii_letters_gets_ascii_letters(look: RecordedLook) -> None:
    scene = scene_of(look)
    shown = text_of(scene, file=_Ascii())
    assert shown.isascii()
    assert [len(line) for line in shown.splitlines()][:1] == [len(line) for line in text_of(scene).splitlines()][:1]


def test_a_crashed_table_is_red_in_the_list_and_said_on_its_page() -> None:
    scene = made_up(HOT | {"crashed": 1})
    assert "!shop.orders" in text_of(made_up(HOT | {"crashed": 1}, HOT | {"table_name": "busier", "rows_read_per_second": 1e6}))
    styles = [str(segment.style) for line in frame_of(scene).lines for segment in line if "shop.orders" in segment.text]
    assert any("red" in style for style in styles), styles
    assert "marked crashed" in text_of(replace(scene, view=View(page=TABLE, selected="shop.orders")))


def test_of_a_server_that_does_not_answer_the_last_look_stays_with_its_time() -> None:
    scene = replace(made_up(HOT), failure=Failure("cannot connect: gone", 60.0))
    shown = " ".join(text_of(scene).split())
    assert "No answer since" in shown
    assert "cannot connect: gone" in shown
    assert "; below is what was seen at" in shown
    assert "shop.orders" in shown


def test_before_the_first_look_nothing_is_claimed() -> None:
    shown = text_of(Scene("here"))
    assert "The first look at the server is still running." in shown
    assert re.findall(r"\d", "".join(shown.splitlines()[1:])) == []


def test_a_filter_leaves_the_tables_that_hold_it_and_says_so() -> None:
    scene = made_up(HOT, HOT | {"table_name": "log"})
    shown = text_of(replace(scene, view=View(filtered="LOG")))
    assert "shop.orders" not in shown
    assert "/LOG" in shown
    assert "no table's name holds 'nix'" in text_of(replace(scene, view=View(filtered="nix")))


@pytest.mark.parametrize("sort", SORTS)
def test_sorted_by_a_column_what_it_does_not_know_comes_last_whichever_way(sort: str) -> None:
    unknown = {"schema_name": "zzz", "table_name": "unknown", "crashed": 0}
    for backwards in (False, True):
        names = frame_of(made_up(unknown, HOT, view=View(sort=sort, backwards=backwards))).shown.names
        if sort != "table":
            assert list(names) == ["shop.orders", "zzz.unknown"]
    assert list(frame_of(made_up(unknown, HOT, view=View(sort="table", backwards=True))).shown.names) == ["zzz.unknown", "shop.orders"]


def test_of_ten_thousand_tables_those_around_the_selection_are_shown() -> None:
    tables = [HOT | {"table_name": f"t{number:05}", "rows_read_per_second": float(number)} for number in range(10_000)]
    scene = made_up(*tables, view=View(selected="shop.t05000"))
    shown = text_of(scene)
    assert ">shop.t05000" in shown
    assert "10,000 tables" in shown


def test_no_table_is_told_from_none_that_can_be_seen() -> None:
    assert "there is no MyISAM table" in text_of(made_up(totals={"myisam_tables": 0}))
    assert "no MyISAM table can be seen" in text_of(made_up())


def test_a_table_that_went_says_so_on_its_page() -> None:
    assert "shop.gone: this table is not there any more" in text_of(made_up(HOT, view=View(page=TABLE, selected="shop.gone")))


def test_more_key_caches_than_there_is_room_for_are_counted() -> None:
    caches = [{"name": f"c{number}", "size_bytes": 1 << 20, "read_requests_per_second": float(number), "write_requests_per_second": 0.0} for number in range(9)]
    shown = text_of(made_up(HOT, key_cache=caches))
    assert " c8 " in shown
    assert re.search(r" and \d more", shown)


def test_the_key_of_statements_is_named_where_they_are_watched() -> None:
    scene = made_up(HOT)
    assert "statements" not in text_of(scene).splitlines()[-1]
    assert scene.moment is not None
    watched = replace(scene, moment=replace(scene.moment, statements=SeenStatements("a test", 0.0)))
    for page in (LIST, STATEMENTS):
        shown = text_of(replace(watched, view=View(page=page)))
        assert " t statements" in shown.splitlines()[-1]
    assert "watched since just now, reported by a test" in shown


def test_statements_that_could_not_be_told_say_why_and_no_option_of_another_command() -> None:
    scene = made_up(HOT, view=View(page=STATEMENTS))
    assert scene.moment is not None
    shown = text_of(replace(scene, moment=replace(scene.moment, statements=not_told("lost the server."))))
    assert "The statements could not be read: lost the server." in shown
    gathered = Gathered()
    for number in range(12):
        gathered.add(b"SELECT a%d FROM orders" % number, b"shop", Sums(1, 1.0))
    seen = gathered.seen("a test", 10.0, MyisamTables([("shop", "orders")]))
    shown = text_of(replace(scene, moment=replace(scene.moment, statements=seen)), height=80)
    assert "2 further kinds held locks" in shown
    assert "--format" not in shown


def test_a_verdict_that_is_cut_says_so() -> None:
    scene = made_up(HOT)
    assert scene.moment is not None
    words = " ".join(f"word{number}" for number in range(40))
    told = replace(scene.moment.verdict, headline="Held back.", detail=words)
    there = replace(scene, moment=replace(scene.moment, verdict=told))
    cut, whole = (text_of(there, width).splitlines()[1:3] for width in (80, 200))
    assert " ".join("".join(cut).split()).startswith("Held back. word0 word1 word2")
    assert cut[1].endswith("\u2026")
    assert "  " not in cut[1].strip()
    assert len(cut[1]) <= 79
    assert " ".join(" ".join(whole).split()) == f"Held back. {words}"
