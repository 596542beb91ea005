"""kill -9 in the middle of writing the history, again and again: nothing is lost but the sample that was being written."""

import os
import random
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history.reader import samples_of_target
from myisam_advisor.history.writer import History
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.table_choice import TableChooser
from tests.support.thoroughness import times

KILLS = times(200, 20)
LABEL = "db"
MAXIMUM_SECONDS = 0.05


def facts() -> FactSet:
    """Enough of them that writing takes a while."""
    tables = [{"schema_name": "s", "table_name": f"t{number}", "data_bytes": number, "write_statements_per_second": 1.5} for number in range(300)]
    return complete(facts_from_document({"schema": 1, "interval_seconds": 10, "server": {"hostname": "h", "uptime_seconds": 100}, "status_per_second": {"Questions": 7.5}, "tables": tables}))


def write_until_killed(path: Path, known: FactSet, told: int) -> None:
    """A process of its own that keeps sample after sample and tells each that is kept."""
    history = History(path)
    chooser = TableChooser()
    while True:
        values = {value.name: value.number for value in history.follow(LABEL, known, chooser.choose(known.tables["tables"]))}
        os.write(told, b"%d\n" % int(values["history_samples"] or 0))


# Other tests may have left threads, which the child does not have and does not need.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_only_the_sample_being_written_is_lost(tmp_path: Path) -> None:
    path, known, generator = tmp_path / "history.sqlite", facts(), random.Random(5)
    kept = lost = 0
    for kill in range(10 * KILLS):
        if kill >= KILLS and kept > KILLS // 10:
            break  # on a busy machine many children are killed before they write
        ours, theirs = os.pipe()
        child = os.fork()
        if not child:
            try:
                write_until_killed(path, known, theirs)
            finally:
                os._exit(1)
        os.close(theirs)
        time.sleep(generator.uniform(0, MAXIMUM_SECONDS))
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        with os.fdopen(ours, "rb") as pipe:
            told = pipe.read().split()
        last = int(told[-1]) if told else kept
        if not path.exists():
            continue
        with closing(sqlite3.connect(path)) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            present = database.execute("SELECT COUNT(*) FROM sample").fetchone()[0] if "sample" in tables else 0
        # What was told was kept; one more may be there that was not told yet.
        assert last <= present <= last + 1
        lost += present == last
        kept = present
    assert kept > KILLS // 10
    # Kills hit both before and after a sample was kept: they were no idle ones.
    assert 0 < lost <= kill
    samples = samples_of_target(path, LABEL, 0, time.time())
    assert len(samples) == kept
    assert all(sample["status.Questions.per_second"] == 7.5 for _, _, sample in samples)
    assert not list(tmp_path.glob("*.corrupt-*"))
