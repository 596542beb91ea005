"""What a process with few rights sees: `python -m tests.servers.lesser SOCKET GROUPS CAPABILITIES`, started by root.

Everything is imported before the rights are dropped: the tree may lie where only root can read.
"""

import ctypes
import json
import os
import struct
import sys
from pathlib import Path

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.cli.examination import examination_as_text, examine
from myisam_advisor.factbase.derived import complete
from myisam_exporter.look.live import collect_facts
from myisam_exporter.server.target import Target

from .conftest import OTHER_UID

PR_SET_KEEPCAPS, PR_SET_DUMPABLE = 8, 4
CAPABILITY_VERSION = 0x20080522


def drop(groups: list[int], capabilities: int) -> None:
    """Become the other user with these groups and these capabilities (a bit each; all below 32) and no more."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups(groups)
    os.setresgid(OTHER_UID, OTHER_UID, OTHER_UID)
    os.setresuid(OTHER_UID, OTHER_UID, OTHER_UID)
    header = struct.pack("Ii", CAPABILITY_VERSION, 0)
    data = struct.pack("6I", capabilities, capabilities, 0, 0, 0, 0)
    if libc.capset(header, data):
        raise OSError(ctypes.get_errno(), "capset")
    # A process that changed its user may not be looked at by itself below /proc/self either, as one started by systemd may.
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def main() -> None:
    target = Target("root", socket=Path(sys.argv[1]))
    rules = shipped_rules()
    complete(collect_facts(target, 0, 10))  # imports everything
    examination_as_text(examine(target, 10, (), rules))
    drop([int(group) for group in sys.argv[2].split(",") if group], int(sys.argv[3]))
    facts = complete(collect_facts(target, 0.5, 10))
    told = examination_as_text(examine(target, 10, (), rules))
    known = sorted(
        f"{table}.{column}" for table, rows in facts.tables.items() for column in rows.columns
        if any(value is not None for value in rows.values(column))
    )  # fmt: skip
    why = {
        f"{table}.{column}": (reason := facts.why_unknown(table, column)) and [reason.reason, reason.remedy]
        for table, rows in facts.tables.items() for column in rows.columns if f"{table}.{column}" not in known
    }  # fmt: skip
    print(json.dumps({"known": known, "why": why, "doctor": told}))


if __name__ == "__main__":
    main()
