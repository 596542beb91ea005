"""Values as Prometheus text: by prometheus_client, with the checks that it leaves to others.

It takes any object for a label and fails the whole page on a lone surrogate, writes a series twice without a word, and drops a label
that has no value (measured with 0.25): here labels are made clean text, and a value that is declared nowhere or comes twice is
left out and logged.
"""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.metrics.base import Metric, Value

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric as Family
    from prometheus_client.samples import Sample

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
GZIP_LEVEL = 1
LONGEST_LABEL = 1024  # names of servers' have 64 characters; a version that one says of itself may have a million
_GZIP_HEADER = (
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"  # RFC 1952: deflate, no name, no time, fastest, unknown system
)
_HELP = b"# HELP "
# Of a family's two lines of comment: OpenMetrics names a counter without _total there, and escapes quotes.
_COMMENTS = re.compile(rb"^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)\n", re.MULTILINE)
_FAMILY = re.compile(rb"^(?=# HELP )", re.MULTILINE)  # line breaks in labels and help are escaped: format 0.0.4
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rendered:
    """Text, and if it is one metric's, which values it is made of."""

    text: bytes
    name: str = ""
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Page:
    """Rendered families. Compressed once, however often it is sent: a page may be the beginning of a longer one."""

    parts: tuple[Rendered, ...] = ()

    @property
    def text(self) -> bytes:
        """All of it; put together when it is asked for, as a daemon of many targets keeps many pages."""
        return b"".join(part.text for part in self.parts)

    @property
    def values(self) -> Iterator[Value]:
        """What it is made of."""
        return chain.from_iterable(part.values for part in self.parts)

    @cached_property
    def _deflated(self) -> bytes:
        compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        return compressor.compress(self.text) + compressor.flush(zlib.Z_FULL_FLUSH)

    @cached_property
    def open_metrics(self) -> Page:
        """The same families in OpenMetrics 1.0, without its last line. Made of the text, which most who ask are given."""
        return page_of_text(_COMMENTS.sub(_open_metrics_comments, self.text))

    def restricted(self, names: Collection[str]) -> Page:
        """Only the families that expose one of these names."""
        wanted = {name.encode("utf-8", "replace") for name in names}
        blocks = _FAMILY.split(self.text)
        return page_of_text(b"".join(block for block in blocks if block[len(_HELP) :].partition(b" ")[0] in wanted))


def page_of_text(text: bytes) -> Page:
    """A page of text that is rendered already."""
    return Page((Rendered(text),))


def _open_metrics_comments(found: re.Match[bytes]) -> bytes:
    name, text, kind = found.groups()
    if kind == b"counter":
        name = name.removesuffix(b"_total")
    return b"# HELP %b %b\n# TYPE %b %b\n" % (name, text.replace(b'"', b'\\"'), name, kind)


def wants_open_metrics(accept: str) -> bool:
    """Whether a client that accepts these types is given OpenMetrics, as prometheus_client's own endpoint decides it."""
    if "openmetrics" not in accept:
        return False
    from prometheus_client.exposition import choose_encoder

    return choose_encoder(accept)[1].startswith(OPEN_METRICS_TYPE.partition(";")[0])


def joined(pages: Sequence[Page], gzipped: bool, open_metrics: bool = False) -> bytes:
    """Pages one behind the other, as one gzip stream when asked: the earlier ones' compressed form is used again."""
    if open_metrics:
        pages = [*(page.open_metrics for page in pages), _LAST_LINE]
    if not gzipped:
        return b"".join(page.text for page in pages)
    checksum = length = 0
    for part in (part for page in pages for part in page.parts):
        checksum = zlib.crc32(part.text, checksum)
        length += len(part.text)
    last = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    parts = [_GZIP_HEADER, *(page._deflated for page in pages[:-1])]
    parts += [last.compress(pages[-1].text) if pages else b"", last.flush()]
    parts += [checksum.to_bytes(4, "little"), (length % 2**32).to_bytes(4, "little")]
    return b"".join(parts)


_LAST_LINE = page_of_text(b"# EOF\n")


def page_of(metrics: Iterable[Metric], values: Iterable[Value], before: Page | None = None) -> Page:
    """Values rendered under their declarations, in the order of these.

    With the page that there was `before`, what has the values that it had is not rendered again. Without one all is rendered at once, which is
    quicker by a fifth, and nothing of it can be taken over.
    """
    by_name: dict[str, list[Value]] = {}
    for value in values:
        by_name.setdefault(value.name, []).append(value)
    declared = [(metric, tuple(by_name.pop(metric.name, ()))) for metric in metrics]
    for name in by_name:
        _left_out(f"the metric {name} is declared nowhere: left out")
    if before is None:
        families = [family for metric, own in declared if (family := family_of(metric, own)).samples]
        return Page((Rendered(_generated(families), values=tuple(chain.from_iterable(own for _, own in declared))),))
    known = {part.name: part for part in before.parts}
    parts = [_part(metric, own, known.get(metric.name)) for metric, own in declared]
    page = Page(tuple(part for part in parts if part.text))
    # The same page, if it is: it may be compressed already.
    return before if page == before else page


def _part(metric: Metric, values: tuple[Value, ...], before: Rendered | None) -> Rendered:
    if before is not None and before.values == values:
        return before
    family = family_of(metric, values)
    return Rendered(_generated([family]) if family.samples else b"", metric.name, values)


def _generated(families: Sequence[Family]) -> bytes:
    from prometheus_client import generate_latest

    return generate_latest(_Registry(families))


@dataclass(frozen=True, slots=True)
class _Registry:
    """What generate_latest wants of a registry; a real one would collect at registration, and hold a lock meanwhile."""

    families: Sequence[Family]

    def collect(self) -> Sequence[Family]:
        return self.families


@lru_cache(maxsize=1)
def _library() -> tuple[type[Family], type[Sample]]:
    """Imported when something is rendered, which most commands never do, and once: there are 200 families in a scrape."""
    from prometheus_client.metrics_core import Metric as Family
    from prometheus_client.samples import Sample

    return Family, Sample


def family_of(metric: Metric, values: Iterable[Value]) -> Family:
    """prometheus_client's family of one metric, with a sample for each value that is known."""
    make_family, make_sample = _library()
    samples: dict[tuple[str, ...], Sample] = {}
    for value in values:
        if value.number is None:
            continue
        if len(metric.labels) != len(value.labels):
            _left_out(f"a value of {value.name} has {len(value.labels)} labels: left out")
            continue
        labels = tuple(clean_label(label) for label in value.labels)
        if labels in samples:
            _left_out(f"a series of {value.name} came twice, the second is left out", f": {labels!r}")
            continue
        pairs = dict(zip(metric.labels, labels, strict=True))
        samples[labels] = make_sample(metric.full_name, pairs, float(value.number))
    family = make_family(metric.full_name.removesuffix("_total"), metric.help, metric.kind)
    family.samples = list(samples.values())
    return family


_said: set[str] = set()


def _left_out(what: str, example: str = "") -> None:
    """Tell the log, once for each metric: what is in it may be a server's own invention, scrape after scrape."""
    if what not in _said:
        _said.add(what)
        _log.error("%s%s", what, example)


def clean_label(value: object) -> str:
    """A label's value as text that can be encoded: None is empty, bytes and lone surrogates are shown by escapes, and the end of a long one by points."""
    if value is None:
        return ""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    if len(text) > LONGEST_LABEL:
        text = f"{text[:LONGEST_LABEL]}..."
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
