"""What a recording by a probe would do, as it is said before."""

from myisam_advisor.workload.probing.capture import Prospect


def test_cost_and_room_are_said_before() -> None:
    first, second = Prospect(20_000, 60).sentences()
    assert "For 60 s the kernel notes every statement" in first
    assert "20,000 statements a second: at some 10 µs each that takes 20 % of one processor, and some 687 MiB" in second
