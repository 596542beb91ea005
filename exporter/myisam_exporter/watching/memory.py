"""What one look hands on to the next."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import NOT_TRACED, Context
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.directory_scanner import DirectoryScanner
from myisam_exporter.files.index_names import IndexNames
from myisam_exporter.files.sweeper import Sweeper
from myisam_exporter.kernel.thread_switches import ThreadSwitches
from myisam_exporter.look.merging import Remembered
from myisam_exporter.look.snapshot import Snapshot
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.metrics.base import Running

if TYPE_CHECKING:
    from myisam_exporter.kernel.tracepoints import Following


@dataclass(slots=True)
class LookMemory:
    """What is remembered of one target: the last snapshot, what did not change since, counters that we keep.

    Only the target's beat touches it, which looks or glances, one at a time: there is no lock.
    """

    chooser: TableChooser
    snapshot: Snapshot | None = None
    tables: Remembered = field(default_factory=Remembered)
    running: Running = field(default_factory=Running)
    scanner: DirectoryScanner = field(default_factory=DirectoryScanner)
    sweeper: Sweeper = field(default_factory=Sweeper)
    index_names: IndexNames = field(default_factory=IndexNames)
    switches: ThreadSwitches = field(default_factory=ThreadSwitches)
    following: Following | Unknown = NOT_TRACED

    def lend(self, context: Context) -> None:
        """Let collectors use what remembers from look to look."""
        context.scanner, context.sweeper, context.index_names = self.scanner, self.sweeper, self.index_names
        context.switches, context.following = self.switches, self.following
        context.before = self.snapshot.samples if self.snapshot is not None else {}
