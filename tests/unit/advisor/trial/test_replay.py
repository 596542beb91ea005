"""How a sender that failed is told."""

import subprocess

from myisam_advisor.trial.replay import failure_of


def test_a_sender_that_was_killed_is_not_told_by_what_it_printed_before() -> None:
    killed = subprocess.CompletedProcess([], -9, "Threads started!\n\n", "")
    assert str(failure_of(killed)) == "sysbench was ended by SIGKILL: by the kernel, where memory is short, or by somebody. Try again."


def test_one_that_fails_is_told_by_its_own_words() -> None:
    assert str(failure_of(subprocess.CompletedProcess([], 1, "a\nFATAL: no such table\n", ""))) == "sysbench failed: FATAL: no such table"
    assert str(failure_of(subprocess.CompletedProcess([], 1, "", "no room"))) == "sysbench failed: no room"
