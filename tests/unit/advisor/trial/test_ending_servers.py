"""How long a private server may take to end: one whose data are used afterwards writes them out first."""

import signal
import subprocess
from pathlib import Path

import pytest

from myisam_advisor.trial.private import private_server
from myisam_advisor.trial.private.private_server import PrivateServer

# A server that ends half a second after it is asked to.
SLOW = "trap 'sleep 0.5; exit 0' TERM; echo ready; while :; do sleep 0.05; done"


@pytest.mark.parametrize(("data_go_on", "status"), [(True, 0), (False, -signal.SIGKILL)])
def test_a_server_that_writes_out_slowly_is_killed_only_where_nobody_uses_its_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_go_on: bool, status: int) -> None:
    monkeypatch.setattr(private_server, "STOP_SECONDS", 0.1)
    server = PrivateServer.__new__(PrivateServer)
    server._room = server._reaped = None
    with subprocess.Popen(["/bin/sh", "-c", SLOW], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        server.process = process
        (server.stop if data_go_on else server.close)()
        assert process.returncode == status
