import io
import struct
from pathlib import Path

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.statements.records import (
    ANSWER,
    RECORD,
    SHARED,
    STATEMENT,
    THREAD,
    TICKET,
    prepare_answers,
    read_answers,
    read_report,
    write_record,
)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 4096])
def test_a_record_ends_at_a_multiple_of_eight_with_a_nul_behind_its_text(length: int) -> None:
    file = io.BytesIO()
    write_record(file, STATEMENT, 3, 5_000, b"x" * length, [(1, 2, 0), (4, 5, 3)], is_large=True)
    data = file.getvalue()
    assert len(data) % 8 == 0
    assert RECORD.unpack_from(data) == (length, STATEMENT, 1, 3, 2, 0, 5_000)
    assert TICKET.unpack_from(data, RECORD.size + TICKET.size) == (4, 5, 3, 0)
    text = data[RECORD.size + 2 * TICKET.size :]
    assert text[:length] == b"x" * length
    assert text[length] == 0


def test_files_for_answers_are_as_long_as_all_statements_need(tmp_path: Path) -> None:
    prepare_answers(tmp_path, [3, 0], [2, 0, 7])
    sizes = [(tmp_path / name).stat().st_size for name in ("0.answers", "1.answers", "shared")]
    assert sizes == [THREAD.size + 3 * ANSWER.size, THREAD.size, SHARED.size + 24 + 9]
    shared = (tmp_path / "shared").read_bytes()
    assert SHARED.unpack_from(shared)[:5] == (0, 0, 0, 0, 3)
    # Where the bytes of each table's writes begin; none is done.
    assert struct.unpack_from("=6I", shared, SHARED.size) == (0, 0, 0, 0, 2, 2)
    assert not any(shared[-9:])


def test_answers_come_in_their_order_and_no_time_is_beyond_measure() -> None:
    data = bytes(THREAD.size) + ANSWER.pack(1, 2, 3, 4, 1062, 1) + ANSWER.pack(0, 1 << 63, 0, 0, 0, 0)
    first, second = read_answers(data)
    assert (first.begun_nanoseconds, first.duration_nanoseconds, first.rows, first.error, first.was_sent) == (1, 2, 3, 1062, True)
    assert second.duration_nanoseconds == 86_400 * 10**9
    assert not second.was_sent


def test_a_thread_tells_its_times() -> None:
    report = read_report(THREAD.pack(10**9, 3 * 10**9, 5 * 10**8, 10**9, 0, 2, 1, 0))
    assert (report.begun_seconds, report.ended_seconds, report.cpu_ended_seconds, report.lost) == (1.0, 3.0, 1.0, 2)


@pytest.mark.parametrize("numbers", [(5, 4, 0, 1), (0, 1 << 62, 0, 1), (0, 1, 2, 1)])
def test_times_that_cannot_be_are_refused(numbers: tuple[int, int, int, int]) -> None:
    with pytest.raises(TrialError, match="no time"):
        read_report(THREAD.pack(*numbers, 0, 0, 0, 0))
