"""The map of tables and the list beside it, as words and coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from myisam_advisor.reports.page.links import Links
from myisam_advisor.reports.page.table_map import CRASHED, EVICTED, HEIGHT, HOT, WIDTH, TableMap, Tile, has_header
from myisam_advisor.reports.page.treemap import Rectangle
from myisam_advisor.texts.templates import count, object_name, percent, printable, rate, size, so_many
from myisam_exporter.declaring.lean_dataclasses import dataclass

# What a letter of the map's text takes, in its units; a label that does not fit is left out.
LETTER_WIDTH, LABEL_HEIGHT = 6.6, 15.0
SHOWN_NAME, LONGEST_NAME = 40, 64
FURTHER = "further databases"
GLYPHS = {CRASHED: "✕", HOT: "●", EVICTED: "▽"}
SHADES = ("0", "1", "2", "3", "4", "unknown")
SHADE_NAMES = ("0 to 20 %", "20 to 40 %", "40 to 60 %", "60 to 80 %", "80 to 100 %", "not known")


class Place(NamedTuple):
    """A rectangle in as few letters as it takes."""

    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True, slots=True)
class TileView:
    """A rectangle with what it says."""

    place: Place
    shade: str
    label: str
    glyphs: str
    crashed: bool
    words: str
    address: str


@dataclass(frozen=True, slots=True)
class FrameView:
    """A database's place and, where it has room, its name."""

    place: Place
    label: str


@dataclass(frozen=True, slots=True)
class MapView:
    """The map, its legend and what it shows in a sentence."""

    width: int
    height: int
    tiles: tuple[TileView, ...]
    frames: tuple[FrameView, ...]
    sentence: str
    legend: tuple[tuple[str, str], ...]
    marks: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class TableLine:
    """A table as a line of the list."""

    name: str
    data: str
    index: str
    resident: str
    activity: str
    marks: str
    address: str


def map_view(tables: TableMap, links: Links | None) -> MapView:
    """The map of these tables; each leads to its page, where there are links."""
    tiles: list[TileView] = []
    frames = []
    for schema, place, placed in tables.placed():
        name = _fitting(printable(schema) or FURTHER, place.width) if has_header(place) else ""
        frames.append(FrameView(_short(place), name))
        tiles += (_tile(tile, rectangle, links) for tile, rectangle in placed)
    drawn = sum(len(of_one) for _, of_one in tables.schemas)
    drawn_large = " Crashed tables are drawn large enough to be seen." if tables.marked.get(CRASHED) else ""
    more = f" The {count(drawn)} largest or marked have a rectangle each." if drawn < tables.tables else ""
    return MapView(
        int(WIDTH),
        int(HEIGHT),
        tuple(tiles),
        tuple(frames),
        f"{so_many(tables.tables, 'MyISAM table')}, {size(tables.data_bytes)} of data.{more}{drawn_large}",
        tuple(zip(SHADES, SHADE_NAMES, strict=True)),
        tuple((mark, GLYPHS[mark], count(tables.marked.get(mark))) for mark in GLYPHS),
    )


def table_lines(tables: TableMap, links: Links | None) -> Iterable[TableLine]:
    """The tables that are told one by one."""
    for tile in tables.listed:
        yield TableLine(
            _name(tile, LONGEST_NAME),
            size(tile.data_bytes),
            size(tile.index_bytes),
            percent(tile.resident_share),
            rate(tile.activity_per_second),
            ", ".join(tile.marks),
            _address(tile, links),
        )


def _tile(tile: Tile, place: Rectangle, links: Links | None) -> TileView:
    glyphs = "".join(GLYPHS[mark] for mark in GLYPHS if mark in tile.marks)
    has_room = place.width > LETTER_WIDTH * 1.5 and place.height > LABEL_HEIGHT * 0.8
    label = _label(tile, place, len(glyphs))
    shown_glyphs = glyphs if has_room else ""
    crashed = CRASHED in tile.marks
    return TileView(_short(place), tile.shade, label, shown_glyphs, crashed, _words(tile), _address(tile, links))


def _address(tile: Tile, links: Links | None) -> str:
    """The table's page; of several tables, the list of their database's."""
    if links is None:
        return ""
    if tile.table is not None:
        return links.table(tile.schema, tile.table)
    return links.tables(search=f"{tile.schema}.") if tile.schema else links.tables()


def _label(tile: Tile, place: Rectangle, taken: int) -> str:
    if place.height < LABEL_HEIGHT:
        return ""
    name = printable(tile.table if tile.table is not None else f"{count(tile.tables)} others")
    return _fitting(name, place.width - taken * LETTER_WIDTH)


def _fitting(name: str, width: float) -> str:
    """As much of a name as there is room for; nothing where that would be no name."""
    letters = int((width - 8) / LETTER_WIDTH)
    if letters < 4:
        return ""
    return name if len(name) <= letters else name[: letters - 1] + "…"


def _words(tile: Tile) -> str:
    resident = (
        "share in memory not known" if tile.resident_share is None else f"{percent(tile.resident_share)} in memory"
    )
    active = f", {rate(tile.activity_per_second)} rows read and write statements" if tile.activity_per_second else ""
    marks = "".join(f", {mark}" for mark in tile.marks)
    return f"{_name(tile)}: {size(tile.data_bytes)}, {resident}{active}{marks}"


def _name(tile: Tile, letters: int = SHOWN_NAME) -> str:
    if tile.table is not None:
        return cut_table(tile.schema, tile.table, letters)
    return f"{count(tile.tables)} tables in {cut(tile.schema, letters) or FURTHER}"


def cut_table(schema: str, table: str, letters: int) -> str:
    """A table as SQL takes it; of one with a longer name as much as may be shown, for the eye alone."""
    if max(map(len, map(printable, (schema, table)))) > letters:
        return f"{cut(schema, letters)}.{cut(table, letters)}"
    return printable(object_name(schema, table))


def cut(name: str, letters: int) -> str:
    """A name as it may be shown, no longer than that."""
    shown = printable(name)
    return shown if len(shown) <= letters else shown[: letters - 1] + "…"


def _short(place: Rectangle) -> Place:
    return Place(*(f"{value:.1f}".removesuffix(".0") for value in place))
