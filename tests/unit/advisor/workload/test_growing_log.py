"""A log that somebody cuts off, or removes, while a server appends to it."""

import os
from pathlib import Path

from myisam_advisor.workload.growing_log import GrowingLog


def opened(tmp_path: Path) -> tuple[Path, int]:
    log = tmp_path / "host.log"
    log.write_bytes(b"before the recording")
    return log, os.open(log, os.O_RDONLY)


def test_what_is_appended_begins_where_the_log_ended(tmp_path: Path) -> None:
    log, descriptor = opened(tmp_path)
    growing = GrowingLog(descriptor)
    with log.open("ab") as file:
        file.write(b", and after")
    assert (growing.look(), growing.begin, growing.was_cut, growing.was_removed) == (31, 20, False, False)
    assert (growing.look(), growing.begin, growing.was_cut) == (31, 20, False)  # nobody wrote in between


def test_one_that_is_cut_off_begins_anew_however_long_it_becomes(tmp_path: Path) -> None:
    log, descriptor = opened(tmp_path)
    growing = GrowingLog(descriptor)
    log.open("wb").close()
    assert (growing.look(), growing.begin) == (0, 0)
    log.write_bytes(b"more than there was before it was cut off")
    assert growing.look() > 20
    assert (growing.begin, growing.was_cut, growing.was_removed) == (0, True, False)


def test_one_that_has_no_name_any_more_was_removed(tmp_path: Path) -> None:
    log, descriptor = opened(tmp_path)
    growing = GrowingLog(descriptor)
    log.unlink()
    assert growing.was_removed
