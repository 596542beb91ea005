"""Who the server is, as labels."""

from dataclasses import replace

from myisam_exporter.collectors.base import Pair
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.server import GROUP
from myisam_exporter.server.location import ELSEWHERE, Location
from tests.support.recorded import RecordedLook


def test_identity_and_uptime(look: RecordedLook) -> None:
    server = look.sample("server")
    assert look.values(GROUP) == {
        ("server_info", server.flavour, server.version): 1,
        ("server_uptime_seconds",): look.number_told("SHOW GLOBAL STATUS", "Uptime"),
        ("server_files_visible",): 1,
    }


def test_files_of_a_server_elsewhere_are_not_visible(look: RecordedLook) -> None:
    elsewhere = replace(look.sample("server"), location=Location(ELSEWHERE, ELSEWHERE), uptime_seconds=None)
    values = {value.name: value.number for value in GROUP.values(Pair(elsewhere), Scene({}, Running()))}
    assert values["server_files_visible"] == 0
    assert values["server_uptime_seconds"] is None
