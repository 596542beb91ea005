"""Files of rebuilds beside their tables: of one that runs, or left by one that ended with its server, where MySQL's next rebuild fails by it.

Nothing is read for this but the time of each such file: the scan of the data directory has seen the names of all.
"""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, Value, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.rebuild_files import RebuildFile
from myisam_exporter.files.table_columns import UPTIME_STEP_SECONDS


@dataclass(frozen=True, slots=True)
class RebuildFiles:
    """All that were found."""

    files: tuple[RebuildFile, ...]


REBUILD_FILES = SampleKey("rebuild_files", RebuildFiles)


class RebuildFilesCollector(Collector[RebuildFiles]):
    """What the scan saw of rebuilds."""

    name = REBUILD_FILES.name
    source = "names of files"
    after = ("myi", "status")
    states_only = True
    expensive = True
    sections = {
        "rebuild_file": columns(
            ("schema_name", "text", "Database."),
            ("table_name", "text", "Table that a file of a rebuild lies beside (.TMD, .TMM), or may."),
            (
                "file_name",
                "text",
                "Its name; unknown where the table's files are links (DATA DIRECTORY): it is rebuilt where they lead to, and nobody looks there.",
            ),
            (
                "written_since_start",
                "integer",
                "1 when it changed since the server started: a rebuild may be at work. 0: it was left by one that ended with its server.",
            ),
            source=source,
        )
    }

    def collect(self, context: Context) -> RebuildFiles | Unknown:
        """They are known where the files of the tables are."""
        scan = context.sample(MYI)
        return scan if isinstance(scan, Unknown) else RebuildFiles(scan.rebuild_files)

    def facts(self, pair: Pair[RebuildFiles]) -> Iterable[Block]:
        """One row for each."""
        status = pair.other(STATUS)
        started = None if isinstance(status, Unknown) else status.server_started
        rows = [
            (one.schema_name, one.table_name, one.file, _written_since(started, one.modified))
            for one in pair.after.files
        ]
        return [Block("rebuild_file", column_names(self.sections["rebuild_file"]), rows)]


def _written_since(started: float | None, modified: float | None) -> Value:
    if started is None or modified is None:
        return None
    return int(modified > started - UPTIME_STEP_SECONDS)


COLLECTOR = RebuildFilesCollector()
