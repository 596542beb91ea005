"""The demonstration leaves nothing behind, however it ends."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.demo import make_crashed_table, read_ahead
from myisam_advisor.catalogue.measured import evidence
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats import text
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.private.own_user import RANGES
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.look.live import collect_facts
from myisam_exporter.server.target import Target
from tests.support.daemon import wait_for
from tests.support.repository import ROOT
from tests.support.servers import binaries_of


def left_behind(folder: Path) -> list[str]:
    """Processes whose command line names the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = process.read_bytes()
        except OSError:
            continue  # ended meanwhile
        if os.fsencode(folder) in command:
            found.append(command.decode(errors="replace"))
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short temporary folder, where any user may work: socket names end after 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="demo-", dir="/tmp") as name:
        path = Path(name)
        path.chmod(0o1777)
        yield path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's demonstration becomes another user")
def test_whatever_the_demo_needs_is_read_before_it_becomes_a_user_who_may_not_read_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python, our virtual environment or the checkout may lie where only root may read: in root's home, for one."""
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    # What another test of this process has read is to be read again.
    evidence.cache_clear()
    site, binaries = read_ahead(), binaries_of("mariadb-10.11")

    def work(_channel: Channel) -> list[str]:
        late: list[str] = []
        loaded = set(sys.modules)

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            # A platform's own module is asked for where there is none, too.
            if event == "import" and arguments[0] not in loaded:
                late.append(str(arguments[0]))
            if event == "open" and str(arguments[0]).startswith(str(ROOT)) and not str(arguments[0]).startswith(sys.prefix):
                late.append(str(arguments[0]))

        sys.addaudithook(hook)
        with PrivateServer(binaries) as server:
            make_crashed_table(server, "demo_archive", "broken")
            facts = complete(collect_facts(Target("root", socket=server.socket), 0.2, 10))
        judgement = judge(prepared(facts, site))
        text.render(judgement, facts, Shown())
        return late if any(finding.rule == "table-crashed" for finding in judgement.findings) else ["nothing was found"]

    with apart(work, shows=True) as place:
        assert place.result() == []


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_demo_leaves_nothing_running(folder: Path, ending: signal.Signals) -> None:
    binaries_of("mariadb-10.11")
    environment = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen([sys.executable, "-m", "demo.demo"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, start_new_session=True) as demo:
        assert wait_for(lambda: any("sysbench" in command for command in left_behind(folder)), 40)
        assert any("mariadbd" in command for command in left_behind(folder))
        if os.geteuid() == 0:
            # Root made the directory that one passes through, and nothing else is root's.
            owners = {path.lstat().st_uid for path in folder.glob("*/w/**/*")}
            assert len(owners) == 1
            assert owners.pop() in RANGES[0]
        demo.send_signal(ending)
        demo.wait(30)
    assert wait_for(lambda: left_behind(folder) == [])
    if ending != signal.SIGKILL:
        assert demo.returncode == 130
        assert list(folder.iterdir()) == []
