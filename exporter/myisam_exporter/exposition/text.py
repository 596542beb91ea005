"""Values as Prometheus text: by prometheus_client, with the checks that it leaves to others.

It takes any object for a label and fails the whole page on a lone surrogate, writes a series twice without a word, and drops a label
that has no value (measured with 0.25): here labels are made clean text, and a value that is declared nowhere or comes twice is
left out and logged.
"""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from myisam_exporter.metrics.base import Metric, Value

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric as Family

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
GZIP_LEVEL = 1
_GZIP_HEADER = (
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"  # RFC 1952: deflate, no name, no time, fastest, unknown system
)
_HELP = b"# HELP "
# Of a family's two lines of comment: OpenMetrics names a counter without _total there, and escapes quotes.
_COMMENTS = re.compile(rb"^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)\n", re.MULTILINE)
_FAMILY = re.compile(rb"^(?=# HELP )", re.MULTILINE)  # line breaks in labels and help are escaped: format 0.0.4
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Page:
    """Rendered families. Compressed once, however often it is sent: a page may be the beginning of a longer one."""

    text: bytes

    @cached_property
    def _deflated(self) -> bytes:
        compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        return compressor.compress(self.text) + compressor.flush(zlib.Z_FULL_FLUSH)

    @cached_property
    def open_metrics(self) -> Page:
        """The same families in OpenMetrics 1.0, without its last line. Made of the text, which most who ask are given."""
        return Page(_COMMENTS.sub(_open_metrics_comments, self.text))

    def restricted(self, names: Collection[str]) -> Page:
        """Only the families that expose one of these names."""
        wanted = {name.encode("utf-8", "replace") for name in names}
        blocks = _FAMILY.split(self.text)
        return Page(b"".join(block for block in blocks if block[len(_HELP) :].partition(b" ")[0] in wanted))


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
    for page in pages:
        checksum = zlib.crc32(page.text, checksum)
        length += len(page.text)
    last = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    parts = [_GZIP_HEADER, *(page._deflated for page in pages[:-1])]
    parts += [last.compress(pages[-1].text) if pages else b"", last.flush()]
    parts += [checksum.to_bytes(4, "little"), (length % 2**32).to_bytes(4, "little")]
    return b"".join(parts)


_LAST_LINE = Page(b"# EOF\n")


def page_of(metrics: Iterable[Metric], values: Iterable[Value]) -> Page:
    """Values rendered under their declarations."""
    return render(families_of(metrics, values))


def render(families: Iterable[Family]) -> Page:
    """Families as text."""
    from prometheus_client import generate_latest

    return Page(generate_latest(_Registry(list(families))))


@dataclass(frozen=True, slots=True)
class _Registry:
    """What generate_latest wants of a registry; a real one would collect at registration, and hold a lock meanwhile."""

    families: Sequence[Family]

    def collect(self) -> Sequence[Family]:
        return self.families


def families_of(metrics: Iterable[Metric], values: Iterable[Value]) -> list[Family]:
    """prometheus_client's families, those with samples, in the order of their declaration."""
    from prometheus_client.metrics_core import Metric as Family
    from prometheus_client.samples import Sample

    declared = {metric.name: metric for metric in metrics}
    samples: dict[str, dict[tuple[str, ...], Sample]] = {}
    for value in values:
        if value.number is None:
            continue
        metric = declared.get(value.name)
        if metric is None or len(metric.labels) != len(value.labels):
            _log.error("the value %s with %d labels is declared nowhere: left out", value.name, len(value.labels))
            continue
        labels = tuple(clean_label(label) for label in value.labels)
        known = samples.setdefault(value.name, {})
        if labels in known:
            _log.error("the series %s%r came twice: the second is left out", value.name, labels)
            continue
        pairs = dict(zip(metric.labels, labels, strict=True))
        known[labels] = Sample(metric.full_name, pairs, float(value.number))
    families = []
    for name, metric in declared.items():
        if name in samples:
            family = Family(metric.full_name.removesuffix("_total"), metric.help, metric.kind)
            family.samples = list(samples[name].values())
            families.append(family)
    return families


def clean_label(value: object) -> str:
    """A label's value as text that can be encoded: None is empty, bytes and lone surrogates are shown by escapes."""
    if value is None:
        return ""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
