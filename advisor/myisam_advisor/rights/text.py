"""What `rights` prints: who looks, a line for each thing to see, why what is not seen is not, and what would show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from myisam_advisor.rights.drop_in import FOREIGN
from myisam_advisor.rights.recipe import Recipe
from myisam_advisor.rights.sights import HIDDEN, NO_MATTER_OF_RIGHTS, NOT_HERE, NOT_KNOWN, OFF, SEEN, Sight, all_seen
from myisam_advisor.texts.drawing import drawn, without_padding
from myisam_advisor.texts.templates import printable
from myisam_advisor.texts.width import UNFOLDED, WIDEST
from myisam_exporter.server.account import with_reason

STYLES = {SEEN: "green", HIDDEN: "red", OFF: "yellow", NOT_HERE: "dim", NOT_KNOWN: "yellow"}
APPLY = "sudo myisam-advisor rights --apply"


def rights_as_text(who: str, sights: Sequence[Sight], recipe: Recipe | None, reader: TextIO | None = None) -> str:
    """All of it, for the stream `reader` (None: a file)."""
    parts = ([Text(printable(who), style="bold"), *_lines(sights)], [*_reasons(sights)], [*_ways(sights, recipe)])
    return "\n".join(_drawn(part, reader) for part in parts if part)


def recipe_as_text(recipe: Recipe, reader: TextIO | None) -> str:
    """Exactly what is going to be done."""
    return _drawn(_steps(recipe), reader)


def _drawn(parts: Iterable[RenderableType], reader: TextIO | None) -> str:
    """A line that is to be copied is left whole: the terminal breaks what is wider."""
    texts = (
        drawn(
            [part],
            reader,
            piped_width=UNFOLDED,
            maximum_width=WIDEST,
            soft_wrap=isinstance(part, Text) and bool(part.no_wrap),
        )
        for part in parts
    )
    return without_padding("".join(texts))


def _lines(sights: Sequence[Sight]) -> Iterator[RenderableType]:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for width in (max(map(len, STYLES)), max(len(sight.title) for sight in sights)):
        grid.add_column(no_wrap=True, min_width=width)
    grid.add_column(overflow="fold")
    for sight in sights:
        style = "dim" if sight.state in NO_MATTER_OF_RIGHTS else ""
        grid.add_row(
            Text(sight.state, style=STYLES[sight.state]),
            Text(sight.title, style=style),
            Text(sight.brings, style=style),
        )
    yield grid


def _reasons(sights: Sequence[Sight]) -> Iterator[RenderableType]:
    """Each reason once, with all that it hides."""
    found: dict[str, list[str]] = {}
    for sight in sights:
        if sight.state == HIDDEN and sight.reason:
            found.setdefault(sight.reason, []).append(sight.title)
    for reason, titles in found.items():
        yield Text(f"{', '.join(titles)}: {printable(reason)}")
    for sight in sights:
        if sight.state == OFF:
            yield Text(
                f"{sight.title} (no right can show it): {printable(sight.reason)}. To see it: {printable(sight.remedy)}"
            )


def _ways(sights: Sequence[Sight], recipe: Recipe | None) -> Iterator[RenderableType]:
    if all_seen(list(sights)):
        off = any(sight.state == OFF for sight in sights)
        yield Text(f"Everything that exists here{' and is switched on' if off else ''} can be seen.", style="bold")
        if recipe is not None and recipe.is_needed:
            yield Text(f"{recipe.path} was made by another version of this program: {APPLY} renews it.", style="bold")
            yield from _steps(recipe)
        return
    if recipe is None:
        remedies = dict.fromkeys(sight.remedy for sight in sights if sight.state == HIDDEN and sight.remedy)
        yield from (Text("To see it:", style="bold") for _ in list(remedies)[:1])
        for remedy in remedies:
            yield Text(f"- {printable(remedy)}", style="cyan")
        return
    if recipe.is_needed:
        yield Text(f"To see it: {APPLY} does the following, and --undo reverts it.", style="bold")
    else:
        yield Text(
            "The service has every right that it can be given: what cannot be seen has another cause.", style="bold"
        )
    yield from _steps(recipe)


def _steps(recipe: Recipe) -> Iterator[RenderableType]:
    if recipe.drop_in:
        yield _whole(f"write {printable(str(recipe.path))}", "bold")
        if recipe.replaces == FOREIGN:
            yield Text("in place of this file, which somebody else wrote; it is kept beside the new one:")
            yield from _block((recipe.present or "(no plain file)").splitlines())
            yield Text("the new one:")
        yield from _block(recipe.drop_in.splitlines())
    if recipe.steps:
        yield Text("in the server, as an administrator:", style="bold")
        yield from _block([with_reason(step) for step in recipe.steps])
    if recipe.account_problem:
        yield Text(f"the account: {printable(recipe.account_problem)}")
    if recipe.restarts:
        yield Text("then:", style="bold")
        yield from _block(recipe.restart_lines)


def _block(lines: Iterable[str]) -> Iterator[RenderableType]:
    """Lines to be copied: none of them is broken."""
    for line in lines:
        yield _whole(f"  {printable(line)}", "cyan")


def _whole(line: str, style: str) -> Text:
    return Text(line, style=style, no_wrap=True)
