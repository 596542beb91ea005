"""A scene as lines of a terminal, of any size. Names from outside are made harmless here, whatever they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from myisam_advisor.texts.bars import BARS
from myisam_advisor.texts.drawing import TONES
from myisam_advisor.texts.templates import printable, so_many
from myisam_advisor.top.columns import BY_NAME, BY_NO_COLUMN, COLUMNS, Column
from myisam_advisor.top.pages import Part, page
from myisam_advisor.top.scene import (
    CACHE_HEADINGS,
    Scene,
    ShownGauge,
    caches,
    findings_in_short,
    gauges,
    missing,
    moment_of,
    names,
    places,
    said,
    table,
    title,
)
from myisam_advisor.top.sparks import spark
from myisam_advisor.top.view import LIST, Shown, place_of
from myisam_exporter.declaring.lean_dataclasses import dataclass

MINIMUM_WIDTH, MINIMUM_HEIGHT = 40, 10
NAME_WIDTH = 20
LABEL_WIDTH, VALUE_WIDTH = 10, 10
VERDICT_LINES = 2
NAMED_IN_NOTE = 2
KEYS_OF_LIST = (
    ("q", "quit"), ("?", "help"), ("s", "sort"), ("/", "filter"), ("p", "pause"), ("Enter", "table"), ("f", "findings"),
)  # fmt: skip
KEYS_OF_TEXT = (("Esc", "back"), ("up/down", "scroll"), ("f", "findings"), ("w", "why"), ("?", "help"), ("q", "quit"))
# Where they are watched.
KEY_OF_STATEMENTS = ("t", "statements")
TITLE, HEADING = "bold reverse", "bold cyan underline"
# For a terminal whose letters are ASCII: one for one, so that nothing moves.
_PLAIN = {"·": "-", "…": "~", "▼": "v", "▲": "^", "→": ">", **dict(zip(BARS, "_.:-=+*#", strict=True))}
_TO_PLAIN = str.maketrans(_PLAIN)


@dataclass(frozen=True, slots=True)
class Frame:
    """The lines of a screen, and what keys move in there."""

    lines: Sequence[Sequence[Segment]]
    shown: Shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, line in enumerate(self.lines):
            if number:
                yield Segment.line()
            yield from line


def draw(console: Console, scene: Scene, width: int, height: int) -> Frame:
    """A screen of exactly this size."""
    if width < MINIMUM_WIDTH or height < MINIMUM_HEIGHT:
        return _too_small(console, width, height)
    pen = _Pen(console, width)
    above = [
        *pen.lines(_title(scene, width)),
        *pen.lines(_said(scene, pen, VERDICT_LINES + (scene.failure is not None))),
    ]
    below = [*pen.lines(_note(scene, width), 1), *([] if scene.still else pen.lines(_footer(scene, width), 1))]
    if scene.view.page == LIST:
        above += _numbers(scene, pen, height - len(above) - len(below))
        room = height - len(above) - len(below)
        middle, shown = _list(scene, pen, room)
    else:
        room = height - len(above) - len(below)
        middle, shown = _text(scene, pen, room)
    blank = [[Segment(" " * width)]] * max(room - len(middle), 0)
    return Frame([*above, *middle, *blank, *below][:height], shown)


class _Pen:
    """Makes lines of this width of whatever rich draws."""

    def __init__(self, console: Console, width: int) -> None:
        self.console, self.width = console, width
        self._options = console.options.update(width=width, height=None, highlight=False, markup=False)
        self._is_plain = self._options.ascii_only

    def lines(self, part: RenderableType | None, most: int | None = None) -> list[list[Segment]]:
        """Its lines, the first `most` of them; none of None."""
        if part is None:
            return []
        drawn = self.console.render_lines(part, self._options)[:most]
        return [[self._spoken(segment) for segment in line] for line in drawn] if self._is_plain else drawn

    def _spoken(self, segment: Segment) -> Segment:
        """In letters that the terminal has; another one is as many question marks as it is wide."""
        text = segment.text.translate(_TO_PLAIN)
        spoken = "".join(letter if letter.isascii() else "?" * cell_len(letter) for letter in text)
        return Segment(spoken, segment.style, segment.control)


def _too_small(console: Console, width: int, height: int) -> Frame:
    said = Text(f"too small: {width} by {height}; at least {MINIMUM_WIDTH} by {MINIMUM_HEIGHT} are needed. q quits.")
    lines = _Pen(console, width).lines(said)
    lines += [[Segment(" " * width)]] * max(height - len(lines), 0)
    return Frame(lines[:height], Shown((), 1, 0))


def _clean(text: str) -> str:
    return printable(" ".join(text.split()))


def _one_line(text: Text | str, style: str = "") -> Text:
    line = Text(f" {_clean(text)}", style=style) if isinstance(text, str) else text
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _apart(left: Text, right: Text, width: int) -> Text:
    """Two texts at the two ends of a line; the left one gives way."""
    room = max(width - right.cell_len - 1, 0)
    left.truncate(room, overflow="ellipsis", pad=True)
    return Text.assemble(left, " ", right, no_wrap=True, overflow="crop")


def _title(scene: Scene, width: int) -> Text:
    moment = Text(f"{moment_of(scene)} ")
    whole = Text(f" {_clean(title(scene))}")
    # The version's tail tells less than how long the server has been up.
    has_room = whole.cell_len + 1 + moment.cell_len <= width
    line = _apart(whole if has_room else Text(f" {_clean(title(scene, short=True))}"), moment, width)
    line.stylize(TITLE)
    return line


def _said(scene: Scene, pen: _Pen, most: int) -> RenderableType:
    """The verdict in so many lines at most; what has no room is told to be left out."""
    verdict = said(scene)
    text = Text(_clean(verdict.headline), style=TONES[verdict.tone])
    if verdict.detail:
        text.append(f" {_clean(verdict.detail)}", style="not bold default")
    lines = list(text.wrap(pen.console, pen.width - 2))
    if len(lines) > most:
        for line in lines[most - 1 :]:
            line.rstrip()
        last = Text(" ").join(lines[most - 1 :])
        last.truncate(pen.width - 2, overflow="ellipsis")
        lines[most - 1 :] = [last]
    return Padding(Text("\n").join(lines), (0, 1))


def _note(scene: Scene, width: int) -> Text | None:
    """Why a number is a dash, in one line."""
    found = missing(scene)
    if not found:
        return None
    labels, reason = found[0].labels, found[0].reason
    named = ", ".join(labels[:NAMED_IN_NOTE]) + (
        f" and {len(labels) - NAMED_IN_NOTE} more" if len(labels) > NAMED_IN_NOTE else ""
    )
    remedy = f" → {reason.remedy}" if reason.remedy else ""
    more = "" if scene.still else f"w: {len(found) - 1} more " if len(found) > 1 else "w: all of it "
    return _apart(Text(f" - {_clean(named)}: {_clean(reason.reason + remedy)}", "yellow"), Text(more, "bold"), width)


def _footer(scene: Scene, width: int) -> Text:
    view = scene.view
    if view.typing is not None:
        return _one_line(
            Text.assemble(
                ("show tables whose name holds: ", "bold"), _clean(view.typing), ("_", "blink"), ("  Enter, Esc", "dim")
            )
        )
    words = Text()
    keys = KEYS_OF_LIST if view.page == LIST else KEYS_OF_TEXT
    is_watched = scene.moment is not None and scene.moment.statements is not None
    for key, what in (*keys, KEY_OF_STATEMENTS) if is_watched else keys:
        words.append(f" {key}", "bold")
        words.append(f" {what}")
    beside = _beside_the_keys(scene, width - words.cell_len - 3)
    return _apart(words, Text(f"{beside} ", style="dim"), width)


def _beside_the_keys(scene: Scene, room: int) -> str:
    """How many findings and tables there are, as far as there is room."""
    listed = len(names(scene))
    tables = so_many(listed, "table") if scene.tables is not None else ""
    both = " · ".join(filter(None, (findings_in_short(scene), tables)))
    return both if len(both) <= room else tables if len(tables) <= room else ""


def _numbers(scene: Scene, pen: _Pen, room: int) -> list[list[Segment]]:
    """The gauges and the key caches, as far as they leave room for tables."""
    shown = gauges(scene)
    beside = 3 if pen.width >= 78 else 2 if pen.width >= 52 else 1
    rows = [shown[start : start + beside] for start in range(0, len(shown), beside)]
    lines = pen.lines(Group(*(_gauge_row(row, pen.width // beside) for row in rows[: max(room // 4, 1)])))
    known = caches(scene)
    if room - len(lines) >= 7:
        lines += pen.lines(_cache_table(scene, pen.width, max((room - len(lines)) // 5, 1))) if known else []
    return lines


def _gauge_row(row: Sequence[ShownGauge], width: int) -> Text:
    line = Text(no_wrap=True, overflow="crop")
    for gauge in row:
        line.append(f" {gauge.label:<{LABEL_WIDTH}}", "dim")
        line.append(f"{gauge.value:>{VALUE_WIDTH}} ", "bold")
        line.append(spark(gauge.points, max(width - LABEL_WIDTH - VALUE_WIDTH - 3, 0), gauge.highest), "cyan")
        line.append(" ")
    return line


def _grid(width: int) -> Table:
    return Table(
        box=None,
        width=width,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        header_style=HEADING,
        collapse_padding=True,
    )


def _cache_table(scene: Scene, width: int, most: int) -> Table:
    known = caches(scene)
    grid = _grid(width)
    curve = max(width - NAME_WIDTH - 9 * len(CACHE_HEADINGS) - 4, 0)
    cells = CACHE_HEADINGS[: len(CACHE_HEADINGS) if width >= 78 else 4 if width >= 52 else 2]
    grid.add_column(_one_line("key cache"), no_wrap=True, overflow="ellipsis", ratio=1)
    for heading in cells:
        grid.add_column(
            heading, justify="right", no_wrap=True, overflow="ellipsis", width=9 if heading == "written/s" else 8
        )
    if curve >= 5:
        grid.add_column("asked", justify="right", no_wrap=True, overflow="crop", width=curve)
    for cache in known[:most]:
        row: list[RenderableType] = [_one_line(cache.name), *(_cell(cell) for cell in cache.cells[: len(cells)])]
        grid.add_row(*row, *([Text(spark(cache.points, curve), style="cyan")] if curve >= 5 else []))
    if len(known) > most:
        grid.add_row(_one_line(f"and {len(known) - most} more", "dim"))
    return grid


def _cell(text: str) -> Text:
    return Text(text, style="dim" if text in ("0", "-", "0 B") else "")


def _columns(width: int) -> list[Column]:
    """Those that there is room for beside the name."""
    chosen = list(COLUMNS)
    while chosen and NAME_WIDTH + sum(column.width + 1 for column in chosen) > width:
        chosen.remove(max(chosen, key=lambda column: column.first_to_go))
    return chosen


def _list(scene: Scene, pen: _Pen, room: int) -> tuple[list[list[Segment]], Shown]:
    known, columns, rows = names(scene), _columns(pen.width), max(room - 1, 0)
    at = place_of(scene.view, known)
    first = max(0, min(at - rows // 2, len(known) - rows))
    grid = _grid(pen.width)
    grid.add_column(_heading(scene), no_wrap=True, overflow="ellipsis", ratio=1)
    arrow = "▲" if scene.view.backwards else "▼"
    for column in columns:
        sorted_by = column.heading == scene.view.sort
        heading = f"{arrow}{column.heading}"[: column.width] if sorted_by else column.heading
        grid.add_column(heading, justify="right", no_wrap=True, overflow="ellipsis", width=column.width)
    for place in range(first, min(first + rows, len(known))):
        _add_table(grid, scene, place, place == at and not scene.still, columns)
    lines = pen.lines(grid)[:room]
    if not known:
        lines += pen.lines(_one_line(_why_no_table(scene), "dim"), 1) if room > len(lines) else []
    return lines, Shown(known, rows, 0)


def _add_table(grid: Table, scene: Scene, place: int, chosen: bool, columns: Sequence[Column]) -> None:
    rows = scene.tables
    if rows is None:
        return
    one = table(rows, places(scene)[place], columns)
    mark = ">" if chosen else "!" if one.crashed else " "
    name = Text(f"{mark}{_clean(one.name)}", no_wrap=True, overflow="ellipsis")
    if one.crashed:
        name.stylize("bold red")
    grid.add_row(name, *map(_cell, one.cells), style="reverse" if chosen else "")


def _heading(scene: Scene) -> Text:
    """What the list is of, and what it is sorted by where no column says it."""
    view = scene.view
    arrow = "▲" if view.backwards else "▼"
    order = "" if view.sort not in BY_NO_COLUMN else f" {arrow}" if view.sort == BY_NAME else f" {arrow}{view.sort}"
    filtered = f" /{view.filtered}" if view.filtered else ""
    return _one_line(f"table{filtered}{order}")


def _why_no_table(scene: Scene) -> str:
    if scene.tables is None:
        return ""
    if scene.tables.rows:
        return f"no table's name holds {scene.view.filtered if scene.view.typing is None else scene.view.typing!r} (Esc shows all)"
    facts = scene.facts
    none = facts is not None and facts.single("totals").get("myisam_tables") == 0
    return "there is no MyISAM table" if none else "no MyISAM table can be seen"


def _text(scene: Scene, pen: _Pen, room: int) -> tuple[list[list[Segment]], Shown]:
    lines = [line for part in page(scene) for line in pen.lines(Group(*_part(part)))]
    first = max(0, min(scene.view.scrolled, len(lines) - room))
    return lines[first : first + room], Shown(names(scene), room, len(lines))


def _part(part: Part) -> Iterable[RenderableType]:
    yield Text(f" {_clean(part.heading)}", style=TONES.get(part.tone, "bold"))
    for paragraph in part.paragraphs:
        yield Padding(Text(_clean(paragraph)), (0, 1, 0, 3))
    if part.pairs:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column(ratio=1, overflow="fold")
        for label, text in part.pairs:
            grid.add_row(_clean(label), Text("\n".join(map(_clean, text.split("\n")))))
        yield Padding(grid, (0, 0, 0, 3))
    if part.grid:
        yield Padding(_index_grid(part.grid), (0, 0, 0, 3))
    yield Text()


def _index_grid(rows: Sequence[Sequence[str]]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for number, row in enumerate(rows):
        grid.add_row(*(Text(_clean(cell), style="dim" if number == 0 else "") for cell in row))
    return grid
