"""By which of its sources a server's statements are watched: its own digests where it keeps some, else a probe."""

from __future__ import annotations

from myisam_advisor.workload.kinds.digests import DigestWatch
from myisam_advisor.workload.kinds.watch import StatementWatch
from myisam_advisor.workload.probing.place import INSTEAD
from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target


def watch_statements(target: Target, timeout_seconds: int) -> StatementWatch:
    """Begin to watch. Raises UserError where neither source tells, with what would help; nothing is switched on for it."""
    try:
        return DigestWatch(lambda: Session(target, timeout_seconds))
    except ServerLostError:
        raise
    except UserError as error:
        no_digests = str(error).rstrip(". ")
    from myisam_advisor.workload.kinds.probed import ProbeWatch

    try:
        return ProbeWatch(target, timeout_seconds)
    except ServerLostError:
        raise
    except UserError as error:
        no_probe = str(error).removesuffix(INSTEAD).rstrip(". ")
    if no_probe == no_digests:  # no server: one message, once
        raise UserError(f"{no_probe}.")
    # Each says what would help: which of it does depends on why it fails.
    raise UserError(
        f"the kinds of statements cannot be seen. By the server: {no_digests}. By a probe of the kernel's: {no_probe}. "
        "Mend either of the two, or leave --statements out."
    )
