"""Where kinds of statements cannot be seen, each of the two ways says what would help, once."""

from pathlib import Path

import pytest

from myisam_advisor.workload.kinds import choosing, probed
from myisam_advisor.workload.probing.place import INSTEAD
from myisam_exporter.errors import UserError
from myisam_exporter.server.target import Target


def test_what_would_help_is_said_once_and_by_whichever_way_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(reason: str) -> object:
        def refuse(*_: object) -> None:
            raise UserError(reason)

        return refuse

    monkeypatch.setattr(choosing, "DigestWatch", refusing("performance_schema may not be read: this account needs a right"))
    monkeypatch.setattr(probed, "ProbeWatch", refusing(f"its binary cannot be read. Run this as root. {INSTEAD}"))
    with pytest.raises(UserError) as refused:
        choosing.watch_statements(Target("anybody", ""), 1)
    said = str(refused.value)
    assert said.count("as root") == 1
    assert "performance_schema=ON" not in said  # it may be on: the account is what lacks
    assert said.endswith("needs a right. By a probe of the kernel's: its binary cannot be read. Run this as root. Mend either of the two, or leave --statements out.")


def test_a_server_that_is_not_there_is_told_once(tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        choosing.watch_statements(Target("anybody", "", socket=tmp_path / "s"), 1)
    assert str(refused.value) == f"no server: the socket {tmp_path / 's'} does not exist. Start the server, or name its socket (--socket) or its host (--host)."
