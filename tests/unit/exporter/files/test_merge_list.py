from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.files.merge_list import MAXIMUM_BYTES, parse_merge_list


def test_reads_what_the_servers_write() -> None:
    # Of a MERGE table in the database d, on all four servers.
    data = b"m1\nm2\n./e@002de/m@0020@1o\n#INSERT_METHOD=LAST\n"
    assert parse_merge_list(data, "d") == (("d", "m1"), ("d", "m2"), ("e-e", "m ü"))


def test_what_names_no_table_is_left_out() -> None:
    assert parse_merge_list(b"\n/\n//\nd/\n#sql-1\na\na\n", "d") == (("d", "a"),)


def test_a_long_list_ends_with_a_whole_name() -> None:
    data = b"".join(b"table%06d\n" % number for number in range(10_000))
    found = parse_merge_list(data, "d")
    assert len(found) == MAXIMUM_BYTES // 12
    assert all(len(table) == len("table000000") for _, table in found)


@given(st.binary(max_size=300))
def test_any_bytes_give_names_that_can_be_written(data: bytes) -> None:
    for name in parse_merge_list(data, "d"):
        "".join(name).encode("utf-8")
