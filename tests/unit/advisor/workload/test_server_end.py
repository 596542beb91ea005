"""Whether a server has ended, told of its process."""

import subprocess

from myisam_advisor.workload.server_end import end_of, ends_now


def test_the_end_of_a_process_is_seen_before_and_after_somebody_waited_for_it() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        has_ended = end_of(process.pid)
        assert not has_ended()
        assert not ends_now(has_ended, 0.0)
        process.kill()
        assert ends_now(has_ended, 60.0)
    assert has_ended()
    assert end_of(process.pid)()
    assert not end_of(None)()


def test_a_server_that_is_about_to_end_is_given_a_moment() -> None:
    answers = iter([False, False, True])
    assert ends_now(lambda: next(answers), 60.0)
