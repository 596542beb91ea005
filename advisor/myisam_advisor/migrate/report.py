"""The migration as text: what fails, what converts and in which order, what means another thing afterwards, what it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.migrate.change import Change, told_together
from myisam_advisor.migrate.limits import DISK_FULL
from myisam_advisor.migrate.prediction import Migration, Prediction, wanted_cache_bytes
from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.replication import of_replication
from myisam_advisor.migrate.script import foreign_keys_unknown, runs, tables_of
from myisam_advisor.migrate.server_kind import INNODB
from myisam_advisor.migrate.sizes import Range
from myisam_advisor.migrate.times import REPORTED
from myisam_advisor.remedies.script import ESCAPED
from myisam_advisor.texts.drawing import drawn, without_padding
from myisam_advisor.texts.templates import count, duration, object_name, printable, sentence, size
from myisam_advisor.texts.width import WIDEST

PIPED_WIDTH = 120
# What comes after the list is what has to be read: a thousand rows would hide it.
SHOWN_AT_EACH_END = 20
# Of tables that fail for the same reason: more than so many are told together, and so many named.
TOLD_ONE_BY_ONE, NAMED_OF_MANY = 3, 40
UNKNOWN = "not known"
ESCAPED_NAMES = (
    "A character of a name that cannot be seen is written as an escape: the name as it is stands in --format json."
)
ELSEWHERE = "half to four times what another machine took; trial engine measures yours"
# What somebody has to look at, table by table.
NAMED = frozenset({
    "merge-members", "zero-dates", "full-row", "prefix-shortened", "unpacked", "disk-full", "tmpdir-full", "statement-time", "generated-refused",
    "document-numbers", "row-beyond-log", "foreign-key-alive", "float-limit", "counter-beyond", "hash-prefix", "check-refused", "dates-lost",
    "default-lost", "members-misread",
})  # fmt: skip


def as_text(migration: Migration, reader: TextIO | None = None) -> str:
    """For the stream `reader` (None: a file)."""
    return without_padding(drawn(_parts(migration), reader, piped_width=PIPED_WIDTH, maximum_width=WIDEST))


def _parts(migration: Migration) -> Iterable[RenderableType]:
    failing = [one for one in migration.predictions if one.fails]
    by_name = {one.name: one for one in migration.predictions}
    converting = [one for one in map(by_name.__getitem__, migration.order) if runs(one)]
    yield Text(_headline(migration, len(failing)), style="bold")
    for name, why in migration.killed:
        yield Text.assemble((printable(name), "red"), f"  {printable(sentence(why))}")
    if migration.dump_needed:
        yield Text(migration.dump_needed)
    if migration.foreign_keys_unknown:
        yield Text(printable(foreign_keys_unknown(migration)))
    yield from _disk(migration, converting)
    yield from _to_look_at(converting)
    for alike in _alike(failing):
        yield from _failing(alike, migration)
    yield from _failing_there(migration, [one for one in converting if not one.fails])
    if converting:
        # Before the list, which fills screens where there are many: who decides asks how long, and how large.
        yield Text("")
        yield from _costs(migration, converting)
        yield Text("")
        yield Text(
            "In this order: by database, first tables that are small and have not been written for long (which tables one transaction changes is not known).",
            style="bold",
        )
        yield _table(converting)
        yield Text("")
        yield Text("What behaves differently afterwards, although the ALTER succeeds.", style="bold")
        yield from _changes(converting)
    if migration.left_out:
        yield Text("")
        yield Text("Left out, and why:", style="bold")
        for name, why in migration.left_out:
            yield from _shown(sentence(f"{name}: {why}"), 2)
    if any(map(_is_escaped, _texts(migration))):
        yield Text("")
        yield Text(ESCAPED_NAMES)


def _texts(migration: Migration) -> Iterable[str]:
    """Whatever may hold a name."""
    for one in migration.predictions:
        yield object_name(*one.name)
        yield from (text for error in (*one.errors, *one.target_errors) for text in (error.why, error.mend))
        yield from (text for change in one.changes for text in (change.what, change.statement))
    yield from (text for pair in (*migration.killed, *migration.left_out) for text in pair)


def _is_escaped(text: str) -> bool:
    """Whether something in it cannot be seen, so that what is shown is another text."""
    return printable(text) != text


def _shown(text: str, indent: int, style: str = "") -> Iterable[RenderableType]:
    """A text; where it holds a statement that is not what it looks like, this is said below it, as in the script."""
    yield Padding(Text(printable(text), style=style), (0, 0, 0, indent))
    if _is_escaped(text) and ";" in text:
        yield Padding(Text(ESCAPED, style="yellow"), (0, 0, 0, indent))


def _headline(migration: Migration, failing: int) -> str:
    total = len(migration.predictions)
    if not total:
        return "There is no MyISAM table to convert."
    target = f", then {migration.target.label}" if migration.target else ""
    tables = tables_of(total)
    fails = "none fails" if not failing else "1 fails" if failing == 1 else f"{count(failing)} fail"
    there = sum(bool(one.target_errors) for one in migration.predictions)
    by_script = sum(one.fails and runs(one) for one in migration.predictions)
    script = (
        f" Of those that fail the script converts {count(by_script)}, without the options that are refused."
        if by_script
        else ""
    )
    also = f" {migration.target.label} would refuse the ALTER of {there}." if migration.target and there else ""
    return f"{tables} to {migration.to} on {migration.here.label}{target}: {fails}, {count(total - failing)} {'converts' if total - failing == 1 else 'convert'}.{script}{also}"


def _disk(migration: Migration, converting: Sequence[Prediction]) -> Iterable[RenderableType]:
    """That there is no room, before anything else."""
    full = [(one, change) for one in converting for change in one.changes if change.id == DISK_FULL]
    for one, change in full:
        yield Text.assemble((printable(object_name(*one.name)), "red"), f"  {change.what}")
    own = migration.own_disks
    for place, free in (("", migration.disk_free_bytes), *own.items()):
        there = [one for one in converting if (one.name[0] if one.name[0] in own else "") == place]
        more = sum(one.bytes_after[0] - one.contents.total_bytes for one in there if one.bytes_after and one.contents)
        if not full and free is not None and more > free:
            of_it = f" of {printable(object_name(place))}" if place else ""
            yield Text(
                f"Each of them fits on the disk{of_it}, all together do not: they take {size(more)} more in the end, and {size(free)} are free.",
                style="red",
            )


def _to_look_at(converting: Sequence[Prediction]) -> Iterable[RenderableType]:
    """That a table is among those that convert, and yet a row or a setting may stop it: what each means stands far below."""
    found: dict[str, int] = {}
    for one in converting:
        for name in dict.fromkeys(change.id for change in one.changes if change.id in NAMED):
            found[name] = found.get(name, 0) + 1
    if found:
        named = ", ".join(f"{name} ({tables_of(number)})" for name, number in sorted(found.items()))
        yield Text(f"Of those that convert, look first at: {named}. They are explained below the list.", style="yellow")


def _failing_there(migration: Migration, converting: Sequence[Prediction]) -> Iterable[RenderableType]:
    """What converts here, and would not there: each sentence once, with what mends the first."""
    found: dict[str, list[tuple[Prediction, Refusal]]] = {}
    for one in converting:
        for error in one.target_errors:
            found.setdefault(migration.on_target(error), []).append((one, error))
    if found:
        yield Text("")
        yield Text("These convert here, before the upgrade:", style="bold")
    for told, of in found.items():
        tables = ", ".join(printable(object_name(*one.name)) for one, _ in of)
        yield Text.assemble((tables, "yellow"), f"  {printable(told)}")
        yield from _shown(of[0][1].mend, 4, "cyan")


def _alike(failing: Sequence[Prediction]) -> Iterable[Sequence[Prediction]]:
    """Those that fail for the very same reasons, together where they are many: a hundred counters within groups would fill screens."""
    found: dict[object, list[Prediction]] = {}
    for one in failing:
        reasons = tuple((error.code, error.why) for errors in (one.errors, one.target_errors) for error in errors)
        found.setdefault(reasons, []).append(one)
    for of in found.values():
        yield from [of] if len(of) > TOLD_ONE_BY_ONE else ([one] for one in of)


def _failing(alike: Sequence[Prediction], migration: Migration) -> Iterable[RenderableType]:
    one = alike[0]
    names, more = _named(alike)
    of = f"{tables_of(len(alike))}; what mends {object_name(*one.name)} (of the others: --format json)"
    yield Text.assemble((names, "red"), f"{more}  {_now(one) if len(alike) == 1 else printable(of)}")
    for number, error in enumerate(one.errors):
        hidden = "" if number == 0 else " (hidden behind the one before)"
        yield Padding(Text(printable(f"{error.label}{hidden}: {error.why}.")), (0, 0, 0, 2))
        yield from _shown(error.mend, 4, "cyan")
    for error in one.target_errors:
        yield Padding(Text(printable(migration.on_target(error))), (0, 0, 0, 2))
        yield from _shown(error.mend, 4, "cyan")


def _named(tables: Sequence[Prediction]) -> tuple[str, str]:
    """Their names, and how many more there are than are named."""
    more = f" and {count(len(tables) - NAMED_OF_MANY)} more" if len(tables) > NAMED_OF_MANY else ""
    return ", ".join(printable(object_name(*one.name)) for one in tables[:NAMED_OF_MANY]), more


def _now(one: Prediction) -> str:
    return size(one.contents.total_bytes) if one.contents else one.structure.engine


def _table(converting: Sequence[Prediction]) -> Table:
    drawn_table = Table(box=None, pad_edge=False, header_style="dim")
    drawn_table.add_column("table", overflow="fold")
    for title in ("now", "after", "lasts"):
        drawn_table.add_column(title, justify="right", no_wrap=True)
    # In the order small ones come first and large ones last: between them lie those that tell least.
    between = len(converting) - SHOWN_AT_EACH_END * 2
    shown = converting if between <= SHOWN_AT_EACH_END else converting[:SHOWN_AT_EACH_END]
    rest = converting[len(shown) :][-SHOWN_AT_EACH_END:]
    for one in shown:
        drawn_table.add_row(*_row(one))
    if rest:
        drawn_table.add_row(f"... {count(between)} more between these: --format json has all", "", "", "")
    for one in rest:
        drawn_table.add_row(*_row(one))
    return drawn_table


def _row(one: Prediction) -> tuple[str, ...]:
    return printable(object_name(*one.name)), _now(one), _range(one.bytes_after, size), _lasts(one)


def _range(ends: Range | None, say: Callable[[float], str]) -> str:
    if ends is None:
        return UNKNOWN
    low, high = (say(end) for end in ends)
    return low if low == high else f"{low} to {high}"


def _lasts(one: Prediction) -> str:
    if one.lasting is not None and one.lasting.most is None:
        return f"at least {duration(one.lasting.least)}"
    return _range(one.seconds, duration)


def _changes(converting: Iterable[Prediction]) -> Iterable[RenderableType]:
    """Each kind and sentence once, with the tables that it is of and a statement of the first; what is to be looked at table by table before what holds for all."""
    found: dict[tuple[str, str], list[tuple[Prediction, Change]]] = {}
    for one in converting:
        for change in told_together(one.changes):
            same = found.setdefault((change.id, change.what), [])
            if not same or same[-1][0] is not one:
                same.append((one, change))
    for (name, _), of in sorted(found.items(), key=lambda kind: kind[0][0] not in NAMED):
        change = of[0][1]
        named = len(of) == 1 or name in NAMED
        tables = "".join(_named([one for one, _ in of])) if named else tables_of(len(of))
        yield Text.assemble((name, "yellow"), f"  {tables}: {printable(change.what)}")
        if change.statement:
            yield from _shown(change.statement, 4, "dim")


def _time(converting: list[Prediction]) -> str:
    """All of them together, by which rates, and why of some only the least time is known."""
    known = [one.lasting for one in converting if one.lasting]
    most = [one.most for one in known if one.most is not None]
    said = UNKNOWN
    if known:
        least = duration(sum(one.least for one in known))
        said = f"{least} to {duration(sum(most))}" if len(most) == len(converting) else f"at least {least}"
    here = sorted({one.lasting.measured for one in converting if one.lasting and one.lasting.measured})
    if known:
        passed_over = [one.passed_over for one in known if one.passed_over][:1]
        said += f" ({', '.join(here) if here else '; '.join((ELSEWHERE, *passed_over))})"
    open_ended = [(one, one.lasting.why) for one in converting if one.lasting and one.lasting.why]
    if open_ended:
        longest, why = max(open_ended, key=lambda pair: pair[0].contents.total_bytes if pair[0].contents else 0)
        of_them = "of one table" if len(open_ended) == 1 else f"of {len(open_ended)} tables"
        name = printable(object_name(*longest.name))
        said += f"; {of_them} only the least time is known, as that was not measured ({REPORTED}): of {name} {why}"
    return said


def _costs(migration: Migration, converting: list[Prediction]) -> Iterable[RenderableType]:
    low, high = wanted_cache_bytes(converting)
    largest = max((one.bytes_after[1] for one in converting if one.bytes_after), default=0.0)
    yield Text("What it takes.", style="bold")
    yield Text(
        f"Time: {_time(converting)}. Each table is locked against writes while it is copied; reads continue until the last moment."
    )
    free = (
        f"; {size(migration.disk_free_bytes)} are free"
        if migration.disk_free_bytes is not None
        else "; how much is free is not known here"
    )
    yield Text(
        f"Disk: up to {size(largest)} at once beside the old files (the largest table), {_range((low, high), size)} in the end{free}."
    )
    for said in of_replication(migration.here, is_replica=migration.is_replica):
        yield Text(f"Replication: {said}".replace("\n", " "))
    cache = "innodb_buffer_pool_size" if migration.to == INNODB else "aria_pagecache_buffer_size"
    now = f"{size(migration.cache_bytes)} now" if migration.cache_bytes is not None else "its present size is not known"
    key = (
        f" key_buffer_size ({size(migration.key_buffer_bytes)}) may give back what their indexes took."
        if migration.key_buffer_bytes is not None
        else ""
    )
    yield Text(
        f"Memory: {cache} ({now}) would have to grow by up to {size(high)} to hold all of them; room for what is read often is enough.{key}"
    )
