"""Lines that a long measurement keeps."""

from pathlib import Path

from benchmarks.kept_lines import keep_line, kept_lines


def test_lines_come_back_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.jsonl"
    assert kept_lines(path) == []
    keep_line(path, {"case": "é", "seconds": 1.5})
    keep_line(path, {"case": "2"})
    assert kept_lines(path) == [{"case": "é", "seconds": 1.5}, {"case": "2"}]
    assert path.read_text().count("\n") == 2


def test_a_line_that_was_cut_off_is_passed_over_and_spoils_none_after_it(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    keep_line(path, {"case": "1"})
    with path.open("a") as file:
        file.write('{"case": "2", "sec')
    assert kept_lines(path) == [{"case": "1"}]
    keep_line(path, {"case": "3"})
    assert kept_lines(path) == [{"case": "1"}, {"case": "3"}]


def test_what_is_no_object_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('[1]\n\n3\n{"case": "1"}\n')
    assert kept_lines(path) == [{"case": "1"}]
