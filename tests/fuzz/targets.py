"""What reads bytes from elsewhere, each as a function of bytes: anything but its own errors is a fault.

Run by script/fuzz with a coverage-guided fuzzer (atheris), and for a moment by the tests. `seeds` gives inputs to begin with.
"""

import asyncio
import importlib.util
import os
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
        tls_from_options(options)
    except UserError as error:
        assert "hunter2" not in str(error)
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
ASKING = frozenset({"variables", "status", "server", "key_caches", "performance_schema", "processlist", "user_statistics"})


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
    for function in (myi_header, frm_definition, frm_keys, merge_list, file_name, option_file, login_file, facts_file, rule_file, configuration, http_request, process_state, munin_document, history_entry, server, statement_log, workload_file)
}


# Aliases and merge keys that stand for billions, numbers without end, and what is no number.
ALIASES = [
    b"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
    b"a: &a {k: 1}\nb: &b {<<: [*a,*a,*a,*a,*a,*a,*a]}\nc: &c {<<: [*b,*b,*b,*b,*b,*b,*b]}\nd: {<<: [*c,*c,*c,*c,*c,*c,*c]}\n",
    b"a: &a [*a]\n", b"a: " + b"[" * 2000, b"a: " + b"9" * 4000, b"a: 1" + b":59" * 1000, b"a: 2001-13-45\nb: !!timestamp 2001-13-45\n", b"1: 2\n", b"? [a]\n: b\n",
]  # fmt: skip
STRANGE_FACTS = [
    *(b"schema: 1\ninterval_seconds: &z 10\nstatus:\n  " + alias.replace(b"\n", b"\n  ") for alias in ALIASES),
    b"schema: 1\nstatus: {Key_reads: 18446744073709551615}\nvariable: {key_buffer_size: 18446744073709551615, key_cache_block_size: 18446744073709551615, key_cache_segments: 18446744073709551615}\n",
    b"schema: 1\nvariable: {size: " + b"9" * 400 + b"g}\nstatus: {Key_reads: .inf, Key_writes: .nan}\nserver: {version: 99999999999999999999.9.9}\n",
    b'{"schema": 1, "status": {"a": NaN, "b": Infinity, "c": 1e999}, "server": {"hostname": "\\ud800"}}', b'{"schema": 1, "a": ' + b"[" * 4000,
    b"schema: 1\ntables: [{schema_name: a, table_name: b, data_bytes: 9223372036854775807}, {schema_name: a, table_name: c, data_bytes: 9223372036854775807}]\nkey_cache: [{name: x, size_bytes: 5, block_size_bytes: -228}]\n",
]  # fmt: skip


def seeds(name: str) -> Iterable[bytes]:  # noqa: PLR0911 - one for each that is made
    """Inputs that get far, to begin with."""
    if name == "myi_header":
        from tests.support.myi import header

        return [header(), header(options=1, keys=((0, ((3, 0, 4), (8, 1, 40))), (2, ((15, 9, 100),))))]
    if name == "frm_definition":
        from tests.support.frm import definition

        return [definition(), definition([(12, 8, 19), (15, 33, 60)], engine=20), definition(version=8, created=0)]
    if name == "frm_keys":
        from tests.support.frm import with_keys

        return [with_keys([("PRIMARY", 1, 1, 0), ("a`é", 0, 2, 0), ("words", 128, 1, 4)]), with_keys([("lu", 0, 1, 5), ("vk", 0, 1, 7)]), with_keys([(f"k{number}", 0, 3, 0) for number in range(60)])]
    if name == "server":
        return [conversation(), *openings()]
    if name == "rule_file":
        return [*ALIASES, *(path.read_bytes() for path in sorted((ROOT / "rules" / "advice").glob("*.yaml"))[:6])]
    if name == "statement_log":
        mysql = b"# Time: 2026-11-22T20:00:00.000001Z\n# User@Host: a[a] @ localhost []  Id: 8\n# Query_time: 0.000123  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 3\nuse a;\nSET timestamp=1795377600;\nSELECT '\n# User@Host: b';\n"
        mariadb = b"# Time: 261122 20:00:00\n# User@Host: a[a] @ localhost []\n# Thread_id: 8  Schema: s  QC_hit: No\n# Query_time: 0.1  Lock_time: 0.2  Rows_sent: 1  Rows_examined: 3\nSET timestamp=1795377600;\nUPDATE a, b SET a.x=1;\n"
        started = b"/m, Version: 8.4.2 (x). started with:\nTcp port: 3306  Unix socket: /s\nTime                 Id Command    Argument\n"
        general = b"2026-11-22T20:00:00.000001Z\t 8 Connect\ta@b on d using Socket\n261122 20:00:00\t 8 Query\tuse x\n\t\t 8 Execute\tSELECT `a'b`\n"
        return [mysql + mariadb, mysql + started + mysql, b"\0" * 9 + mariadb + b"\0" * 9 + mysql, general + started + general, mysql.replace(b"SELECT", b"WITH c AS (SELECT 1) DELETE t FROM u JOIN t -- ")]
    if name == "workload_file":
        return [b'{"format":"myisam-advisor workload","version":1,"source":"x"}\n[1,2,3,null,"x",null,null,null,null,false]\n{"statements":1,"left_out":{"a":1}}\n']
    return {
        "merge_list": [b"m1\nm2\n./e@002de/m@0020@1o\n#INSERT_METHOD=LAST\n"],
        "file_name": [b"orders", b"a@002db", b"@0041#P#p0#SP#s1", "ü☃".encode()],
        "login_file": [bytes.fromhex("0000000012150b0b0309121a0b1e1b0308080b071a1602101000000031c9bb0f7b53c1ea70c5cc7986afd29810000000a2ce1912101650c034778a4e014e8ba5")],
        "option_file": [b"[client]\nuser = x\npassword = \"hunter2 \\t\"\n# c\nsocket=/a/b\n[client.shop]\nport=3306\n", b"[client]\nssl-mode=VERIFY_CA\nloose-skip-ssl\nssl_ca=x\ntls-version=TLSv1.2\nenable-cleartext-plugin=0\n"],
        "facts_file": [b"schema: 1\ninterval_seconds: 10\nstatus: {Key_reads: 5}\ntables: [{schema_name: s, table_name: t, crashed: 1}]\n", *STRANGE_FACTS],
        "configuration": [*ALIASES, b"thresholds:\n  io-bound-data: {minimum_iowait: 0.3}\nsuppressions:\n  - {rule: pack-keys, object: 's.*', reason: why, until: 2027-01-01}\nignored_schemas: ['a*']\n"],
        "http_request": [b"GET /metrics?collect[]=x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n", b"POST /-/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                         b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"],
        "process_state": [b'{"format":1,"moment":1.5,"process":{"pid":1,"started_ticks":1,"threads":1,"user_ticks":1,"system_ticks":1,"minor_faults":1,"major_faults":1},"switches":{"1":[1,2]},"io":[1,2,3],"status":{"Uptime":1},"totals":[[["a"],1.0]]}'],
        "history_entry": [b'{"mysqld.threads":12,"status.Questions.per_second":1.5,"key_cache.reads[hot]":null}', b'{"tables":{"host":{"columns":["a"],"rows":[[1]]}},"interval_seconds":10,"unknown":{"a":["b","c",false]},"notes":[["a","b",true]]}'],
        "munin_document": [b'{"schema":1,"up":true,"reason":"","values":{"a":1},"peaks":{},"key_caches":["a"],"tables":[{"schema":"s","table":"t","values":{}}],"advice":null}'],
    }[name]  # fmt: skip
