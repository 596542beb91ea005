"""What a trial of an index concludes: the writes' gain beside the reads' loss, and what room it takes."""

from typing import cast

import pytest

from myisam_advisor.trial.bench import Bench
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.experiments.drop_index import COUNTS, DROPPED, FETCHES, KEPT, UPDATES, conclude
from myisam_advisor.trial.results import WorkloadResult

BENCH = cast(Bench, None)
NOTE = "Dropped: index 2 k (k); 3 k_c (k, c) takes its place"
INSERTS = "inserts of 1 row"


def result(name: str, speed: float, note: str = "", **figures: tuple[float, float]) -> WorkloadResult:
    """Without the index so many times as fast; each figure with it and without."""
    runs = {
        variant: [Run(1.0, 1000.0 * factor, figures={figure: values[place] for figure, values in figures.items()})] * 4
        for place, (variant, factor) in enumerate(((KEPT, 1.0), (DROPPED, speed)))
    }
    return WorkloadResult(name, "rows", runs, note)


def concluded(writes: float, fetches: float, counts: float) -> str:
    first = result(INSERTS, writes, NOTE, key_blocks_written_per_row=(3.0, 2.0))
    last = result(COUNTS, counts, index_bytes=(6 << 20, 4 << 20), key_cache_blocks=(5735.0, 4538.0))
    return conclude(BENCH, [first, result(UPDATES, 1.0), result(FETCHES, fetches), last])


@pytest.mark.parametrize(
    ("writes", "fetches", "counts", "judged"),
    [
        (1.5, 1.0, 1.0, "It is worth dropping. "),
        (1.5, 1.0, 0.5, "It is worth dropping where statements fetch rows; what only searches the index becomes slower. "),
        (1.5, 0.5, 0.5, "Keep it where such rows are read more often than written"),
        (1.0, 1.0, 0.5, "Writes are not clearly faster without it here"),
        (0.5, 1.0, 1.0, "Writes are not clearly faster without it here"),
    ],
)
def test_it_is_dropped_for_the_writes_and_kept_for_the_reads(writes: float, fetches: float, counts: float, judged: str) -> None:
    assert f"{NOTE}. {judged}" in concluded(writes, fetches, counts)


def test_what_it_takes_is_said() -> None:
    said = concluded(1.5, 0.9, 0.5)
    assert "inserts of 1 row 1.50 times (1.50 to 1.50), updates of its first column 1.00 times" in said
    assert "2 key blocks written a row instead of 3, 4 MiB of index file instead of 6 MiB, 4,538 blocks of the key cache instead of 5,735" in said
    assert "through the other index: rows of one key 0.90 times (0.90 to 0.90), counts of 100 keys 0.50 times" in said


def test_what_is_not_known_is_left_out() -> None:
    """A key cache without room for the whole index; an index that nothing takes the place of."""
    said = conclude(BENCH, [result(INSERTS, 1.5, NOTE, index_bytes=(6 << 20, 4 << 20))])
    assert "blocks" not in said
    assert "4 MiB of index file" in said
    assert "Reads" not in said
    assert "worth dropping" not in said
    assert "reads by its columns were not measured" in said
