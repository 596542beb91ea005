"""Lines of the log about findings: one each, none twice, and never a flood."""

import logging

import pytest

from myisam_advisor.daemon.announcer import LINES_AN_HOUR, LINES_OF_A_RULE, Announcer
from myisam_advisor.history.memory import CAME, Clocks, Memory, Turn, Turns
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.past import Episode, Silence

NOW = 1_763_816_400.0
QUIET = Silence(frozenset({"table-lock-contention"}), frozenset())


@pytest.fixture(autouse=True)
def _everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def held(about: str) -> Finding:
    return Finding("table-lock-contention", "Connections wait for table locks", "warning", "likely", "table", about, None, "words", (), "", "", "", "", "", ())


def turns(number: int, rule: str = "table-crashed", severity: str = "critical") -> Turns:
    return Turns([Turn(CAME, Episode("db", rule, f"s.t{one}", severity, NOW, NOW, "words", True), "A table is crashed") for one in range(number)])


class Told:
    """A server whose looks are told."""

    def __init__(self) -> None:
        self.memory, self.announcer, self.now, self.uptime = Memory("db", 60.0), Announcer(), NOW, 9000.0

    def look(self, *about: str) -> None:
        clocks = Clocks(self.now, self.now, self.uptime)
        self.announcer.announce("db", self.memory.look([held(one) for one in about], QUIET, clocks), clocks)
        self.now += 60
        self.uptime += 60


def test_a_finding_is_told_when_it_comes_and_when_it_goes(caplog: pytest.LogCaptureFixture) -> None:
    server = Told()
    for about in ((), ("s.t",), ("s.t",), (), ()):
        server.look(*about)
    came, went = caplog.records
    assert (came.levelname, came.getMessage()) == ("WARNING", "db: found: warning table-lock-contention s.t: Connections wait for table locks")
    assert went.levelname == "INFO"
    assert went.getMessage().startswith("db: gone: warning table-lock-contention s.t: Connections wait for table locks; it held ")
    assert went.getMessage().count("(") == 1


def test_one_that_comes_and_goes_is_not_told_each_time(caplog: pytest.LogCaptureFixture) -> None:
    server = Told()
    server.look()
    for _ in range(100):
        server.look("s.t")
        server.look()
    assert [record.getMessage().split(":")[1] for record in caplog.records] == [" found", " gone", " found again after 60 s"]
    for _ in range(20):
        server.look()
    (_, _, _, end) = caplog.messages
    assert "gone: warning table-lock-contention" in end
    assert "on and off (99 pauses" in end


def test_a_restart_and_a_clock_that_is_set_are_named(caplog: pytest.LogCaptureFixture) -> None:
    server = Told()
    server.look()
    server.uptime = 20.0
    server.look()
    assert "db: the server was started at " in caplog.text
    clocks = Clocks(server.now + 86_400, server.now, 86_500.0)
    server.announcer.announce("db", Turns(), clocks)
    assert caplog.messages[-1].startswith("the clock was set ahead by ")
    server.announcer.announce("other", Turns(), Clocks(clocks.wall + 60, clocks.monotonic + 60))
    assert len(caplog.messages) == 2, "once, whatever the number of servers"


def test_many_of_one_rule_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    Announcer().announce("db", turns(400), Clocks(NOW, 0.0))
    assert len(caplog.records) == LINES_OF_A_RULE + 1
    assert caplog.messages[-1] == f"db: found: {400 - LINES_OF_A_RULE} more of table-crashed"


def test_a_server_has_so_many_lines_an_hour(caplog: pytest.LogCaptureFixture) -> None:
    announcer = Announcer()
    for minute in range(40):  # of three findings each
        announcer.announce("db", turns(3, f"rule-{minute}"), Clocks(NOW + 60 * minute, 60.0 * minute))
    assert len(caplog.records) == LINES_AN_HOUR + 1
    assert "are enough" in caplog.messages[-1]
    announcer.announce("other", turns(1), Clocks(NOW, 0.0))
    assert caplog.messages[-1].startswith("other: found")
    announcer.announce("db", turns(1), Clocks(NOW + 8000, 8000.0))
    assert caplog.messages[-2] == "db: 60 lines about findings were left out"


def test_a_hostile_name_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    name = "s.x\n2026-01-01 00:00:00,000 INFO all is well\x1b[2J\u202e"
    hostile = Turns([Turn(CAME, Episode("db", "r", name, "info", NOW, NOW, "words", begin_seen=False), "Title")])
    Announcer().announce("d\nb", hostile, Clocks(NOW, 0.0))
    (line,) = caplog.messages
    assert line.isprintable()
    assert line.startswith("d\\nb: found: info r s.x\\n2026")
