"""The tables as a map: area is the data file's size, colour the share of it in the page cache; some tables carry a mark.

A map of ten thousand rectangles is neither seen nor sent: the largest tables and those with a mark have one each, the others one for
each database.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from myisam_advisor.reports.page.treemap import Rectangle, treemap
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactRows

CRASHED, HOT, EVICTED = "crashed", "hot", "evicted"
MAXIMUM_TILES = 200
MAXIMUM_MARKED = 60
LISTED = 25
MAXIMUM_REMAINDERS = 30
HOT_TABLES = 10
HOT_PER_SECOND = 1.0
EVICTED_SHARE = 0.01
WIDTH, HEIGHT = 1000.0, 420.0
GAP = 3.0
# The strip that a database's name takes, where it has room for it.
HEADER, ROOM_FOR_HEADER = 15.0, 70.0
# What must be seen is drawn as large as this share of the map.
VISIBLE_SHARE = {CRASHED: 0.004, HOT: 0.001}
SMALLEST_SHARE = 1 / 20_000
# The columns that tell of each mark.
SOURCES = {
    CRASHED: ("crashed",),
    HOT: ("write_statements_per_second", "rows_read_per_second"),
    EVICTED: ("data_recently_evicted_bytes",),
}


@dataclass(frozen=True, slots=True)
class Tile:
    """A table, or what is left of a database (`tables` of them, without a name). What is not known is None."""

    schema: str
    table: str | None
    data_bytes: int | None
    index_bytes: int | None
    resident_share: float | None
    activity_per_second: float | None = None
    marks: tuple[str, ...] = ()
    tables: int = 1

    @property
    def shade(self) -> str:
        """Which fifth of it is in the page cache: 0 to 4; unknown."""
        return "unknown" if self.resident_share is None else str(min(int(self.resident_share * 5), 4))


@dataclass(frozen=True, slots=True)
class TableMap:
    """What the map shows: databases, each with its tiles. `marked` counts the marks: None where it is not known which tables have one."""

    schemas: tuple[tuple[str, tuple[Tile, ...]], ...]
    tables: int
    data_bytes: int | None
    listed: tuple[Tile, ...]
    marked: dict[str, int | None] = field(default_factory=dict)

    def placed(self) -> Iterator[tuple[str, Rectangle, list[tuple[Tile, Rectangle]]]]:
        """Each database with its place, and its tiles with theirs."""
        total = sum(_size(tile) for _, tiles in self.schemas for tile in tiles)
        weighed = [(schema, _weighed(tiles, total)) for schema, tiles in self.schemas]
        weighed.sort(key=lambda item: sum(weight for weight, _ in item[1]), reverse=True)
        totals = [sum(weight for weight, _ in tiles) for _, tiles in weighed]
        for (schema, tiles), place in zip(weighed, treemap(totals, Rectangle(0.0, 0.0, WIDTH, HEIGHT)), strict=True):
            rectangles = treemap([weight for weight, _ in tiles], _inner(place))
            yield schema, place, [(tile, rectangle) for (_, tile), rectangle in zip(tiles, rectangles, strict=True)]


def has_header(place: Rectangle) -> bool:
    """Whether a database's place has room for its name."""
    return place.width > ROOM_FOR_HEADER and place.height > ROOM_FOR_HEADER


def _inner(place: Rectangle) -> Rectangle:
    header = HEADER if has_header(place) else 0.0
    return Rectangle(
        place.x + GAP / 2,
        place.y + GAP / 2 + header,
        max(place.width - GAP, 0.0),
        max(place.height - GAP - header, 0.0),
    )


def _weighed(tiles: Sequence[Tile], total: int) -> list[tuple[float, Tile]]:
    """The tiles with what they weigh on the map, the heaviest first."""
    weighed = [(_weight(tile, total), tile) for tile in tiles]
    return sorted(weighed, key=lambda item: item[0], reverse=True)


def _weight(tile: Tile, total: int) -> float:
    least = max((VISIBLE_SHARE.get(mark, 0.0) for mark in tile.marks), default=0.0)
    return max(_size(tile), max(least, SMALLEST_SHARE) * total, 1.0)


def table_map(tables: FactRows) -> TableMap:
    """The map of these rows of the fact table `tables`; LISTED of them are told one by one as well."""
    everything = [_tile(row) for row in _rows(tables)]
    hot = _hottest(everything)
    everything = [_marked(tile, HOT) if id(tile) in hot else tile for tile in everything]
    marked = {mark: [tile for tile in everything if mark in tile.marks] for mark in (CRASHED, HOT, EVICTED)}
    chosen: dict[int, Tile] = {}
    for mark in (CRASHED, HOT, EVICTED):
        for tile in heapq.nlargest(MAXIMUM_MARKED, marked[mark], key=_size):
            chosen[id(tile)] = tile
    for tile in heapq.nlargest(MAXIMUM_TILES, everything, key=_size):
        if len(chosen) < MAXIMUM_TILES:
            chosen.setdefault(id(tile), tile)
    tiles = [*chosen.values(), *_remainders(tile for tile in everything if id(tile) not in chosen)]
    return TableMap(
        _by_schema(tiles),
        len(everything),
        _sum(tile.data_bytes for tile in everything),
        tuple(sorted(chosen.values(), key=_rank)[:LISTED]),
        {mark: len(found) if _is_known(mark, tables) else None for mark, found in marked.items()},
    )


def _rows(tables: FactRows) -> Iterable[tuple[Value, ...]]:
    names = ("schema_name", "table_name", "data_bytes", "index_bytes", "data_resident_bytes", "crashed",
             "write_statements_per_second", "rows_read_per_second", "data_recently_evicted_bytes")  # fmt: skip
    return zip(*(tables.values(name) for name in names), strict=True)


def _is_known(mark: str, tables: FactRows) -> bool:
    """Whether any source tells which tables have this mark."""
    return not tables.rows or any(tables.has(column) for column in SOURCES[mark])


def _tile(row: tuple[Value, ...]) -> Tile:
    schema, table, *numbers = row
    data, index, resident, crashed, writes, reads, evicted = map(number_of, numbers)
    share = min(resident / data, 1.0) if resident is not None and data else None
    marks = ((CRASHED,) if crashed else ()) + ((EVICTED,) if evicted and evicted >= EVICTED_SHARE * (data or 0) else ())
    known = [rate for rate in (writes, reads) if rate is not None]
    return Tile(str(schema), str(table), _whole(data), _whole(index), share, sum(known) if known else None, marks)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _sum(sizes: Iterable[int | None]) -> int | None:
    """Unknown when one of them is."""
    known = list(sizes)
    return None if None in known else sum(size for size in known if size is not None)


def _size(tile: Tile) -> int:
    """What it weighs among the others: one of unknown size is drawn as small as can be."""
    return tile.data_bytes or 0


def _rank(tile: Tile) -> tuple[bool, float, int, str, str]:
    """Crashed tables first, then the most active, then the largest."""
    return CRASHED not in tile.marks, -(tile.activity_per_second or 0.0), -_size(tile), tile.schema, str(tile.table)


def _hottest(tiles: Iterable[Tile]) -> set[int]:
    active = [tile for tile in tiles if (tile.activity_per_second or 0.0) >= HOT_PER_SECOND]
    return {id(tile) for tile in heapq.nlargest(HOT_TABLES, active, key=lambda tile: tile.activity_per_second or 0.0)}


def _marked(tile: Tile, mark: str) -> Tile:
    return replace(tile, marks=(*tile.marks, mark))


def _remainders(tiles: Iterable[Tile]) -> list[Tile]:
    """The tables without a tile of their own, one tile a database; the smallest databases as one."""
    by_schema: dict[str, list[Tile]] = {}
    for tile in tiles:
        by_schema.setdefault(tile.schema, []).append(tile)
    ordered = sorted(by_schema.items(), key=lambda item: sum(map(_size, item[1])), reverse=True)
    alone, together = ordered[:MAXIMUM_REMAINDERS], ordered[MAXIMUM_REMAINDERS:]
    rest = [_merged(schema, of_one) for schema, of_one in alone]
    if together:
        rest.append(_merged("", [tile for _, of_one in together for tile in of_one]))
    return rest


def _merged(schema: str, tiles: Sequence[Tile]) -> Tile:
    size = _sum(tile.data_bytes for tile in tiles)
    filled = [tile for tile in tiles if tile.data_bytes]
    known = all(tile.resident_share is not None for tile in filled)
    share = sum((tile.resident_share or 0.0) * _size(tile) for tile in filled) / size if known and size else None
    return Tile(schema, None, size, _sum(tile.index_bytes for tile in tiles), share, tables=len(tiles))


def _by_schema(tiles: Iterable[Tile]) -> tuple[tuple[str, tuple[Tile, ...]], ...]:
    by_schema: dict[str, list[Tile]] = {}
    for tile in tiles:
        by_schema.setdefault(tile.schema, []).append(tile)
    return tuple((schema, tuple(of_one)) for schema, of_one in by_schema.items())
