"""All watches of a daemon: its own server and those probed, each looked at in the background on its own beat."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import field
from typing import Any, TypeVar

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.watching.followers import Follower
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.probe_targets import Listed, ProbeTargets
from myisam_exporter.watching.watch import Watch

# Looks at the same time, whatever the number of targets: some of them wait for servers that hang.
LOOKS_AT_ONCE = 8
GLANCES_PER_LOOK = 10
FIRST_LOOKS_APART_SECONDS = 10.0
# A target that nobody probes for so many background intervals is forgotten, its connection closed.
IDLE_INTERVALS = 10
WITHOUT_THREAD_SECONDS = 1.0
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Fleet:
    """Watches by listed name and module, and the daemon's own. The event loop's thread alone adds and forgets them.

    Looks and glances run in the threads named `look`, one at a time for each target. `judging` is held while one of them works out its
    facts: several at once would only take the interpreter from each other, thousands of times a look.
    """

    options: WatchOptions
    executor: Executor
    make_chooser: Callable[[], TableChooser]
    followers: Sequence[Follower] = ()
    targets: ProbeTargets = field(default_factory=ProbeTargets)
    own: Watch | None = None
    clock: Clock = CLOCK
    judging: threading.Lock = field(default_factory=threading.Lock)
    _probed: dict[tuple[str, str], Watch] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _looker: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(LOOKS_AT_ONCE, thread_name_prefix="look")
    )

    def watch_own(self, label: str, resolve: Callable[[], Target]) -> Watch:
        """Watch the daemon's own server. Needs a running event loop."""
        watch = self.own = self._watch(label, resolve)
        self._start(self._beats(watch, lambda: not watch.connection.is_over))
        return watch

    def move_own(self, label: str, resolve: Callable[[], Target]) -> None:
        """Watch another server as the daemon's own, where this is another: nothing of the former is taken for its."""
        former = self.own
        if former is not None and former.label != label:
            _log.info("watching %s from now on, instead of %s", label, former.label)
            former.close()
            self.watch_own(label, resolve)

    def watch_probed(self, listed: Listed, module: str) -> Watch:
        """The watch of a listed server, begun when it is probed first."""
        key = (listed.name, module)
        watch = self._probed.get(key)
        if watch is None:
            targets = self.targets
            watch = self._watch(listed.name, lambda: targets.resolve(listed, module))
            self._probed[key] = watch
            self._start(self._beats(watch, lambda: self._is_wanted(key, watch)))
        return watch

    def probed(self, name: str) -> Watch | None:
        """The watch of a listed server that is probed, by whichever module; None when nobody probes it."""
        return next((watch for (one, _), watch in list(self._probed.items()) if one == name), None)

    def session_of(self, label: str) -> Session:
        """The open session with a target that is watched. Raises UserError where there is none, or none now."""
        watch = next((one for one in self._watches() if one.label == label), None)
        if watch is None:
            raise UserError(f"{label} is not watched any more.")
        return watch.connection.session()

    def probed_names(self) -> list[str]:
        """The listed servers that are probed."""
        return sorted({name for name, _ in list(self._probed)})

    def reload(self, targets: ProbeTargets) -> None:
        """Use another list: watches of targets that changed in it begin anew, the others go on."""
        before, self.targets = self.targets, targets
        for (name, module), watch in list(self._probed.items()):
            if targets.listed.get(name) != before.listed.get(name):
                del self._probed[name, module]
                watch.close()

    def renew_connections(self) -> None:
        """Make connections anew whose address or credentials changed. Reads option files: not for an event loop."""
        for watch in self._watches():
            watch.renew()

    @property
    def size(self) -> int:
        """How many targets are watched."""
        return len(self._probed) + (self.own is not None)

    def busy_seconds(self) -> float:
        """How long the longest look that is under way has taken."""
        return max((watch.busy_seconds for watch in self._watches()), default=0.0)

    def close(self) -> None:
        """Stop looking and end all connections."""
        for task in self._tasks:
            task.cancel()
        for watch in self._watches():
            watch.give_up()

    def _watches(self) -> list[Watch]:
        return [*list(self._probed.values()), *([self.own] if self.own else [])]

    def _watch(self, label: str, resolve: Callable[[], Target]) -> Watch:
        return Watch(
            label,
            resolve,
            self.executor,
            self.options,
            self.make_chooser(),
            self.followers,
            self.judging,
            self.clock,
        )

    def _start(self, beat: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(beat)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _is_wanted(self, key: tuple[str, str], watch: Watch) -> bool:
        """Whether it was probed lately; a reload may have put another in its place."""
        if self._probed.get(key) is not watch:
            return False
        if self.clock.monotonic() - watch.last_asked < IDLE_INTERVALS * self.options.background_seconds:
            return True
        watch.close()
        del self._probed[key]
        return False

    async def _beats(self, watch: Watch, is_wanted: Callable[[], bool]) -> None:
        """A beat, and another where one ended by a fault: without memory even what tells a fault may fail, and nobody would look any more."""
        while True:
            try:
                return await self._beat(watch, is_wanted)
            except MemoryError:
                with contextlib.suppress(Exception):
                    _log.warning("the looks at %s ended (MemoryError) and begin again", watch.label)
            except Exception:
                with contextlib.suppress(Exception):
                    _log.exception("the looks at %s ended and begin again", watch.label)
            # Out here, what the error held is given back.
            await asyncio.sleep(WITHOUT_THREAD_SECONDS)

    async def _beat(self, watch: Watch, is_wanted: Callable[[], bool]) -> None:
        """Looks at the watch's pace; the second comes soon, for rates; glances in between."""
        interval = self.options.background_seconds
        pause = min(FIRST_LOOKS_APART_SECONDS, interval)
        failure = ""
        while is_wanted():
            started = self.clock.monotonic()
            found = await self._in_turn(_look, watch)
            if found != failure:
                _log.log(logging.WARNING if found else logging.INFO, "%s: %s", watch.label, found or "answers")
                failure = found
            due = started + pause
            while (rest := due - self.clock.monotonic()) > 0:
                await asyncio.sleep(min(rest, interval / GLANCES_PER_LOOK))
                if due - self.clock.monotonic() > 0:
                    await self._in_turn(_glance, watch)
            pause = interval
        await self._in_turn(self._forget, watch)

    async def _in_turn(self, work: Callable[[Watch], Result], watch: Watch) -> Result:
        """Do it in one of the threads for looks; later, where the system gives none now: a beat that ended there would look no more."""
        is_told = False
        while True:
            try:
                doing = asyncio.get_running_loop().run_in_executor(self._looker, _alone, work, watch)
            except RuntimeError as error:
                if not is_told:
                    _log.warning("%s is not looked at for now: %s", watch.label, error)
                is_told = True
                await asyncio.sleep(WITHOUT_THREAD_SECONDS)
            else:
                return await doing

    def _forget(self, watch: Watch) -> None:
        """End what a watch had counted, once its last look has ended; let the followers forget its target, unless another watch is of the same name."""
        watch.count_no_more()
        with self.judging:
            if any(other.label == watch.label for other in self._watches()):
                return
            for follower in self.followers:
                try:
                    follower.forget(watch.label)
                except Exception:
                    _log.exception("%s failed to forget %s", follower.name, watch.label)


def _alone(work: Callable[[Watch], Result], watch: Watch) -> Result:
    """What was refused a thread of its own may be done by another later (concurrent.futures keeps it): two of a watch never work at once."""
    with watch.turn:
        return work(watch)


def _look(watch: Watch) -> str:
    """One look; why it failed, or nothing."""
    try:
        return watch.look().failure.partition(" (trying again")[0]
    except UserError as error:
        return str(error)
    except Exception as error:
        _log.exception("the look at %s failed", watch.label)
        return f"{type(error).__name__}: {error}"


def _glance(watch: Watch) -> None:
    """One glance; what fails in it is logged, and the beat goes on."""
    try:
        watch.glance()
    except Exception:
        _log.exception("the glance at %s failed", watch.label)
