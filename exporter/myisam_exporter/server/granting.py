"""How an account comes by a right that it lacks: by a GRANT, but never to the anonymous account, which every local user is logged in as.

Sources: MariaDB manual, "CREATE USER" (anonymous accounts); MySQL manual, "Connection Verification". Both match who has no account of his own.
"""

from __future__ import annotations

import re
from typing import Final

from myisam_exporter.server.sql import quote_account, statement

# The two rights that sources ask for: other users' connections, and what the server counts.
SEE_PROCESSES: Final = statement("PROCESS ON *.*")
READ_PERFORMANCE_SCHEMA: Final = statement("SELECT ON performance_schema.*")
GLOBAL_GRANT = re.compile(r"GRANT ([A-Z_, ]+) ON \*\.\* TO ")
# As quote_account writes a user without a name.
NOBODY: Final = quote_account("", "").partition("@")[0] + "@"
OWN_ACCOUNT: Final = "`myisam-advisor grants` prints what makes one"


def is_anonymous(account: str) -> bool:
    """Whether an account, as Session.account() writes it, has no name."""
    return account.startswith(NOBODY)


def shown(account: str) -> str:
    """The account for people: two quotes are read as nothing, two backticks are not."""
    return "''@" + account[len(NOBODY) :] if is_anonymous(account) else account


def logged_in_anonymously(account: str) -> str:
    """What there is to say of it, behind a reason; nothing of an account with a name."""
    return f"; you are logged in as the anonymous account {shown(account)}" if is_anonymous(account) else ""


def way_to(right: str, account: str, whence: str = OWN_ACCOUNT) -> str:
    """What gives that right (`PROCESS ON *.*`): a statement, or where the account is anonymous the advice to be somebody.

    `whence` says how to come by an account that has it.
    """
    if is_anonymous(account):
        return f"log in as an account with a name that has {right} ({whence}); grant nothing to the anonymous account"
    return f"GRANT {right} TO {account};"


def global_rights(grant: str) -> frozenset[str]:
    """What a line of SHOW GRANTS gives on the whole server."""
    found = GLOBAL_GRANT.match(grant)
    return frozenset(found[1].split(", ")) if found else frozenset()


def is_of_role(grant: str) -> bool:
    """Whether a role was granted: `GRANT role TO user`, without ON; what it holds is not shown."""
    return grant.startswith("GRANT ") and " ON " not in grant and " TO " in grant
