from myisam_advisor.trial.statements.survey import ConnectionSpan
from myisam_advisor.trial.statements.threads import divide


def spans(*moments: tuple[int, int]) -> dict[int, ConnectionSpan]:
    return {number: ConnectionSpan(begin, end) for number, (begin, end) in enumerate(moments)}


def test_connections_one_after_another_share_a_thread() -> None:
    threads = divide(spans((0, 10), (11, 20), (21, 30)))
    assert (threads.count, threads.crowded) == (1, 0)


def test_connections_at_once_have_a_thread_each_which_is_used_again() -> None:
    threads = divide(spans((0, 10), (5, 20), (11, 30), (10, 12)))
    assert threads.count == 3
    assert threads.of_connection[0] == threads.of_connection[2]
    assert len({threads.of_connection[one] for one in (0, 1, 3)}) == 3


def test_what_is_too_many_shares_the_thread_that_is_free_first_and_is_counted() -> None:
    threads = divide(spans((0, 100), (0, 50), (10, 20), (60, 70)), most=2)
    assert (threads.count, threads.crowded) == (2, 1)
    assert threads.of_connection[2] == threads.of_connection[1]
    assert threads.of_connection[3] == threads.of_connection[1]
