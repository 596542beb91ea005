"""How targets are watched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import NOT_TRACED, PAGE_CACHE_SWEEP_SECONDS, Context
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.clock import Clock
from myisam_exporter.server.session import Session

if TYPE_CHECKING:
    from myisam_exporter.kernel.tracepoints import PageCacheTracer

DEFAULT_BACKGROUND_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What holds for all targets of a daemon."""

    timeout_seconds: int = 5
    background_seconds: float = DEFAULT_BACKGROUND_SECONDS
    page_cache_seconds: float = PAGE_CACHE_SWEEP_SECONDS
    key_caches: tuple[str, ...] = ()
    tracer: PageCacheTracer | Unknown = NOT_TRACED
    proc: Path = Path("/proc")
    sys: Path = Path("/sys")

    def context(self, session: Session, clock: Clock) -> Context:
        """What collectors may use over this session."""
        return Context(
            session.target,
            session,
            self.proc,
            self.sys,
            self.page_cache_seconds,
            key_caches=self.key_caches,
            clock=clock,
        )
