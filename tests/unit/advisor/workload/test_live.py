"""What a recording of a running server says before it begins, and where it came to nothing."""

from dataclasses import replace

import pytest

from myisam_advisor.workload import live
from myisam_advisor.workload.live import Prospect
from myisam_exporter.errors import ByHandError, InterruptedWork, UserError

PROSPECT = Prospect(12.0, 4 << 20, 3, {"long_query_time": "0"}, {"long_query_time": "10"}, False, 60.0)


@pytest.mark.parametrize(
    ("prospect", "says"),
    [
        (PROSPECT, "Now it answers 12 statements a second: that is a log of some 4 MiB."), (replace(PROSPECT, needed_bytes=0, statements_per_second=0.0), "Now it answers no statement."),
        (PROSPECT, "3 connections are there already. They keep their settings: their statements are not seen."),
        (replace(PROSPECT, connections=1), "1 connection is there already. It keeps its settings: its statements are not seen."),
        (replace(PROSPECT, connections=0), "No connection is there already: every statement is seen."),
        (PROSPECT, "Connections made meanwhile keep long_query_time=0 until they end: each of their statements is counted as slow (Slow_queries)."),
    ],
)  # fmt: skip
def test_what_is_going_to_be_done_reads_right(prospect: Prospect, says: str) -> None:
    assert says in list(prospect.sentences())


def test_what_it_cost_is_told_beside_what_was_before() -> None:
    told = dict(live._cost(replace(PROSPECT, processor_share=0.4), 11.0, 0.5, 60.0))
    assert told["load"] == "12 statements a second before, 11 meanwhile"
    assert told["processor"] == "the server used 40 % of one before, 50 % meanwhile"
    assert told["counted"] == "the server counted 660 statements meanwhile"
    assert dict(live._cost(PROSPECT, 11.0, 0.5, 60.0))["processor"] == "the server used 50 % of one meanwhile"
    assert "processor" not in dict(live._cost(PROSPECT, 11.0, None, 60.0))
    told = dict(live._cost(PROSPECT, None, None, 60.0))
    assert told == {"load": "12 statements a second before; how many meanwhile is not known: our connection was ended before it could ask"}


@pytest.mark.parametrize(
    ("connections", "asked", "left_out", "says"),
    [
        (3, 5, {"GRANT": 1}, ["in 60 s", "counted 5 statements meanwhile", "left out: 1 (GRANT)", "3 connections from before kept their settings"]),
        (1, 1, {}, ["counted 1 statement meanwhile", "1 connection from before kept its settings"]), (0, 0, {}, ["counted 0 statements meanwhile", "--seconds"]),
    ],
)  # fmt: skip
def test_a_recording_of_nothing_says_how_long_it_was_and_who_was_not_seen(connections: int, asked: int, left_out: dict[str, int], says: list[str]) -> None:
    told = live._nothing(replace(PROSPECT, connections=connections), 60.2, asked, left_out, "")
    assert [part for part in says if part not in told] == []
    assert ".log" not in told
    assert ("from before" in told) == bool(connections)
    assert told.endswith("; as root, --from probe sees those that are there already.") == bool(connections)
    assert "It was stopped" not in told


def test_a_recording_of_nothing_says_no_number_that_nobody_knows() -> None:
    told = live._nothing(PROSPECT, 60.0, None, {}, "")
    assert "no file was written. No connection made in that time" in told


def test_a_recording_of_nothing_says_why_it_was_stopped() -> None:
    told = live._nothing(PROSPECT, 1.0, 40, {}, "the process that gives the settings back was ended: they were given back at once")
    assert "It was stopped early: the process that gives the settings back was ended: they were given back at once. The server counted 40 statements meanwhile. " in told
    assert "No connection made in that time sent one that can be replayed." in told
    assert "Record for longer" not in told


def test_commands_by_hand_stand_last_each_on_its_own_line() -> None:
    told = live._not_as_it_was(["the settings could not be given back (why). By hand:\n  SET GLOBAL a = 1;\n  SET GLOBAL b = 2;", "the log /x is still there"])
    assert told == "not everything is as it was: the log /x is still there; the settings could not be given back (why). By hand:\n  SET GLOBAL a = 1;\n  SET GLOBAL b = 2;"
    assert live._not_as_it_was(["the log /x is still there"]) == "not everything is as it was: the log /x is still there."


def test_whatever_ends_a_recording_says_what_became_of_the_settings() -> None:
    """A recorder that was interrupted, or refused half-way, said nothing of settings that could not be given back."""
    by_hand = "by hand:\nSET GLOBAL slow_query_log = OFF;"

    def said(error: BaseException, *problems: str, left: tuple[str, ...] = ()) -> BaseException:
        return live._with_what_was_given_back(error, problems, left)

    told = said(KeyboardInterrupt())
    assert isinstance(told, InterruptedWork)
    assert "settings were given back" in str(told)
    assert "But long_query_time: somebody set that meanwhile" in str(said(KeyboardInterrupt(), left=("long_query_time",)))
    told = said(KeyboardInterrupt(), by_hand)
    assert isinstance(told, InterruptedWork)
    assert str(told) == f"not everything is as it was: {by_hand}"
    told = said(UserError("It was refused."), by_hand)
    assert isinstance(told, ByHandError)
    assert str(told) == f"It was refused. And not everything is as it was: {by_hand}"
    refused, fault = UserError("It was refused."), RuntimeError()
    assert said(refused) is refused
    assert said(fault, by_hand) is fault
