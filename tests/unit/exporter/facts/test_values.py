"""Facts as numbers: unknown is none, and no zero."""

from myisam_exporter.facts.values import number_of, numbers_in, real_of


def test_a_fact_that_is_no_number_is_none_and_no_zero() -> None:
    assert [number_of(fact) for fact in (7, 0, 0.5, None, "7", "")] == [7, 0, 0.5, None, None, None]
    assert numbers_in([None, 3, "3", 0, 0.5]) == [3, 0, 0.5]
    assert [real_of(fact) for fact in (7, None, "7")] == [7.0, None, None]
    assert isinstance(real_of(7), float)
