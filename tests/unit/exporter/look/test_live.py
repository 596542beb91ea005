"""What is said of a server that came back."""

from __future__ import annotations

import pytest

from myisam_exporter.look.live import up_for


@pytest.mark.parametrize(("uptime", "said"), [(3, " (it is up for 3 s)"), (0, " (it is up for 0 s)"), (None, ""), (2**64 - 3000, "")])
def test_an_uptime_that_nobody_tells_is_not_zero(uptime: float | None, said: str) -> None:
    assert up_for(uptime) == said
