"""What a replay takes of the disk, as far as it is known before anything is recorded."""

import pytest

from myisam_advisor.trial.private.machine import SERVER_DISK_BYTES
from myisam_advisor.trial.statements.material import servers_disk_bytes
from myisam_advisor.trial.statements.variants import Setting, Variant

SET = Variant("set", settings=(Setting.parsed("key_buffer_size=1M"),))
OPTION, STATEMENT = Variant("option", options=("--table-open-cache=9",)), Variant("statement", statements=("ALTER TABLE a.b PACK_KEYS=1",))


@pytest.mark.parametrize(("variants", "servers"), [([SET], 1), ([OPTION], 2), ([SET, OPTION], 3), ([OPTION, STATEMENT], 4)])
def test_each_change_that_needs_a_server_of_its_own_takes_its_files_and_copies(variants: list[Variant], servers: int) -> None:
    assert servers_disk_bytes(variants, 0) == (servers - 1) * SERVER_DISK_BYTES
    assert servers_disk_bytes(variants, 1000) == (servers - 1) * SERVER_DISK_BYTES + 2 * servers * 1000
