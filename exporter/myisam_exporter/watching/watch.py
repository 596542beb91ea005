"""Watching one target for a daemon: cheap sources read while a scrape waits, expensive ones in the background.

What an earlier reading gave is never served as if it were now: while the server does not answer, only `up` and the exporter's own
metrics are exposed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import all_collectors
from myisam_exporter.errors import UserError
from myisam_exporter.exposition.reading import Reading, failed_reading
from myisam_exporter.exposition.text import Page, joined
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.directory_scanner import DirectoryScanner
from myisam_exporter.files.index_names import IndexNames
from myisam_exporter.files.sweeper import Sweeper
from myisam_exporter.kernel.thread_switches import ThreadSwitches
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.metrics.base import Value
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.server.target import Target
from myisam_exporter.watching.background import Background
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.followers import Follower
from myisam_exporter.watching.glancer import Glancer
from myisam_exporter.watching.glances import Peak
from myisam_exporter.watching.memory import LookMemory
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.outcomes import own_page
from myisam_exporter.watching.scrapes import Scrapes, cheap_collectors

if TYPE_CHECKING:
    from myisam_exporter.kernel.tracepoints import Following

_log = logging.getLogger(__name__)


class Watch:
    """One target: what connects, scrapes, looks and glances, and the page that they make together.

    Thread-safe. Scrapes and the background share the connection and nothing else: each keeps its own memory, and the page is put
    together from what each published. `judging` is the fleet's.
    """

    def __init__(
        self,
        label: str,
        resolve: Callable[[], Target],
        executor: Executor,
        options: WatchOptions,
        chooser: TableChooser,
        followers: Sequence[Follower] = (),
        judging: threading.Lock | None = None,
        clock: Clock = CLOCK,
    ) -> None:
        self.label = label
        self.options = options
        self.followers = followers
        # Held by whoever looks or glances at it, or forgets it.
        self.turn = threading.Lock()
        self.connection = Connection(resolve, options.timeout_seconds, clock)
        switches = ThreadSwitches()
        self.scrapes = Scrapes(self.connection, options, executor, clock, switches)
        self.glancer = Glancer(self.connection, options.proc, clock, switches)
        self.background = Background(
            label,
            self.connection,
            options,
            self.glancer,
            LookMemory(
                chooser,
                scanner=DirectoryScanner(clock),
                sweeper=Sweeper(clock=clock),
                index_names=IndexNames(clock),
                switches=switches,
                following=_following(options),
            ),
            followers,
            judging or threading.Lock(),
            clock,
        )

    def names(self) -> frozenset[str]:
        """What `collect[]` may name."""
        return selectable(self.followers)

    def scrape(self, selected: frozenset[str]) -> Future[Reading]:
        """A reading of the selected cheap collectors at least, shared with whoever asks for the same at the same time."""
        return self.scrapes.join(selected)

    def look(self) -> Reading:
        """A look at everything, in the background."""
        return self.background.look()

    def glance(self) -> None:
        """A short reading between two looks."""
        self.background.memory.scanner.take_note()
        self.glancer.glance()

    def peaks(self, seconds: float) -> dict[str, Peak]:
        """How high rates rose in the last seconds."""
        return self.glancer.peaks(seconds)

    @property
    def last_asked(self) -> float:
        """When somebody scraped it last: monotonic seconds."""
        return self.scrapes.last_asked

    @property
    def looks(self) -> int:
        """How many looks have ended."""
        return self.background.looks

    @property
    def busy_seconds(self) -> float:
        """How long the look that is under way has taken; 0 between two looks."""
        return self.background.busy_seconds

    @property
    def failure(self) -> str:
        """Why the last look in the background failed, or nothing."""
        return self.background.failure

    def no_reading(self, why: str) -> Reading:
        """What to expose when a reading did not end in time."""
        return failed_reading(cheap_collectors(), UserError(why))

    def values(self, reading: Reading) -> list[Value]:
        """What the background found and what this reading found; nothing of the background where the server does not answer."""
        return [] if reading.failure else [*self.background.found().reading.values, *reading.values]

    def exposition(
        self,
        reading: Reading,
        selected: frozenset[str],
        names: Collection[str],
        gzipped: bool,
        further: Sequence[Page] = (),
        open_metrics: bool = False,
    ) -> bytes:
        """The page: what the background found, then what this scrape found, then how the collectors fared, then what is `further`."""
        found = self.background.found()
        pages: list[Page] = []
        if not reading.failure:
            pages = [page for name, page in found.reading.pages.items() if name in selected]
            pages += [page for name, page in reading.pages.items() if name in selected]
        outcomes = {**found.reading.outcomes, **reading.outcomes}
        last_success = {**found.last_success, **self.scrapes.last_success()}
        pages += [own_page(not reading.failure, outcomes, last_success, selected), *further]
        if names:
            pages = [page.restricted(names) for page in pages]
        return joined(pages, gzipped, open_metrics)

    def give_up(self) -> None:
        """Cut the connection: whoever waits for the server in another thread stops waiting."""
        self.connection.abort()

    def close(self) -> None:
        """End the connection for good; nobody looks any more."""
        self.connection.end()

    def count_no_more(self) -> None:
        """Let the tracepoints count its files no more. Only when the last look has ended: a look follows the files anew."""
        following = self.background.memory.following
        if not isinstance(following, Unknown):
            following.end()

    def renew(self) -> None:
        """End the connection if its target is another one by now."""
        try:
            self.connection.renew()
        except UserError as error:
            _log.warning("%s keeps its connection: %s", self.label, error)


def selectable(followers: Collection[Follower]) -> frozenset[str]:
    """What `collect[]` may name, whichever target is asked about."""
    return frozenset(collector.name for collector in all_collectors()) | {one.name for one in followers}


def _following(options: WatchOptions) -> Following | Unknown:
    return options.tracer if isinstance(options.tracer, Unknown) else options.tracer.following()
