"""Readings between two looks: which have rates, what these are, and for how long they are kept."""

from myisam_exporter.watching.glances import Glance, Glances, Peak

READS = "Key_reads"


def glances(*taken: Glance) -> Glances:
    found = Glances()
    for glance in taken:
        found.take(glance)
    return found


def test_rates_are_per_second_whatever_lies_between_two_readings() -> None:
    peaks = glances(Glance(0.0, {READS: 0.0}, {1: (0, 0)}), Glance(4.0, {READS: 8.0}, {1: (12, 20)})).peaks(0.0)
    assert peaks == {READS: Peak(2.0, 2.0), "voluntary_switches": Peak(3.0, 3.0), "involuntary_switches": Peak(5.0, 5.0)}


def test_a_counter_that_stands_still_has_a_rate_of_nothing() -> None:
    assert glances(Glance(0.0, {READS: 7.0}), Glance(1.0, {READS: 7.0})).peaks(0.0) == {READS: Peak(0.0, 0.0)}


def test_a_reading_of_the_same_moment_has_no_rate() -> None:
    assert glances(Glance(1.0, {READS: 0.0}), Glance(1.0, {READS: 7.0})).peaks(0.0) == {}


def test_switches_that_were_read_only_once_are_no_rate() -> None:
    assert glances(Glance(0.0, {}, {1: (0, 0)}), Glance(1.0, {}), Glance(2.0, {}, {1: (9, 9)})).peaks(0.0) == {}


def test_a_reading_counts_from_its_moment_on() -> None:
    found = glances(Glance(0.0, {READS: 0.0}), Glance(1.0, {READS: 5.0}))
    assert found.peaks(1.0) == {READS: Peak(5.0, 5.0)}
    assert found.peaks(1.001) == {}


def test_readings_are_kept_for_a_quarter_of_an_hour() -> None:
    found = glances(Glance(0.0, {READS: 0.0}), Glance(1.0, {READS: 5.0}), Glance(901.0, {}))
    assert found.peaks(0.0) == {READS: Peak(5.0, 5.0)}
    found.take(Glance(901.5, {}))
    assert found.peaks(0.0) == {}
