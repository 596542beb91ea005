"""What is said of a server that came back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from myisam_exporter.look import live
from myisam_exporter.look.live import up_for
from myisam_exporter.server.target import Target


@pytest.mark.parametrize(("uptime", "said"), [(3, " (it is up for 3 s)"), (0, " (it is up for 0 s)"), (None, ""), (2**64 - 3000, "")])
def test_an_uptime_that_nobody_tells_is_not_zero(uptime: float | None, said: str) -> None:
    assert up_for(uptime) == said


@pytest.mark.parametrize(
    ("uptime", "said", "not_said"),
    [
        (1420.0, "or did not answer within 2 s; it did not restart (it is up for 1420 s): nothing can be said of this interval. Run again; --timeout allows", "restarted between"),
        (4.0, "restarted between the two samples, or closed the connection (it is up for 4 s)", "--timeout"),
        (None, "restarted between the two samples, or closed the connection: ", "--timeout"),
    ],
)
def test_a_server_that_was_only_slow_is_not_said_to_have_restarted(monkeypatch: pytest.MonkeyPatch, uptime: float | None, said: str, not_said: str) -> None:
    class Answering:
        def __init__(self, *_: Any) -> None:
            pass

        def __enter__(self) -> Answering:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def status_number(self, name: str) -> float | None:
            return uptime

    monkeypatch.setattr(live, "Session", Answering)
    told = str(live._came_back(Target(user="root", socket=Path("/s")), 2, time.monotonic() - 15))
    assert said in told
    assert not_said not in told
