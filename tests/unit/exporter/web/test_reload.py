"""A reload comes to an end, whatever it meets, and whoever asked for it hears how."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.web.access import Access
from myisam_exporter.web.application import Exporter
from myisam_exporter.web.gate import Gate
from myisam_exporter.web.peers import Peer
from myisam_exporter.web.server import Request

SUCCESSFUL = "myisam_exporter_config_last_reload_successful"


def raising(error: Exception) -> Callable[[], Callable[[], None]]:
    def reload() -> Callable[[], None]:
        raise error

    return reload


@pytest.mark.parametrize(("error", "told"), [(UserError("line 3: no YAML"), "line 3: no YAML"), (ValueError("of ours"), "internal error: see the log"), (RecursionError(), "internal error: see the log")])
def test_a_reload_that_fails_is_told_and_counted_whatever_was_raised(error: Exception, told: str, caplog: pytest.LogCaptureFixture) -> None:
    with ThreadPoolExecutor(1) as executor:
        exporter = Exporter(Fleet(WatchOptions(), executor, TableChooser), Access(Gate(None)), raising(error), own_process_metrics=False)
        assert exporter.reload_configuration() == told
        assert "reload failed" in caplog.text
        metrics = asyncio.run(exporter.handle(Request("GET", "/metrics", "", {"host": "localhost"}, Peer("loopback"))))
    assert f"{SUCCESSFUL} 0.0\n" in metrics.body.decode()
