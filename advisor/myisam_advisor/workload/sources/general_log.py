"""The general log as MySQL 5.5 to 9.x, MariaDB 5.5 to 11.x and Percona Server write it to a file.

Each entry: the time (before MySQL 5.7, and in MariaDB, whole seconds, and only where it is another one than before), the connection's number,
the command, a tab, its argument. A statement is written when it arrives. A prepared one is written as `Execute`, with its values.

Source: sql/log.cc (File_query_log::write_general, MYSQL_QUERY_LOG::write), sql/sql_parse.cc (command_name).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.inner_statements import is_inner
from myisam_advisor.workload.joining import UNCLOSED, joined
from myisam_advisor.workload.prepared import AS_WHAT_IT_RAN, Prepared
from myisam_advisor.workload.several_statements import used_database
from myisam_advisor.workload.sources.base import (
    ADMINISTRATOR,
    MICROSECONDS,
    NESTED,
    LogSource,
    Moments,
    Numbers,
    Reading,
    Spread,
    entries,
    parted,
    without_hole,
    without_restart,
)
from myisam_advisor.workload.tokens import behind_comments

_COMMANDS = (
    rb"Sleep|Quit|Init DB|Query|Field List|Create DB|Drop DB|Refresh|Shutdown|Statistics|Processlist|Connect Out|Connect|Kill|Debug|Ping|Time"
    rb"|Delayed insert|Change user|Binlog Dump GTID|Binlog Dump|Table Dump|Register Slave|Register Replica|Prepare|Execute|Long Data|Close stmt"
    rb"|Reset stmt|Set option|Fetch|Daemon|Reset Connection|Reset connection|clone|Subscribe Group Replication Stream|Bulk_execute|Slave_worker"
    rb"|Slave_IO|Slave_SQL|Multi|Error"
)
_TIMES = rb"\d{6} [ \d]\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)"
_ENTRY = re.compile(
    rb"(?:^|(?<=\0))(?:(%s)[\t ]+|\t\t *)(\d{1,18}) (%s)(?:\t| *\r?$)" % (_TIMES, _COMMANDS), re.MULTILINE
)
_ON, _USING = b" on ", b" using "
_CALL = re.compile(rb"\s*call\b", re.IGNORECASE)
_TEXT_EXECUTE = re.compile(rb"\s*execute\b", re.IGNORECASE)
_MAXIMUM_CONNECTIONS = 100_000
INNER = "inner statement of EXECUTE"


def _find(log: bytes, begin: int) -> int:
    found = _ENTRY.search(log, begin)
    # The tab behind the command, or the line's end, may not have been read yet.
    return -1 if found is None or found.end() >= len(log) else found.start()


def _connected_to(argument: bytes) -> bytes | None:
    """The database in the last line of `user@host on database using TCP/IP`; None where it says none."""
    line = argument.removesuffix(b"\n").removesuffix(b"\r")
    line = line[line.rfind(b"\n") + 1 :]
    on, using = line.find(_ON), line.find(_USING)
    if on < 0 or 0 <= using < on:
        return None
    return line[on + len(_ON) :].partition(_USING)[0]


class _GeneralLog:
    """Makes events of entries, and knows the default database of each connection whose beginning it saw."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._moments = Moments()
        self._spread = Spread()
        self._time: tuple[int, bool] = (0, False)
        self._databases: dict[int, bytes | None] = {}
        self._executing: set[int] = set()
        # Whose EXECUTE was left out, as what it runs is written behind it.
        self._to_come: set[int] = set()
        self._prepared = Prepared()
        self._numbers = Numbers(reading.is_one_life)
        self._may_be_another_life = False

    def events(self, blocks: Iterator[bytes]) -> Iterator[Event]:
        """Those of a log."""
        for head, written, closes in joined(parted(entries(blocks, _find, self._reading), _ENTRY.match, self._reading)):
            self._reading.entries += 1
            time, connection, command = head.groups()
            if self._may_be_another_life and command == b"Connect":
                self._tell_lives_apart(int(connection))
            self._time = (self._moments.microseconds(time) if time else None) or self._time
            starts = self._reading.starts
            text = without_restart(without_hole(written, self._reading), self._reading)
            if closes:
                number = self._numbers.numbered(int(connection))
                yield from self._command(number, command, text.removesuffix(b"\n").removesuffix(b"\r"))
            else:
                self._reading.left_out[UNCLOSED] += 1
            if self._reading.starts != starts and not self._reading.is_one_life:
                self._may_be_another_life = True
        yield from self._spread.rest()

    def _tell_lives_apart(self, connection: int) -> None:
        """FLUSH LOGS writes the header of a start too, and connections go on behind it; a server that was started begins to count anew."""
        self._may_be_another_life = False
        if connection <= self._numbers.highest:
            self._numbers.start_again()
            self._databases.clear()
            self._executing.clear()
            self._to_come.clear()

    def _command(self, connection: int, command: bytes, argument: bytes) -> Iterator[Event]:
        if command in (b"Query", b"Execute"):
            yield from self._statement(connection, command == b"Execute", argument)
            return
        if command in (b"Connect", b"Change user"):
            self._remember(connection, _connected_to(argument))
        elif command == b"Init DB":
            self._remember(connection, argument)
        elif command == b"Quit":
            self._databases.pop(connection, None)
            self._executing.discard(connection)
            self._to_come.discard(connection)
        self._reading.left_out[ADMINISTRATOR] += 1

    def _remember(self, connection: int, database: bytes | None) -> None:
        if len(self._databases) > _MAXIMUM_CONNECTIONS:
            self._databases.clear()
        self._databases[connection] = database or None

    def _statement(self, connection: int, prepared: bool, statement: bytes) -> Iterator[Event]:
        if prepared and connection in self._executing:
            # EXECUTE name is written as it was sent, and then as what it ran.
            self._executing.discard(connection)
            self._reading.left_out[INNER] += 1
            return
        self._executing.discard(connection)
        if not prepared and is_inner(statement):
            self._reading.left_out[NESTED] += 1
            return
        moment, exact = self._time
        # What a text ran was sent as one: it is no execution of the binary protocol.
        is_execution = prepared and connection not in self._to_come
        self._to_come.discard(connection)
        event = Event(connection, moment, None, self._databases.get(connection), statement, prepared=is_execution)
        is_unknown = not prepared and self._prepared.refused(event) is not None
        words = behind_comments(statement)
        if not prepared and _TEXT_EXECUTE.match(words):
            if is_unknown:
                # Of what was prepared nobody knows the text: what it ran is written behind it.
                self._reading.left_out[AS_WHAT_IT_RAN] += 1
                self._to_come.add(connection)
                return
            self._executing.add(connection)
        used = None if prepared else used_database(statement)
        if used is not None:
            self._remember(connection, used)
        self._reading.calls += _CALL.match(words) is not None
        if exact:
            self._reading.resolution_microseconds = 1
            yield event
        else:
            yield from self._spread.add(event, moment // MICROSECONDS)


def _events(blocks: Iterator[bytes], reading: Reading) -> Iterator[Event]:
    return _GeneralLog(reading).events(blocks)


SOURCE = LogSource("general_log", "general log", _ENTRY, _events)
