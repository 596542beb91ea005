"""A picture of a trial: each variant's ratio to the baseline with its interval, workload by workload. Drawn by matplotlib, if installed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.proofs.proof import NO_DIFFERENCE, UNCLEAR, WORSE, WORTH_IT
from myisam_advisor.texts.templates import printable
from myisam_advisor.texts.whole_files import OutputDirectory, expect_writable
from myisam_advisor.trial.comparison import Comparison
from myisam_advisor.trial.experiments.base import Experiment
from myisam_advisor.trial.report import noise_lines
from myisam_advisor.trial.results import TrialResult

ENDINGS = (".svg", ".png")
# Told apart by those who see no red and green, too: Okabe and Ito, "Color Universal Design", 2008. The words stand beside them.
COLOURS = {WORTH_IT: "#009E73", NO_DIFFERENCE: "#999999", WORSE: "#D55E00", UNCLEAR: "#E69F00"}
INCHES_PER_BAR, WIDTH_INCHES, FRAME_INCHES = 0.3, 10, 1.6
LONG_RATIO = 8


def expect_drawable(path: Path) -> None:
    """Raises UserError for an ending that cannot be drawn, without matplotlib, or where no file can be: before the trial runs, not after."""
    import importlib.util

    if path.suffix not in ENDINGS:
        raise TrialError(f"{path}: a chart is drawn as {' or '.join(ENDINGS)}.")
    if importlib.util.find_spec("matplotlib") is None:
        raise TrialError(
            "--chart needs matplotlib: apt install python3-matplotlib, or pip install matplotlib into the environment of myisam-advisor."
        )
    expect_writable(path, "Give another --chart.")


def draw(experiment: Experiment, result: TrialResult, path: Path) -> None:
    """Draw a trial's result into the file."""
    bars = [(f"{workload.name}: {one.variant}", one) for workload in result.workloads for one in workload.comparisons]
    baseline = next((workload.baseline for workload in result.workloads), "")
    server = f"{result.server} {result.version}" if result.server else "no server"
    noise = "".join(f"\n{line}" for line in noise_lines(result)[:1])
    draw_bars(bars, baseline, f"{experiment.title}\n{server}, {result.machine}{noise}", path)


def draw_bars(bars: Sequence[tuple[str, Comparison]], baseline: str, title: str, path: Path) -> None:
    """Draw a bar for each comparison, and leave nothing else: matplotlib would keep fonts in the user's home directory."""
    with tempfile.TemporaryDirectory(prefix="myisam-chart-") as folder:
        os.environ.setdefault("MPLCONFIGDIR", folder)
        with _standing_in(folder):
            import matplotlib  # noqa: F401
        _draw(bars, baseline, title, path)


@contextlib.contextmanager
def _standing_in(folder: str) -> Iterator[None]:
    """With this as the working directory: matplotlib obeys the `matplotlibrc` in that, whoever laid it there."""
    here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.chdir(folder)
        yield
    finally:
        os.fchdir(here)
        os.close(here)


def _draw(bars: Sequence[tuple[str, Comparison]], baseline: str, title: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        figsize=(WIDTH_INCHES, max(FRAME_INCHES + INCHES_PER_BAR * len(bars), 2.5)), layout="constrained"
    )
    for place, (_, one) in enumerate(bars):
        low, high = one.interval or (one.ratio, one.ratio)
        errors = [[max(one.ratio - low, 0)], [max(high - one.ratio, 0)]]
        axes.barh(
            place,
            one.ratio,
            xerr=errors,
            color=COLOURS[one.verdict],
            height=0.7,
            error_kw={"elinewidth": 1, "capsize": 2},
        )
        axes.text(max(high, one.ratio) * 1.02, place, f" {one.ratio:.2f} {one.verdict}", va="center", fontsize=8)
    axes.set_yticks(range(len(bars)), [printable(label) for label, _ in bars], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=0.8)
    if any(one.ratio > LONG_RATIO for _, one in bars):
        axes.set_xscale("log")
    axes.margins(x=0.2)
    axes.set_xlabel(f"times as fast as: {baseline} (bars: by rounds; lines: 95 % interval)")
    figure.suptitle(printable(title, keep_newlines=True), fontsize=10, x=0.01, horizontalalignment="left")
    try:
        drawn = BytesIO()
        figure.savefig(drawn, format=path.suffix.removeprefix(".") or None)
        with OutputDirectory(path.parent) as directory, directory.file(path.name) as file:
            file.buffer.write(drawn.getvalue())
    except OSError as error:
        raise TrialError(f"the chart cannot be written to {path}: {error.strerror}.") from None
    finally:
        pyplot.close(figure)
