"""What ends the counts of precise page-cache lookups is told: a thread that ended in silence would leave old numbers."""

import time
from pathlib import Path

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.kernel import perf_events, tracepoints
from myisam_exporter.kernel.tracepoints import INSERTION, INSERTION_FIELDS, LOOKUP, LOOKUP_FIELDS, PageCacheTracer


def formats(root: Path, lookup_fields: tuple[str, ...] = LOOKUP_FIELDS) -> None:
    """Tracepoints as tracefs shows them, below this directory, of an event that nobody has."""
    for name, fields in ((LOOKUP, lookup_fields), (INSERTION, INSERTION_FIELDS)):
        folder = root / "events" / "filemap" / name
        folder.mkdir(parents=True)
        (folder / "id").write_text("1\n")
        lines = [f"\tfield:unsigned long {field};\toffset:{8 * place};\tsize:8;\tsigned:0;" for place, field in enumerate(fields)]
        (folder / "format").write_text("\n".join(lines) + "\n")


def test_a_field_that_this_kernel_lacks_is_told_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    formats(tmp_path, LOOKUP_FIELDS[:-2])
    monkeypatch.setattr(perf_events, "TRACEFS", (tmp_path,))
    with pytest.raises(UserError, match="have no field last_index"):
        PageCacheTracer()


def test_any_fault_ends_the_counts_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    formats(tmp_path)
    monkeypatch.setattr(perf_events, "TRACEFS", (tmp_path,))
    monkeypatch.setattr(tracepoints, "online_cpus", list)  # none: no event is opened, and all else is as it is
    tracer = PageCacheTracer()
    try:
        assert tracer.counts().lookups == {}
        # A file whose device is no number has no filter.
        tracer.following().follow(frozenset({("no device", 1)}))  # type: ignore[arg-type]
        deadline = time.monotonic() + 10
        with pytest.raises(UserError, match="ended by a fault: TypeError"):
            while time.monotonic() < deadline:
                tracer.counts()
                time.sleep(0.01)
    finally:
        tracer.close()
