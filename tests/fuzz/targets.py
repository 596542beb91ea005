"""What reads bytes from elsewhere, each as a function of bytes: anything but its own errors is a fault.

Run by script/fuzz with a coverage-guided fuzzer (atheris), and for a moment by the tests. seeds.py gives inputs to begin with.
"""

import asyncio
import importlib.util
import os
import re
import socket
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.support.repository import ROOT

SCRATCH = tempfile.TemporaryDirectory(prefix="myisam-fuzz-")


def scratch(data: bytes, ending: str) -> Path:
    """A file of this process with these bytes."""

    path = Path(SCRATCH.name) / f"{os.getpid()}{ending}"
    path.write_bytes(data)
    return path


def myi_header(data: bytes) -> None:
    """The header of an index file."""
    from myisam_exporter.files.myi_header import HeaderError, header_length, parse_header

    try:
        header_length(data)
        header = parse_header(data)
    except HeaderError as error:
        assert str(error)
        return
    assert header.definition.keys is not None
    assert len(header.definition.keys) < 256
    assert len(repr(header)) < 10_000_000


def fulltext_pages(data: bytes) -> None:
    """A whole index file with words in it."""
    from myisam_exporter.files.fulltext_pages import sample_words

    path = scratch(data, ".MYI")
    for words in sample_words(str(path.parent), path.stem, None, [45]):
        assert words.entries > 0
        assert words.different[0] > 0
        assert abs(sum(words.words_by_letter) - 1) < 0.01
        assert abs(sum(words.entries_by_letter) - 1) < 0.01


def frm_definition(data: bytes) -> None:
    """A table's definition."""
    from myisam_exporter.files.frm_definition import FrmError, parse_definition

    try:
        found = parse_definition(lambda position, length: data[position : position + length])
    except FrmError as error:
        assert str(error)
        return
    assert found.created_version is None or 0 <= found.created_version < 1_000_000
    assert all(count is None or count <= 4096 for count in (found.old_temporal_columns, found.obsolete_columns, found.utf8mb3_columns))


def frm_keys(data: bytes) -> None:
    """A table's indexes by name."""
    from myisam_exporter.files.frm_definition import FrmError
    from myisam_exporter.files.frm_keys import parse_keys

    try:
        found = parse_keys(lambda position, length: data[position : position + length])
    except FrmError as error:
        assert str(error)
        return
    assert len(found) <= 255
    for key in found:
        assert key.name
        key.name.encode("utf-8")


def merge_list(data: bytes) -> None:
    """The tables that a MERGE table lists."""
    from myisam_exporter.files.merge_list import parse_merge_list

    for name in parse_merge_list(data, "d"):
        "".join(name).encode("utf-8")


def file_name(data: bytes) -> None:
    """The name of a table's file."""
    from myisam_exporter.files.file_names import decode_schema, decode_table

    stem = data.decode("utf-8", "surrogateescape")
    for name in (decode_schema(stem), *(decode_table(stem) or ())):
        if name is not None:
            assert len(name) <= 4 * len(stem) + len("#mysql50#")
            name.encode("utf-8")


def option_file(data: bytes) -> None:
    """A client's option file; what it includes is not followed out of the scratch directory here."""
    from myisam_exporter.errors import UserError
    from myisam_exporter.server.option_files import read_option_files
    from myisam_exporter.server.tls import tls_from_options

    if b"!include" in data:
        return
    try:
        options = read_option_files([scratch(data, ".cnf")])
        tls_from_options(options, over_socket=False)
    except UserError as error:
        # Behind a letter of a name it is a part of that name.
        assert re.search(rb"[A-Za-z0-9_-]hunter2", data) or "hunter2" not in str(error)
        return
    assert all(isinstance(name, str) for name in options.settings)


def login_file(data: bytes) -> None:
    """What mysql_config_editor may have written."""
    from myisam_exporter.errors import UserError
    from myisam_exporter.server.option_files import Further, read_option_files

    path = scratch(data, ".login")
    path.chmod(0o600)
    try:
        read_option_files([scratch(b"", ".cnf")], further=Further(login_path="client", login_file=path))
    except UserError as error:
        assert "hunter2" not in str(error)


def facts_file(data: bytes) -> None:
    """A facts file, and the facts judged."""
    from myisam_advisor.factbase.database import open_database
    from myisam_advisor.factbase.derived import complete
    from myisam_advisor.factbase.file import read_facts_file
    from myisam_exporter.errors import UserError

    try:
        facts = read_facts_file(str(scratch(data, ".yaml")))
    except UserError as error:
        assert str(error)
        return
    open_database(complete(facts)).close()


def rule_file(data: bytes) -> None:
    """A rule of the site's own."""
    from myisam_advisor.catalogue.rules import load_rule
    from myisam_exporter.errors import UserError

    try:
        load_rule(scratch(data, ".yaml"))
    except UserError as error:
        assert str(error)


def configuration(data: bytes) -> None:
    """The site's configuration."""
    from myisam_advisor.catalogue.configuration import load_site
    from myisam_exporter.errors import UserError

    try:
        load_site(scratch(data, ".yaml"), ())
    except UserError as error:
        assert str(error)


def http_request(data: bytes) -> None:
    """Bytes that a client sends: an answer or nothing."""
    from myisam_exporter.web.connection_budget import OpenConnection
    from myisam_exporter.web.peers import NOBODY
    from myisam_exporter.web.server import Request, Response, serve

    async def answer(request: Request) -> Response:
        assert request.method.isprintable()
        return Response(200, b"ok")

    class Writer:
        """What the server writes, kept."""

        def __init__(self) -> None:
            self.sent = b""
            self.transport = self

        def set_write_buffer_limits(self, high: int) -> None:
            pass

        def write(self, part: bytes) -> None:
            self.sent += part

        async def drain(self) -> None:
            pass

    async def speak() -> bytes:
        reader, writer = asyncio.StreamReader(), Writer()
        reader.feed_data(data)
        reader.feed_eof()
        await serve(reader, writer, answer, OpenConnection(NOBODY, reader.feed_eof))  # type: ignore[arg-type]
        return writer.sent

    sent = asyncio.run(speak())
    assert not sent or sent.startswith(b"HTTP/1.1 ")


def process_state(data: bytes) -> None:
    """What lies in munin's plugin state, where other plugins write too."""
    from myisam_advisor.munin.process_state import read_state

    read_state(scratch(data, ".state"))


def munin_document(data: bytes) -> None:
    """What answers on the plugin's socket."""
    document, why = _plugin().checked(data, "the daemon")
    assert document is None or isinstance(document, dict)
    assert "\n" not in why


def server(data: bytes) -> None:
    """All that a server says in one session: greeting, login, and the answers to every question of a look."""
    from myisam_exporter.collectors.base import Context
    from myisam_exporter.errors import UserError
    from myisam_exporter.facts.unknown import Unknown
    from myisam_exporter.look.interval import Interval
    from myisam_exporter.look.snapshot import FAILED, take_snapshot
    from myisam_exporter.server.session import Session
    from myisam_exporter.server.target import Target

    ours, theirs = socket.socketpair()
    with theirs, patch.object(driver(), "dial", lambda target, seconds: ours):
        theirs.sendall(data[:65536])
        theirs.shutdown(socket.SHUT_WR)
        try:
            with Session(Target("u", "hunter2", host="elsewhere", allow_cleartext=True), 5) as session:
                snapshot = take_snapshot(Context(session.target, session), only=ASKING)
        except UserError as error:
            assert str(error)
            assert "hunter2" not in str(error)
            return
        samples = [sample for sample in snapshot.samples.values() if isinstance(sample, Unknown)]
        assert not [sample for sample in samples if FAILED in sample.reason], samples
        complete = replace(snapshot, samples=dict.fromkeys(collector_names(), Unknown("not asked")) | dict(snapshot.samples))
        for rows in Interval(complete).facts().tables.values():
            for row in rows.dictionaries():
                assert all(not isinstance(value, int | float) or abs(value) <= 1 << 64 for value in row.values()), row


# The collectors that ask the server and nothing else.
ASKING = frozenset({"variables", "status", "server", "key_caches", "performance_schema", "processlist", "replica", "user_statistics"})


def driver() -> Any:
    """Where a server is dialled, for a socket of ours to be put there."""
    import myisam_exporter.server.driver

    return myisam_exporter.server.driver


def collector_names() -> list[str]:
    """Every collector."""
    from myisam_exporter.collectors.base import all_collectors

    return [collector.name for collector in all_collectors()]


def conversation() -> bytes:
    """What a server that tells the truth says in such a session."""
    from myisam_exporter.collectors.base import Context
    from myisam_exporter.look.snapshot import take_snapshot
    from myisam_exporter.server.session import Session
    from myisam_exporter.server.target import Target
    from tests.support.lying_server import Client, HostileServer, honest, rows

    said: list[bytes] = []
    switched_on = [(b"performance_schema", b"ON"), (b"userstat", b"ON"), (b"key_buffer_size", b"8388608"), (b"key_cache_segments", b"0")]
    instruments = (b"wait/synch/mutex/mysys/KEY_CACHE::cache_lock", b"wait/io/table/sql/handler", b"wait/lock/table/sql/handler")
    answers: dict[bytes, Callable[[], Iterable[bytes]]] = {
        b"SHOW GLOBAL VARIABLES": lambda: rows(2, switched_on),
        b"SELECT KEY_CACHE_NAME": lambda: rows(11, [[b"default", None, b"8388608", b"1024", *[b"5"] * 7]]),
        b"SELECT NAME FROM performance_schema.setup_instruments": lambda: rows(1, [(name,) for name in instruments]),
        b"SELECT EVENT_NAME": lambda: rows(3, [(instruments[0], b"10", b"5000")]),
        b"SELECT OBJECT_SCHEMA": lambda: rows(3, [(b"s", b"t", b"7")]),
        b"SELECT TABLE_SCHEMA": lambda: rows(4, [(b"s", b"t", b"7", b"8")]),
        b"SELECT DB, STATE": lambda: rows(4, [(b"s", b"Locked", b"Query", b"3")]),
        b"SELECT COUNT(*)": lambda: rows(1, [(b"2",)]),
        b"SHOW GRANTS": lambda: rows(1, [(b"GRANT PROCESS ON *.* TO u",)]),
    }

    def recording(client: Client) -> None:
        client.said = said
        honest(client, answers)

    with HostileServer(recording) as truthful, Session(Target("u", host="127.0.0.1", port=truthful.port)) as session:
        session.target = replace(session.target, host="elsewhere")
        take_snapshot(Context(session.target, session), only=ASKING)
    return b"".join(said)


def openings() -> list[bytes]:
    """Beginnings that an honest conversation does not have: errors, a change of plugin, more authentication."""
    from tests.support.lying_server import OK, error, greeting, packet

    start = packet(0, greeting())
    return [
        packet(0, b"\xff\x10\x04Excesso de conex\xf5es"),
        start + packet(2, error(1045, b"Excesso de conex\xf5es")),
        start + packet(2, b"\xfemysql_native_password\0abcdefghij0123456789\0") + packet(4, OK),
        start + packet(2, b"\xfeclient_ed25519\0" + bytes(32)) + packet(4, OK),
        start + packet(2, b"\xfemysql_clear_password\0") + packet(4, OK),
        packet(0, greeting(b"caching_sha2_password")) + packet(2, b"\x01\x03") + packet(3, OK),
        packet(0, greeting(b"caching_sha2_password")) + packet(2, b"\x01\x04") + packet(4, b"\x01-----BEGIN PUBLIC KEY-----"),
        start + packet(2, OK) + packet(1, b"\xfb/etc/passwd"),
    ]


def history_entry(data: bytes) -> None:
    """What an entry of the history is unpacked to, with its checksums and without."""
    import zlib

    from myisam_advisor.errors import DamagedError
    from myisam_advisor.history.format import unpack_facts, unpack_sample

    for packed in (data, zlib.compress(data, 1)):
        for unpack in (unpack_sample, lambda content: unpack_facts(content, "here")):
            try:
                unpack(packed)
            except DamagedError as error:
                assert str(error)


_loaded: list[Any] = []


def _plugin() -> Any:
    if not _loaded:
        loader = SourceFileLoader("plugin", str(ROOT / "plugins" / "munin" / "myisam_advisor"))
        spec = importlib.util.spec_from_loader("plugin", loader)
        assert spec is not None
        _loaded.append(importlib.util.module_from_spec(spec))
        loader.exec_module(_loaded[0])
    return _loaded[0]


def statement_log(data: bytes) -> None:
    """A log of statements, in parts of every size; what comes of it is written and read again, and its statements are looked at."""
    from myisam_advisor.workload.fingerprints import MAXIMUM_CHARACTERS, fingerprint
    from myisam_advisor.workload.sources import all_sources
    from myisam_advisor.workload.sources.base import Reading
    from myisam_advisor.workload.statements import refused, touched

    step = data[0] + 1 if data else 1
    for source in all_sources():
        whole, parts = Reading(), Reading()
        events = list(source.events(iter([data]), whole))
        assert events == list(source.events((data[at : at + step] for at in range(0, len(data), step)), parts))
        assert len(events) + sum(whole.left_out.values()) <= data.count(b"\n") + data.count(b"\0") + data.count(b"# User@Host: ") + 2
        for event in events:
            assert event.statement in data
            assert len(fingerprint(event.statement)) <= MAXIMUM_CHARACTERS
            touched(event.statement, event.database)
            refused(event.statement)


def workload_file(data: bytes) -> None:
    """A recorded workload."""
    import gzip

    from myisam_advisor.workload.file import read_workload
    from myisam_exporter.errors import UserError

    for content in (data, gzip.compress(data)):
        try:
            workload = read_workload(scratch(content, ".workload"))
            assert sum(1 for _ in workload.events()) == workload.totals.statements
        except UserError as error:
            assert str(error)


TARGETS: dict[str, Callable[[bytes], None]] = {
    function.__name__: function
    for function in (myi_header, fulltext_pages, frm_definition, frm_keys, merge_list, file_name, option_file, login_file, facts_file, rule_file, configuration, http_request, process_state, munin_document, history_entry, server, statement_log, workload_file)
}
