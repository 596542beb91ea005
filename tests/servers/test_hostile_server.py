"""A server that lies can make a look fail, and nothing else: not the process, not its memory, not the other targets."""

import itertools
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from myisam_advisor.daemon.supervision import LONGEST_LOOK_SECONDS
from myisam_advisor.factbase.database import open_database
from myisam_advisor.factbase.derived import complete
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors.base import Context, with_prerequisites
from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.live import collect_facts
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.server import wire
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.server.wire import LOOK_SECONDS
from tests.support.daemon import free_port, serving, wait_for
from tests.support.lying_server import (
    ANSWERS,
    CAPABILITIES,
    EOF,
    OK,
    Client,
    HostileServer,
    column,
    error,
    greeting,
    honest,
    packet,
    rows,
    text,
)
from tests.support.program import Kept, run
from tests.support.servers import CopiedServer, binaries_of

LATIN1 = "Excesso de conexões".encode("latin-1")
MEGABYTE = 1 << 20
# systemd's limit for the daemon (myisam-advisor.service, MemoryMax).
UNIT_MEMORY_BYTES = 512 * MEGABYTE


def first(*parts: bytes) -> Callable[[Client], None]:
    """Bytes instead of a greeting."""
    return lambda client: client.send_all(parts)


def after_login(*parts: bytes) -> Callable[[Client], None]:
    def serve(client: Client) -> None:
        client.send(0, greeting())
        client.hear()
        client.send_all(parts)
        client.hear()

    return serve


def endless(part: bytes) -> Iterator[bytes]:
    return itertools.repeat(part * (1 + 65536 // len(part)))


def at_login(parts: Callable[[], Iterable[bytes]]) -> Callable[[Client], None]:
    def serve(client: Client) -> None:
        client.send(0, greeting())
        client.hear()
        client.send_all(parts())

    return serve


def status(parts: Callable[[], Iterable[bytes]]) -> Callable[[Client], None]:
    return lambda client: honest(client, {b"SHOW GLOBAL STATUS": parts})


def big(name: bytes, size: int) -> Iterator[bytes]:
    """One value of this size, in as many packets as it takes."""
    body = text(name) + b"\xfe" + struct.pack("<Q", size)
    yield from itertools.islice(rows(2, [], ends=False), 4)
    left, number = size + len(body), 5
    while left > 0:
        count = min(left, 0xFFFFFF)
        yield struct.pack("<I", count)[:3] + bytes([number % 256])
        yield body
        sent = len(body)
        while sent < count:
            part = min(count - sent, MEGABYTE)
            yield bytes(part)
            sent += part
        left, body, number = left - count, b"", number + 1


def slowly(data: bytes) -> Iterator[bytes]:
    for letter in data:
        time.sleep(0.2)
        yield bytes([letter])


LIES: dict[str, Callable[[Client], None]] = {
    "a greeting that is an error in latin1": first(packet(0, b"\xff" + struct.pack("<H", 1040) + LATIN1)),
    "a greeting of 16 MiB": first(b"\xff\xff\xff\0\x0a", bytes(0xFFFFFE)),
    "a greeting without an end": first(packet(0, b"\x0a" + b"5" * 3000)),
    "a greeting that is cut": first(packet(0, greeting()[:20])),
    "a version that is no number": first(packet(0, greeting(version=b"\xff\xfe"))),
    "another protocol": first(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"),
    "an empty packet": first(b"\0\0\0\0"),
    "an error at login in latin1": after_login(packet(2, error(1045, LATIN1))),
    "an error without a text": after_login(packet(2, b"\xff")),
    "an error of number -1": after_login(packet(2, b"\xff\xff\xff#00000x")),
    "endless errors": at_login(lambda: endless(packet(2, error(1045, b"x" * 500)))),
    "a switch to a plugin of 16 MiB": at_login(lambda: [b"\xff\xff\xff\2\xfe", bytes(0xFFFFFE), packet(3, b"")]),
    "a switch to a plugin that is no text": after_login(packet(2, b"\xfe\xff\xfe\xfd\0abc\0")),
    "a switch without a name": after_login(packet(2, b"\xfe")),
    "endless switches": at_login(lambda: (packet(2 + 2 * number, b"\xfemysql_native_password\0" + b"a" * 20 + b"\0") for number in itertools.count())),
    "an OK with endless session state": at_login(lambda: [b"\xff\xff\xff\2\0", bytes(0xFFFFFE), *[b"\xff\xff\xff\3" + bytes(0xFFFFFF)] * 20]),
    "a file of the client's is asked for": status(lambda: [packet(1, b"\xfb/etc/shadow")]),
    "an error in latin1 for a query": status(lambda: [packet(1, error(1105, LATIN1))]),
    "NaN columns": status(lambda: [packet(1, b"\xfe" + b"\xff" * 8)]),
    "65535 columns": status(lambda: [packet(1, b"\xfc\xff\xff"), *(packet(number, column(b"c")) for number in range(2, 65537)), packet(65537, EOF)]),
    "endless columns": status(lambda: itertools.chain([packet(1, b"\xfe" + struct.pack("<Q", 1 << 60))], (packet(number, column(b"c" * 200)) for number in itertools.count(2)))),
    "a column that is cut": status(lambda: [packet(1, b"\2"), packet(2, b"\3de")]),
    "other columns than were asked for": status(lambda: rows(5, [(b"1",) * 5])),
    "no row": lambda client: honest(client, {b"SELECT @@version": lambda: rows(2, [])}),
    "no column": status(lambda: [packet(1, b"\0\0\0\2\0\0\0")]),
    "rows that never end": status(lambda: rows(2, zip(itertools.repeat(b"a"), itertools.repeat(b"1")), ends=False)),
    "rows of NULL that never end": status(lambda: rows(2, itertools.repeat((None, None)), ends=False)),
    "rows of a megabyte that never end": status(lambda: rows(2, itertools.repeat((b"a", b"1" * 900_000)), ends=False)),
    "a value of 1 GiB": status(lambda: big(b"a", 1 << 30)),
    "a row that is cut": status(lambda: [*itertools.islice(rows(2, [], ends=False), 4), packet(5, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7fx")]),
    "names that are no UTF-8": status(lambda: rows(2, [(b"\xff\xfe", b"\xff"), (b"Uptime", b"100")])),
    "results that never end": status(lambda: itertools.cycle([packet(1, b"\0\0\0\x08\0\0\0")])),
    "packets out of order": status(lambda: [packet(7, b"\2")]),
    "nothing": lambda client: time.sleep(60),
    "the end": lambda client: None,
    "slow bytes": lambda client: client.send_all(slowly(packet(0, greeting()))),
}  # fmt: skip


@pytest.fixture(scope="module")
def kept() -> Iterator[Kept]:
    process = Kept(1 << 30)
    yield process
    process.close()


@pytest.mark.parametrize("lie", LIES)
def test_whatever_a_server_says_a_command_ends_with_one_message(kept: Kept, lie: str) -> None:
    """In another process: in time, in memory, by no signal, without a traceback."""
    begun: list[float] = []  # how long a program takes to start says nothing

    def serve(client: Client) -> None:
        begun.append(time.monotonic())
        LIES[lie](client)

    with HostileServer(serve) as server:
        done = kept.run("check", "--host", "127.0.0.1", "--port", server.port, "--user", "u", "--timeout", "1", "--interval", "0", timeout=30)
    out, err = done.stdout, done.stderr
    assert done.returncode in (0, 1, 2), (done.returncode, err[-500:])
    assert "Traceback" not in err, err[-2000:]
    assert time.monotonic() - begun[0] < 12
    if done.returncode == 2:
        assert err.startswith("myisam-advisor: "), err
        assert err.count("\n") == 1, err
    else:
        assert out


def test_what_the_error_says_is_shown_in_whatever_encoding_it_came() -> None:
    with HostileServer(LIES["a greeting that is an error in latin1"]) as server, pytest.raises(UserError, match="no connection left: Excesso de conexões"):
        Session(Target("u", host="127.0.0.1", port=server.port))
    with HostileServer(LIES["an error in latin1 for a query"]) as server, Session(Target("u", host="127.0.0.1", port=server.port)) as session:
        refused = session.rows_or_unknown("SHOW GLOBAL STATUS", 2)
        assert "Excesso de conex" in str(refused)
        assert session.row("SELECT @@version, @@version_comment", 2)[1] == "Debian"  # the connection goes on


def test_a_real_server_that_speaks_latin1_before_the_handshake_is_understood() -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--lc-messages=pt_BR", "--character-set-server=latin1", "--max-connections=10", "--extra-max-connections=1"], port=free_port()) as server:
        server.execute("CREATE USER 'u'@'127.0.0.1' IDENTIFIED BY ''")
        sessions = []
        try:
            with pytest.raises(UserError, match="no connection left: Excesso de conexões"):
                for _ in range(20):
                    sessions.append(Session(Target("u", host="127.0.0.1", port=server.port or 0)))
        finally:
            for session in sessions:
                session.close()
        assert len(sessions) >= 9


NUMBERS = [b"18446744073709551615", b"9223372036854775808", b"-9223372036854775809", b"9" * 400, b"9" * 5000, b"nan", b"inf", b"-inf", b"1e400", b"1e308", b"-1", b"", b"\xff", "\uff11\uff12".encode(), b"1_0", b"0x10", b" 5 ", None]  # fmt: skip
NAMES = [b"Key_read_requests", b"Key_reads", b"Key_writes", b"Key_write_requests", b"Uptime", b"Threads_running", b"Open_tables", b"Questions"]
VARIABLES = [b"key_buffer_size", b"key_cache_block_size", b"key_cache_segments", b"table_open_cache", b"port", b"myisam_mmap_size", b"max_connections"]
CACHE = [b"default", None, b"8388608", b"1024", b"1", b"2", b"0", b"4", b"5", b"6", b"7"]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: repr(number)[:24])
def test_any_number_in_any_place_is_known_or_unknown_and_never_a_fault(number: bytes | None) -> None:
    """Everything that makes numbers of what a server says, up to the judgement and all forms of the facts."""
    seen: list[bytes] = []
    lies = numbered(number)
    with HostileServer(lambda client: honest(client, lies, seen)) as server:
        facts = collect_facts(Target("u", host="127.0.0.1", port=server.port), 0.0, 5)
        assert not [reason for reason in facts.unknown.values() if "unexpected failure" in reason.reason], facts.unknown
        open_database(complete(facts)).close()
        done = run("check", "--host", "127.0.0.1", "--port", server.port, "--user", "u", "--interval", "0", "--format", "json", "--fail-on", "never")
        assert (done.returncode, done.stderr) == (0, ""), done.stderr[-2000:]
    asked = b"\n".join(seen)
    assert all(start in asked for start in lies if start not in (b"SELECT COUNT(*)",)), asked


def numbered(number: bytes | None) -> dict[bytes, Callable[[], Iterable[bytes]]]:
    """Answers with this number wherever one is wanted."""
    return {
        b"SHOW GLOBAL STATUS": lambda: rows(2, [(name, number) for name in NAMES] + [(b"Com_insert", b"7")]),
        b"SHOW GLOBAL VARIABLES": lambda: rows(2, [(name, number) for name in VARIABLES] + [(b"performance_schema", b"ON"), (b"userstat", b"ON")]),
        b"SELECT KEY_CACHE_NAME": lambda: rows(11, [[b"default", *[number] * 10], CACHE]),
        b"SELECT NAME FROM performance_schema.setup_instruments": lambda: rows(1, [(b"wait/synch/mutex/mysys/KEY_CACHE::cache_lock",), (b"wait/io/table/sql/handler",), (b"wait/lock/table/sql/handler",)]),
        b"SELECT EVENT_NAME": lambda: rows(3, [(b"wait/synch/mutex/mysys/KEY_CACHE::cache_lock", number, number)]),
        b"SELECT OBJECT_SCHEMA": lambda: rows(3, [(b"s", b"t", number)]),
        b"SELECT TABLE_SCHEMA, TABLE_NAME, ROWS": lambda: rows(4, [(b"s", b"t", number, number)]),
        b"SHOW OPEN TABLES": lambda: rows(4, [(b"s", b"t", b"0", b"0")]),
        b"SELECT ENGINE": lambda: rows(7, [(b"MyISAM", b"Fixed", *[number] * 5)]),
        b"SHOW GRANTS": lambda: rows(1, [(b"GRANT ALL PRIVILEGES ON *.* TO u",)]),
        b"SELECT DB, STATE": lambda: rows(4, [(b"s", b"Waiting for table level lock", b"Query", number)]),
        b"SELECT COUNT(*)": lambda: rows(1, [(number,)]),
    }


def test_a_daemon_scrapes_nine_servers_without_a_gap_while_others_lie(mariadb: PrivateServer, tmp_path: Path) -> None:
    """Every kind of lie, several at once; within the memory that systemd gives it."""
    numbers: list[Callable[[Client], None]] = [partial(honest, lies=numbered(number), questions=40) for number in NUMBERS]
    kinds = [*LIES.values(), *numbers]
    turns = itertools.cycle(kinds)

    def lie(client: Client) -> None:
        next(turns)(client)

    with HostileServer(lie) as hostile, ThreadPoolExecutor(12) as pool:
        targets = tmp_path / "targets.yaml"
        good, bad = [f"good{number}" for number in range(9)], [f"bad{number}" for number in range(12)]
        entries = [f"  {name}: {{host: 127.0.0.1, port: {hostile.port}}}\n" for name in bad] + [f"  {name}: {{socket: {mariadb.socket}}}\n" for name in good]
        targets.write_text("targets:\n" + "".join(entries))
        with serving("--no-own-server", "--config.targets", targets, "--user", "root", "--timeout", "1", "--collect.interval", "1s") as daemon:

            def is_up(name: str) -> bool:
                return daemon.get(f"/probe?target={name}", timeout=15).value("up") == 1

            for name in good:
                assert wait_for(lambda name=name: is_up(name)), name  # type: ignore[misc]
            gaps: list[str] = []
            probes: list[Future[bool]] = []
            deadline = time.monotonic() + 120
            # Pauses grow after failures, to ten seconds.
            while len(hostile.clients) < len(kinds) and time.monotonic() < deadline:
                if all(probe.done() for probe in probes):
                    probes = [pool.submit(is_up, name) for name in bad]
                gaps += [name for name in good if not is_up(name)]
            assert gaps == []
            assert len(hostile.clients) >= len(kinds)
            peak = next(int(line.split()[1]) * 1024 for line in Path(f"/proc/{daemon.pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
            assert peak < UNIT_MEMORY_BYTES, peak
            print(f"peak {peak >> 20} MiB after {len(hostile.clients)} lies")
        assert b"Traceback" not in daemon.log, daemon.log[-3000:]


@pytest.mark.parametrize(("names", "count"), [(100, 100), (101, None), (9_900, None), (1, 1)])
def test_key_caches_that_a_server_makes_up_are_no_series(names: int, count: int | None) -> None:
    """Ten thousand had each scrape take eight seconds of all targets, and make a hundred thousand series; one ten thousand times filled the log."""
    caches = max(names, 100 if count else 9_900)
    lies: dict[bytes, Callable[[], Iterable[bytes]]] = {b"SELECT KEY_CACHE_NAME": lambda: rows(11, ([b"c%d" % (number % names), *CACHE[1:]] for number in range(caches)))}
    with HostileServer(lambda client: honest(client, lies)) as server:
        facts = collect_facts(Target("u", host="127.0.0.1", port=server.port), 0.0, 5)
    # The server's own that is off, as it is in no row.
    found = [one for one in facts.tables["key_cache"].dictionaries() if one["name"] != "default"]
    if count is None:
        assert len(facts.tables["key_cache"].rows) == 0
        assert "more than 100 key caches" in facts.unknown["key_cache"].reason
    else:
        assert len(found) == count


def test_an_init_file_of_ten_thousand_caches_asks_the_server_nothing(tmp_path: Path) -> None:
    seen: list[bytes] = []
    with HostileServer(lambda client: honest(client, seen=seen)) as server, Session(Target("u", host="127.0.0.1", port=server.port)) as session:
        context = Context(session.target, session, key_caches=tuple(f"c{number}" for number in range(10_000)))
        found = take_snapshot(context, only=with_prerequisites({"key_caches"})).samples["key_caches"]
    assert isinstance(found, Unknown)
    assert "more than 100 key caches" in found.reason
    assert not [question for question in seen if b"key_buffer_size" in question or b"KEY_CACHES" in question]


def test_a_server_that_answers_each_question_just_in_time_ends_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer keeps to its own limit of two seconds; a look that has sixteen would last half a minute, with --timeout 10 five, and systemd would take the daemon for stuck."""
    assert 2 * LOOK_SECONDS < LONGEST_LOOK_SECONDS
    monkeypatch.setattr(wire, "LOOK_SECONDS", 1.0)
    asked: list[bytes] = []

    def late(client: Client) -> None:
        lies: dict[bytes, Callable[[], Iterable[bytes]]] = {start: partial(lately, lie) for start, lie in (numbered(b"5") | ANSWERS).items()}
        honest(client, lies, asked)

    def lately(answer: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
        time.sleep(0.0 if len(asked) < 4 else 0.6)  # the first questions are those of the login
        yield from answer()

    with HostileServer(late) as server:
        begun = time.monotonic()
        with pytest.raises(ServerLostError, match="in one look took too long together"):
            collect_facts(Target("u", host="127.0.0.1", port=server.port), 0.0, 1)
        assert 2.0 <= time.monotonic() - begun < 4.0
        assert len(asked) >= 6


@pytest.mark.parametrize("lie", ["rows that never end", "rows of NULL that never end", "rows of a megabyte that never end", "a value of 1 GiB", "endless columns", "an OK with endless session state"])
def test_what_never_ends_takes_little_memory(lie: str) -> None:
    """Measured in a process of its own, from before it connects."""
    code = (
        "import resource, sys\nfrom myisam_exporter.look.live import collect_facts\nfrom myisam_exporter.errors import UserError\nfrom myisam_exporter.server.target import Target\n"
        "import pymysql, myisam_exporter.collectors.myi\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    collect_facts(Target('u', host='127.0.0.1', port=int(sys.argv[1])), 0, 3)\nexcept UserError as error:\n    print(error, file=sys.stderr)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    with HostileServer(LIES[lie]) as server:
        done = subprocess.run([sys.executable, "-c", code, str(server.port)], capture_output=True, text=True, timeout=60, check=True)
    assert "no server does" in done.stderr
    assert int(done.stdout) < 80 * 1024, f"{int(done.stdout)} KiB"


def test_the_helpers_speak_the_protocol() -> None:
    """What an honest server of theirs says is taken for one: the lies above fail for being lies."""
    assert CAPABILITIES & 0x00080000
    assert OK[0] == 0
    with HostileServer(honest) as server, Session(Target("u", host="127.0.0.1", port=server.port)) as session:
        assert session.version.flavour == "mariadb"
        assert len(session.rows("SHOW GLOBAL STATUS")) == len(list(ANSWERS[b"SHOW GLOBAL STATUS"]())) - 5
