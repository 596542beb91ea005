"""What stands in the way of InnoDB for one table, what it would weigh there, and what has to change around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from myisam_advisor.catalogue.innodb_pages import sort_file_bytes
from myisam_advisor.catalogue.measured import rebuild_rates_for
from myisam_advisor.remedies.engine_change import UNSORTED_COPIES
from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned
from myisam_advisor.remedies.rebuild_times import lasts_into_innodb
from myisam_advisor.remedies.refused_conversions import migrate_line
from myisam_advisor.remedies.statements.tables import AlterTable, TableOption, option
from myisam_advisor.remedies.table_sizes import innodb_size
from myisam_advisor.texts.templates import object_name, printable, size
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import number_of

# First versions with InnoDB's own: (MySQL, MariaDB). Longer index prefixes: innodb_large_prefix by default.
FULLTEXT_FROM, SPATIAL_FROM, LONG_KEYS_FROM = (50600, 100005), (50705, 100202), (50707, 100202)
KEY_BLOCK_SIZE_FROM = 50110  # the option of a table: manual, "CREATE TABLE"
SHORT_KEY_BYTES, LONG_KEY_BYTES = 767, 3072
ROW_POINTER_BYTES = 8
# Of a switch that may be a word or a number.
ON, OFF = ("ON", "1"), ("OFF", "0")
NOTHING_CONVERTED = "No statement is given here: what was changed in the application is changed back there."
# Fewer are no whole answer: MySQL 5.5 without InnoDB has 270.
VARIABLES_OF_A_SERVER = 100


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """Blockers, size, and the list of what to change after; the statement only where nothing stands in its way."""
    schema, table = str(row["schema_name"]), str(row["table_name"])
    indexes = context.known.indexes_of(schema, table)
    # All that is known of the table, its holes among it: the plan's line beside it reckons so, too.
    whole = context.known.tables_by_name.get((schema, table), row)
    innodb_bytes = innodb_size(whole, indexes, sorts_copies=context.known.sorts_copies)
    refusals = context.known.conversions.of(schema, table)
    # What is read in the definition is told by number, and in the place of what the facts let one suppose.
    blockers = [*(refusals or _blockers(row, indexes, context)), *_disk(schema, innodb_bytes, context)]
    return Plan(
        {
            "innodb_bytes": innodb_bytes,
            "blockers": f"Obstacles: {'; '.join(blockers)}." if blockers else "",
            "advice": " ".join(_advice(schema, table, bool(blockers), refusals, innodb_bytes, indexes, context)),
            "price": _price_of_preparing(schema, table, context)
            if blockers
            else _price(innodb_bytes, _lasts(row, context)),
            "way_back": NOTHING_CONVERTED if blockers else "",
        },
        commands=() if blockers else (_conversion(schema, table, context),),
        undo_commands=() if blockers else (_way_back(schema, table, row),),
    )


def _conversion(schema: str, table: str, context: PlanContext) -> AlterTable:
    """The ALTER, without what the table's definition keeps for MyISAM: innodb_strict_mode refuses ROW_FORMAT=FIXED, and with Antelope files DYNAMIC too."""
    options: tuple[TableOption, ...] = (option(ENGINE="InnoDB"), option(ROW_FORMAT="DEFAULT"))
    if context.version_number is None or context.version_number >= KEY_BLOCK_SIZE_FROM:
        options += (option(KEY_BLOCK_SIZE=0),)
    # Its words want the write off the read path first, and then a copy: no report has it as a line that runs.
    return AlterTable((schema, table), options, is_offered=True)


def _way_back(schema: str, table: str, row: Mapping[str, Value]) -> AlterTable:
    """The ALTER that makes it MyISAM again. Rows of fixed length want to be asked for where a column could vary."""
    fixed = (option(ROW_FORMAT="FIXED"),) if row.get("row_format") == "fixed" else ()
    return AlterTable((schema, table), (option(ENGINE="MyISAM"), *fixed), is_offered=True)


def _blockers(row: Mapping[str, Value], indexes: Sequence[Row], context: PlanContext) -> Iterable[str]:
    """What the ALTER would fail on, or change in silence."""
    kinds = {index["algorithm"] for index in indexes}
    if "fulltext" in kinds and not _since(FULLTEXT_FROM, context):
        yield "a FULLTEXT index, which InnoDB supports only from MySQL 5.6 and MariaDB 10.0.5 on"
    if "rtree" in kinds and not _since(SPATIAL_FROM, context):
        yield "a SPATIAL index, which InnoDB supports only from MySQL 5.7.5 and MariaDB 10.2.2 on"
    if row.get("auto_increment_within_index") == 1:
        yield "AUTO_INCREMENT counts within a group (it is not the first column of its index), which InnoDB refuses"
    limit = LONG_KEY_BYTES if _since(LONG_KEYS_FROM, context) else SHORT_KEY_BYTES
    longest = max((_entry_bytes(index) for index in indexes if _has_long_part(index, limit)), default=None)
    if longest is not None:
        yield f"an index entry of up to {int(longest)} bytes: a column's part may have {limit}"
    if str(context.variable("have_innodb") or "YES").upper() != "YES":
        yield "InnoDB is switched off (have_innodb)"
    elif _lacks_innodb(context):
        yield "InnoDB is switched off (the server has none of its variables)"


def _entry_bytes(index: Row) -> float:
    return number_of(index["maximum_key_bytes"]) or 0.0


def _has_long_part(index: Row, limit: int) -> bool:
    """Whether one of its columns surely has more: which part of an entry is whose, nothing tells here."""
    if index["algorithm"] not in ("btree", None):
        return False
    return _entry_bytes(index) - ROW_POINTER_BYTES > limit * (number_of(index["key_parts"]) or 1)


def _lacks_innodb(context: PlanContext) -> bool:
    """Whether the server told its variables, and none of InnoDB's: have_innodb is in MySQL 5.5 alone."""
    names = context.known.variables
    return len(names) >= VARIABLES_OF_A_SERVER and not any(name.startswith("innodb_") for name in names)


def _disk(schema: str, innodb_bytes: int | None, context: PlanContext) -> Iterable[str]:
    free = number_of(context.known.disk_of(schema).get("data_directory_free_bytes"))
    if innodb_bytes is not None and free is not None and innodb_bytes > free:
        yield f"the copy needs about {size(innodb_bytes)}, and the disk has {size(free)} free"
    temporary = number_of(context.known.all.single("host").get("temporary_directory_free_bytes"))
    sorted_bytes = sort_file_bytes(innodb_bytes or 0) if context.known.sorts_copies else 0
    if temporary is not None and sorted_bytes > temporary:
        yield (
            f"the copy is sorted in files of tmpdir, of up to {size(sorted_bytes)}, and {size(temporary)} are free there (error 1296): make room there, "
            f"or {UNSORTED_COPIES}"
        )


def _since(versions: tuple[int, int], context: PlanContext) -> bool:
    """Unknown versions count as recent: the ALTER would say so at once, and change nothing."""
    wanted = versions[1] if context.is_mariadb else versions[0]
    return (context.version_number or wanted) >= wanted


def _advice(
    schema: str, table: str, blocked: bool, refusals: Sequence[str] | None, innodb_bytes: int | None, indexes: Sequence[Row],
    context: PlanContext,
) -> Iterable[str]:  # fmt: skip
    yield "First take the write off the read path (move a counter to a table of its own, and write it in batches): that helps at once, and converts no table."
    name = object_name(schema, table)
    together = _written_together(name, context)
    alone = "" if together else " one table at a time"
    yield f"Only then {'remove the obstacles and ' if blocked else ''}convert{alone}, on a copy first, and measure it under its load."
    if together:
        yield together
    if context.known.hosting.on_linux:
        yield from _looked_at(schema, table, refusals, context)
    pool = context.variable("innodb_buffer_pool_size")
    if innodb_bytes is not None:
        has = f" ({size(pool)} for everything)" if isinstance(pool, int | float) else ""
        yield f"In InnoDB it takes about {size(innodb_bytes)}."
        yield f"The part in use must then fit into the buffer pool{has}, no longer into the page cache."
    yield f"Each statement becomes a transaction, with a commit that makes it durable: {_durability(context)}."
    yield "Afterwards: COUNT(*) without WHERE becomes a scan;"
    if _since(FULLTEXT_FROM, context) and any(index["algorithm"] == "fulltext" for index in indexes):
        yield "FULLTEXT finds words by innodb_ft_min_token_size (3) instead of ft_min_word_len (4), with other stop words;"
    if not any(index["is_unique"] for index in indexes):
        yield "add a PRIMARY KEY, or InnoDB creates a hidden one;"
    yield "deadlocks and lock wait timeouts end statements, and the application must repeat them; LOCK TABLES and DDL commit implicitly; a copy of the files is not a backup."


def _looked_at(schema: str, table: str, refusals: Sequence[str] | None, context: PlanContext) -> Iterable[str]:
    """What reads the table's files first, where somebody can."""
    yield f"Before that, run `{migrate_line(schema, table)}`."
    if refusals is None:
        yield f"It says what breaks, what to do first, and what this server refuses to convert{_refused(context)}: nobody could look for that here."
    else:
        yield f"It says {'how to remove what the server refuses' if refusals else 'what to do first'}, and what breaks."


def _refused(context: PlanContext) -> str:
    """An example of what no fact tells. Tried on MariaDB 10.11: such an ALTER ends at once, with error 4120."""
    return " (a table with SYSTEM VERSIONING, for example)" if context.is_mariadb else ""


def _written_together(name: str, context: PlanContext) -> str:
    """What GTID consistency asks of tables that are written together, where there are others; without a binary log it refuses nothing."""
    consistency, binary_log = (
        str(context.variable(one) or "").upper() for one in ("enforce_gtid_consistency", "log_bin")
    )
    tables = max(len(context.known.tables), context.number("totals", "myisam_tables") or 0)
    if consistency not in ON or binary_log in OFF or tables < 2:
        return ""
    return (
        f"Convert at the same time all tables that one statement (with its triggers) or one transaction writes together with {name}: "
        f"enforce_gtid_consistency is ON, so a statement that changes {name} and a table that is still MyISAM fails with error 1785, "
        f"and so does a transaction that writes {name} first and then such a table."
    )


def _durability(context: PlanContext) -> str:
    """What decides the cost of a commit, as it is set here."""
    flush, binary_log, sync = (
        context.variable(name) for name in ("innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog")
    )
    said = f"innodb_flush_log_at_trx_commit{_set_to(flush)} decides what that costs: 1 flushes to disk at each commit, 2 once a second"
    if binary_log is None or str(binary_log).upper() in ("ON", "1"):
        said += f"; with a binary log sync_binlog{_set_to(sync)} does too: 1 flushes at each commit"
    return f"{said}; several writes in one transaction share a flush"


def _set_to(value: Value) -> str:
    return "" if value is None else f" ({printable(str(value))} here)"


def _lasts(row: Mapping[str, Value], context: PlanContext) -> str:
    data, index, pool = (
        number_of(one)
        for one in (row.get("data_bytes"), row.get("index_bytes"), context.variable("innodb_buffer_pool_size"))
    )
    rates = rebuild_rates_for(context.facts, context.known.rates)
    return lasts_into_innodb(data, index, context.number("host", "memory_available_bytes"), pool, rates)


def _price_of_preparing(schema: str, table: str, context: PlanContext) -> str:
    """What is left to do where the server takes no conversion: that one's price is told with its statement."""
    told = f" What removing the obstacles costs, `{migrate_line(schema, table)}` says."
    return f"A change in the application.{told if context.known.hosting.on_linux else ''}"


def _price(innodb_bytes: int | None, lasting: str) -> str:
    """What the conversion and the table afterwards cost."""
    afterwards = (
        "Each statement may become slower: with durable commits the measured load, updates by key beside full scans, "
        "ran at 0.6 to 0.8 times its speed (MariaDB 10.11, three noisy runs)."
    )
    if innodb_bytes is None:
        return f"The ALTER copies the table while writers wait; its size in InnoDB is not known here, one and a half to three times is usual. {afterwards}"
    return f"The ALTER copies the table while writers wait, for {lasting}. It needs {size(innodb_bytes)} of disk. Readers continue until the end. {afterwards}"
