"""The pages of a table's partitions together: a sum of which a part is not known is not known."""

from myisam_exporter.files.pages_by_table import resident_pages, together
from myisam_exporter.kernel.residency import FilePages

ALL = FilePages(5, 4, 3, 2, 1)
BY_MINCORE = FilePages(7)


def test_what_is_known_of_each_is_summed() -> None:
    assert together([(ALL, ALL), (ALL, FilePages(1, 0, 0, 0, 0))]) == (FilePages(10, 8, 6, 4, 2), FilePages(6, 4, 3, 2, 1))


def test_what_is_not_known_of_one_is_not_known_of_all() -> None:
    assert together([(ALL, ALL), (BY_MINCORE, None)]) == (FilePages(12), None)
    assert together([(None, ALL), (ALL, ALL)]) == (None, FilePages(10, 8, 6, 4, 2))


def test_a_partition_that_was_not_asked_about_is_left_out() -> None:
    assert together([None, (ALL, None), None]) == (ALL, None)
    assert together([None, None]) is None


def test_pages_in_memory_are_those_that_are_known() -> None:
    assert [resident_pages(one) for one in ((ALL, BY_MINCORE), (None, ALL), (FilePages(), None), None)] == [12, 5, 0, 0]
