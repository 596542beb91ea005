"""Who had the processors: read from a machine that is written down, and from this one."""

import subprocess
import sys
from pathlib import Path

import pytest

from myisam_advisor.trial.private import load
from myisam_advisor.trial.private.load import LoadMeter, MachineLoad

OURS, CHILD, GRANDCHILD = 100, 200, 300


class Machine:
    """A folder like /proc with our process, a child and a grandchild."""

    def __init__(self, proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.proc = proc
        monkeypatch.setattr("os.getpid", lambda: OURS)
        for pid, children in ((OURS, str(CHILD)), (CHILD, f"{GRANDCHILD} 999"), (GRANDCHILD, "")):
            (proc / str(pid) / "task" / str(pid)).mkdir(parents=True)
            (proc / str(pid) / "task" / str(pid) / "children").write_text(children)
        self.tell((0,) * 8, {})

    def tell(self, times: tuple[int, ...], own: dict[int, int]) -> None:
        """Times of all processors, and the user time of our processes, in ticks."""
        (self.proc / "stat").write_text(f"cpu  {' '.join(map(str, times))} 0 0\ncpu0 1 1 1 1\n")
        for pid in (OURS, CHILD, GRANDCHILD):
            (self.proc / str(pid) / "stat").write_text(f"{pid} (a) b) S {' '.join(['0'] * 10)} {own.get(pid, 0)} 0 0 0 20 0 1 0 5\n")


def test_others_are_who_is_neither_we_nor_idle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path, monkeypatch)
    meter = LoadMeter(tmp_path)
    meter.begin()
    # user, nice, system, idle, iowait, irq, softirq, steal: 200 ticks of work, 50 of the hypervisor, 150 of nobody.
    machine.tell((100, 50, 50, 100, 50, 0, 0, 50), {OURS: 10, CHILD: 30, GRANDCHILD: 110})
    found = meter.lap()
    assert found is not None
    assert found.others == pytest.approx(100 / 400)
    assert found.idle == pytest.approx(150 / 400)
    assert found.seconds == pytest.approx(400 / load.TICKS_PER_SECOND)


def test_what_is_not_told_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path, monkeypatch)
    meter = LoadMeter(tmp_path)
    assert meter.lap() is None  # nothing began
    meter.begin()
    assert meter.lap() is None  # no time passed
    machine.tell((1, 1, 1, 1, 1, 1, 1, 1), {})
    (tmp_path / str(OURS) / "task" / str(OURS) / "children").unlink()
    assert meter.lap() is None
    (tmp_path / "stat").write_text("cpu 1 2\n")
    meter.begin()
    assert meter.lap() is None


@pytest.mark.parametrize(("others", "idle", "disturbs"), [(0.9, 0.0, True), (0.5, 0.5, False), (0.2, 0.0, False), (0.36, 0.05, True)])
def test_a_load_that_leaves_a_processor_idle_disturbs_nobody(others: float, idle: float, disturbs: bool) -> None:
    assert MachineLoad(others, idle, 1.0).disturbs is disturbs


def test_our_own_children_are_no_others() -> None:
    meter = LoadMeter()
    meter.begin()
    subprocess.run([sys.executable, "-c", "x = sum(range(20_000_000))"], check=True)
    alone = meter.lap()
    if alone is None:
        pytest.skip("this kernel does not tell the children of a process")
    assert alone.others + alone.idle < 1.0
    assert alone.seconds > 0
