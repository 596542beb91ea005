"""What a trial of read_buffer_size concludes, and of which buffer."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from myisam_advisor.trial.bench import Bench
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.experiments.read_buffer import FILL, conclude
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.results import WorkloadResult


@pytest.mark.parametrize(("name", "is_half"), [("mysql-5.6", True), ("mysql-5.7", True), ("mysql-8.0", False), ("mysql-9.7", False), ("mariadb-10.11", False)])
def test_where_set_global_leaves_the_buffer_of_writes_it_is_told(name: str, is_half: bool) -> None:
    """storage/myisam/ha_myisam.cc, start_bulk_insert: before 8.0 of the size at the server's start."""
    here = Path("/nowhere")
    binaries = ServerBinaries(name, name.partition("-")[0], here, here, here)
    bench = cast(Bench, SimpleNamespace(is_mariadb=binaries.flavour == "mariadb", server=SimpleNamespace(binaries=binaries)))
    filled = WorkloadResult(FILL, "rows", {"128 KiB": [Run(1.0, 1000.0)] * 4, "1 MiB": [Run(1.0, 1000.0)] * 4})
    assert ("the buffer of the scan alone" in conclude(bench, [filled])) == is_half
