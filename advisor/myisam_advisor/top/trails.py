"""What the machine and the server do now, and did in the last minutes: the values beside the curves."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field

from myisam_advisor.top.figures import Say, each_second, figure, octets_per_second, share
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactSet

KEPT = 300


@dataclass(frozen=True, slots=True)
class Gauge:
    """One number with a curve. `facts` are those it is made of, which say why it is unknown; `highest` the end of its scale."""

    label: str
    means: str
    value: Callable[[FactSet], float | None]
    say: Say
    facts: tuple[str, ...]
    highest: float | None = None


def _single(table: str, *columns: str) -> Callable[[FactSet], float | None]:
    """The sum of columns of a table that has one row; unknown where one of them is."""

    def value(facts: FactSet) -> float | None:
        row = facts.single(table)
        numbers = [number_of(row.get(column)) for column in columns]
        known = [number for number in numbers if number is not None]
        return sum(known) if len(known) == len(numbers) else None

    return value


def _rate_of(name: str) -> Callable[[FactSet], float | None]:
    """The rate of a status variable."""

    def value(facts: FactSet) -> float | None:
        status = facts.tables["status"]
        return next(
            (
                number_of(rate)
                for one, rate in zip(status.values("name"), status.values("per_second"), strict=True)
                if one == name
            ),
            None,
        )

    return value


def _statements(facts: FactSet) -> float | None:
    """Without our own."""
    all_of_them = _rate_of("Questions")(facts)
    own = number_of(facts.single("server").get("own_statements_per_second"))
    return None if all_of_them is None else max(all_of_them - (own or 0.0), 0.0)


def _key_cache_misses(facts: FactSet) -> float | None:
    caches = facts.tables["key_cache"]
    rates = [number_of(rate) for rate in caches.values("reads_per_second")]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known else None


GAUGES = (
    Gauge("running", "connections at work, without our own", _single("mysqld", "threads_running"), figure, ("mysqld.threads_running",)),
    Gauge(
        "switches", "context switches of the server's threads",
        _single("mysqld", "voluntary_switches_per_second", "involuntary_switches_per_second"), each_second, ("mysqld.voluntary_switches_per_second",),
    ),
    Gauge("I/O wait", "share of the processors' time that waits for a disk", _single("host", "cpu_iowait_ratio"), share, ("host.cpu_iowait_ratio",), 1.0),
    Gauge("CPU", "of the server's process; 100 % is one core", _single("mysqld", "cpu_user_ratio", "cpu_system_ratio"), share, ("mysqld.cpu_user_ratio",)),
    Gauge("cache hits", "reads of the server's process that the page cache served", _single("mysqld", "page_cache_hit_ratio"), share, ("mysqld.page_cache_hit_ratio",), 1.0),
    Gauge(
        "from disk", "what the server's process fetched from storage",
        _single("mysqld", "disk_read_bytes_per_second"), octets_per_second, ("mysqld.disk_read_bytes_per_second",),
    ),
    Gauge("statements", "asked of the server, without our own", _statements, each_second, ("status",)),
    Gauge("key misses", "index blocks that no key cache had", _key_cache_misses, each_second, ("key_cache.reads_per_second", "key_cache")),
    Gauge("lock waits", "table locks that were waited for", _rate_of("Table_locks_waited"), each_second, ("status",)),
)  # fmt: skip
KEY_CACHE_REQUESTS = "key cache "


@dataclass(slots=True)
class Trails:
    """The last values of each gauge, and of the requests of each key cache."""

    points: dict[str, deque[float | None]] = field(default_factory=dict)
    _taken_at: float = 0.0

    def add(self, facts: FactSet, taken_at: float) -> None:
        """Keep what one look gave, once."""
        if taken_at == self._taken_at:
            return
        self._taken_at = taken_at
        for gauge in GAUGES:
            self._keep(gauge.label, gauge.value(facts))
        for cache in facts.tables["key_cache"].dictionaries():
            self._keep(f"{KEY_CACHE_REQUESTS}{cache['name']}", requests_of(cache))

    def add_gap(self) -> None:
        """The server did not answer."""
        for points in self.points.values():
            points.append(None)

    def of(self, name: str) -> Sequence[float | None]:
        """The values of a gauge by its label."""
        return list(self.points.get(name, ()))

    def _keep(self, name: str, value: float | None) -> None:
        self.points.setdefault(name, deque(maxlen=KEPT)).append(value)


def requests_of(cache: dict[str, Value]) -> float | None:
    """Index blocks asked of a key cache in a second, to read or to write."""
    reads, writes = (number_of(cache.get(name)) for name in ("read_requests_per_second", "write_requests_per_second"))
    return None if reads is None or writes is None else reads + writes
