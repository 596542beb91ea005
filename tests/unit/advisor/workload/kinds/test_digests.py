"""What came between two readings of performance_schema's digests, on which servers there are any, and what they do not tell."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from myisam_advisor.workload.kinds import digests
from myisam_advisor.workload.kinds.digests import DigestWatch, _difference, _numbers, may_be_cut
from myisam_advisor.workload.kinds.seen import MyisamTables
from myisam_exporter.errors import ServerLostError, StatementRefusedError, UserError
from myisam_exporter.server.driver import MAXIMUM_ROWS, Row

BEFORE = (10, 5_000_000_000_000, 1_000_000_000_000, 100, 1000, 2)
POSTS = MyisamTables([("forum", "posts")])
NOW = 1_700_000_000
SECOND = 10**12


@dataclass(frozen=True)
class Digest:
    """A row of the summary: so often, in so many seconds."""

    text: str | None
    count: int
    seconds: int = 0
    first_seen: float = NOW - 1000
    name: str | None = "d1"

    @property
    def numbers(self) -> Row:
        return (str(self.count), str(self.seconds * SECOND), "0", "1", "1", "0")


@dataclass
class Server:
    """Answers as a server with these digests; each connection ends when it `is_lost`."""

    digests: list[Digest] = field(default_factory=list)
    consumers: dict[str, str] = field(default_factory=lambda: {"global_instrumentation": "YES", "statements_digest": "YES"})
    variables: dict[str, str] = field(default_factory=lambda: {"performance_schema": "ON", "max_digest_length": "1024", "performance_schema_max_digest_length": "1024", "performance_schema_digests_size": "5000"})
    instruments: tuple[int, int] = (100, 0)
    threads: int = 0
    executed: int = 0
    refused: bool = False
    is_lost: bool = False
    connections: int = 0
    closed: int = 0

    def connect(self) -> "Connection":
        self.connections += 1
        self.is_lost = False
        return Connection(self)

    def answer(self, statement: str) -> list[Row]:  # noqa: PLR0911 - one for each that is asked
        if "SHOW GLOBAL VARIABLES" in statement:
            return list(self.variables.items())
        if self.refused:
            raise StatementRefusedError(1142, "SELECT command denied")
        if "setup_consumers" in statement:
            return list(self.consumers.items())
        if "setup_instruments" in statement:
            return [(str(self.instruments["ENABLED = 'NO'" in statement]),)]
        if ".threads" in statement:
            return [(str(self.threads),)]
        if "statement/com/Execute" in statement:
            return [(str(self.executed), "0", "0", "0", "0", "0")]
        if "LAST_SEEN" in statement:
            return [("forum", one.name, one.text, str(one.first_seen), *one.numbers) for one in self.digests]
        if "by_digest" in statement:
            return [("forum", one.name, *one.numbers) for one in self.digests]
        return [(str(NOW),)]


@dataclass
class Connection:
    server: Server

    def rows(self, statement: str, arguments: Sequence[str] | None = None, maximum_rows: int = MAXIMUM_ROWS, *, columns: int | None = None) -> list[Row]:
        if self.server.is_lost:
            raise ServerLostError("lost the server.")
        return self.server.answer(statement)

    def close(self) -> None:
        self.server.closed += 1


def test_what_came_in_between_is_the_difference_in_seconds() -> None:
    sums = _difference((13, 8_000_000_000_000, 1_500_000_000_000, 110, 1500, 5), BEFORE)
    assert (sums.count, sums.seconds, sums.lock_wait_seconds) == (3, 3.0, 0.5)
    assert (sums.rows_sent, sums.rows_examined, sums.without_index) == (10, 500, 3)


def test_a_new_digest_and_one_that_was_emptied_count_from_zero() -> None:
    now = (2, 10**12, 0, 1, 1, 0)
    assert _difference(now, None) == _difference(now, BEFORE)
    assert _difference(now, BEFORE).count == 2


def test_a_server_that_lies_tells_no_numbers() -> None:
    assert _numbers(["-1", "x", None, "9" * 30, "nan", "7"]) == (0, 0, 0, 0, 0, 7)


def test_kinds_are_what_came_since_the_last_time() -> None:
    scan = Digest("SELECT * FROM `posts`", 10, 50)
    server = Server([scan])
    watch = DigestWatch(server.connect)
    server.digests = [replace(scan, count=12, seconds=53), Digest("UPDATE `posts` SET `a` = ?", 4, 2, NOW + 1, "d2")]
    seen = watch.take(POSTS)
    assert [(kind.fingerprint, kind.sums.count, kind.sums.seconds) for kind in seen.kinds] == [("select * from posts", 2, 3.0), ("update posts set a = ?", 4, 2.0)]
    assert watch.take(POSTS).kinds == ()
    watch.close()
    assert server.closed == 1


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        (Server(variables={"performance_schema": "OFF"}), "is off, and can only be switched on when the server starts: performance_schema=ON in my.cnf"),
        (Server(variables={"performance_schema": "ON", "max_digest_length": "0"}), "it keeps no digests of statements (max_digest_length is 0)"),
        (Server(consumers={"global_instrumentation": "YES"}), "this version's performance_schema keeps no digests"),
        (Server(consumers={"global_instrumentation": "NO", "statements_digest": "YES"}), "the consumer global_instrumentation is off"),
        (Server(consumers={"global_instrumentation": "YES", "statements_digest": "NO"}), "the consumer statements_digest is off"),
        (Server(instruments=(0, 140)), "all instruments for statements are off"),
        (Server(refused=True), "performance_schema may not be read (SELECT command denied): this account needs GRANT SELECT ON performance_schema.*"),
    ],
)  # fmt: skip
def test_a_server_that_keeps_none_is_refused_and_its_connection_closed(spoiled: Server, said: str) -> None:
    with pytest.raises(UserError) as refused:
        DigestWatch(spoiled.connect)
    assert said in str(refused.value)
    assert spoiled.closed == 1


def test_what_is_watched_in_part_is_noted() -> None:
    assert len(DigestWatch(Server().connect).take(POSTS).notes) == 1
    notes = DigestWatch(Server(instruments=(137, 3), threads=2).connect).take(POSTS).notes
    assert any("Of 140 sorts of statements 3 are not watched or not timed" in note for note in notes)
    assert any("(setup_actors): 2 connections" in note for note in notes)


def test_a_connection_that_was_closed_meanwhile_is_made_anew_once() -> None:
    scan = Digest("SELECT * FROM `posts`", 10)
    server = Server([scan])
    watch = DigestWatch(server.connect)
    server.digests, server.is_lost = [replace(scan, count=13)], True
    assert [kind.sums.count for kind in watch.take(POSTS).kinds] == [3]
    assert (server.connections, server.closed) == (2, 1)


def test_one_that_does_not_come_about_again_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    watch = DigestWatch(server.connect)
    server.is_lost = True
    monkeypatch.setattr(watch, "_connect", lambda: Connection(server))
    with pytest.raises(ServerLostError):
        watch.take(POSTS)


def test_what_was_there_before_and_not_known_counts_from_now_on(monkeypatch: pytest.MonkeyPatch) -> None:
    old = Digest("SELECT * FROM `posts`", 1_000_000, 5_000, NOW - 0.5)
    server = Server()
    watch = DigestWatch(server.connect)
    server.digests = [old, replace(old, name="d2", text="DELETE FROM `posts`", count=2, first_seen=NOW)]
    seen = watch.take(POSTS)
    assert [(kind.fingerprint, kind.sums.count) for kind in seen.kinds] == [("delete from posts", 2)]
    assert "Of 1 kind it was not known how often they had been answered before: they count from now on." in seen.notes
    server.digests = [replace(old, count=1_000_007)]
    seen = watch.take(POSTS)
    assert [kind.sums.count for kind in seen.kinds] == [7]
    assert not any("was not known" in note for note in seen.notes)
    monkeypatch.setattr(digests, "_MAXIMUM_DIGESTS", 1)
    assert any("more than 1 kinds" in note for note in watch.take(POSTS).notes)


def test_what_has_no_text_or_not_all_of_it_is_of_unknown_tables() -> None:
    server = Server()
    watch = DigestWatch(server.connect)
    long = "SELECT " + ", ".join(["`some_column_with_a_long_name`"] * 40)
    server.digests = [
        Digest(None, 3, 1, NOW, None), Digest("SELECT `a` , ...", 5, 1, NOW, "d2"), Digest(long, 7, 1, NOW, "d3"),
        Digest("CALL `work` ( )", 11, 1, NOW, "d4"), Digest("SELECT ?", 13, 1, NOW, "d5"), Digest(long + " FROM `posts`", 17, 1, NOW, "d6"),
    ]  # fmt: skip
    seen = watch.take(POSTS)
    assert (seen.unknown.count, seen.others.count) == (3 + 5 + 7 + 11, 13)
    assert [(kind.sums.count, kind.is_whole) for kind in seen.kinds] == [(17, False)]
    assert any("Of no kind: 3 statements" in note for note in seen.notes)


def test_executions_are_of_what_was_prepared_and_of_unknown_tables_where_they_have_no_digests() -> None:
    server = Server(executed=1000)
    watch = DigestWatch(server.connect)
    server.executed = 1009
    server.digests = [Digest("EXECUTE SELECT `a` FROM `posts` ", 9, 3, NOW), Digest("SELECT `a` FROM `posts`", 1, 1, NOW, "d2"), Digest("PREPARE SELECT `a` FROM `posts`", 2, 0, NOW, "d3")]
    seen = watch.take(POSTS)
    assert [(kind.fingerprint, kind.sums.count) for kind in seen.kinds] == [("select a from posts", 10)]
    assert (seen.unknown.count, seen.others.count, len(seen.notes)) == (0, 2, 1)
    server.executed, server.digests = 1016, [Digest("EXECUTE `a_name` ", 4, 0, NOW, "d4")]
    seen = watch.take(POSTS)
    assert seen.unknown.count == 7 + 4
    assert "This server's digests have no executions of prepared statements: 7 statements of unknown tables." in seen.notes


def test_a_text_is_cut_where_it_nearly_takes_what_is_kept() -> None:
    # 4 bytes and its own for a name, 2 for a word: 12 and 2 for each of these.
    listed = ", ".join(["`column_1`"] * 58)
    assert not may_be_cut(f"SELECT {listed}", 1024)
    assert may_be_cut(f"SELECT {listed}, `column_1`, `column_1`", 1024)
    assert not may_be_cut(f"SELECT {listed}, `column_1`, `column_1`", 4096)
    assert may_be_cut("", 1024)
    assert may_be_cut("SELECT `a` ...", 1024)
    for whole in ("INSERT INTO `a` VALUES (...)", "INSERT INTO `a` VALUES (...) /* , ... */", "SELECT `a` FROM `b` LIMIT ?, ...", "SELECT `a` FROM `b` LIMIT ?, ... "):
        assert not may_be_cut(whole, 1024)
