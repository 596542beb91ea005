"""Where the program starts: Ctrl-C while its libraries are loaded ends it as Ctrl-C later does, and not in a trace of somebody's import.

Nothing is imported before `main` runs but what the interpreter has at hand, and a few words. The command line itself: group.py.
"""

from __future__ import annotations

import os
import signal
import sys

from myisam_advisor.cli.loader_words import is_unmapped

# reports/exit_status.py says so too, which is loaded later.
USER_ERROR, NAGIOS_UNKNOWN, INTERRUPTED = 2, 3, 130
# What ends the daemon by SIGTERM ends it so, from its first moment on.
DAEMON, STOPPED = "serve", 0
NO_MEMORY = b"there is not enough memory: raise what limits it (ulimit -v, the control group or MemoryMax=), or end something else.\n"
FOREIGN_WRITING = 0o022  # of the group, and of everybody


def main() -> None:
    """Entry point: the user's mistakes end in one message and status 2, an interruption in 130, a fault of ours in one message and 2."""
    # Where it is ignored, as behind nohup, it stays so.
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, _end_at_once)
    if _command(sys.argv[1:]) == DAEMON and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        # Nothing was begun: the daemon itself hears it before it listens, or makes a file.
        signal.signal(signal.SIGTERM, _stop_at_once)
    try:
        _run(is_heard)
    except (MemoryError, SystemError):
        reason = NO_MEMORY
    except (ImportError, OSError) as error:
        reason = NO_MEMORY if is_unmapped(error) else f"a part of it is missing, install it anew: {error}\n".encode()
    else:
        return
    # Out here, what the error held is given back: these words need some memory, too.
    _end_unloaded(reason)


def _run(is_heard: bool) -> None:
    import gc

    # A command lives for a moment: collecting garbage would walk a hundred thousand tables again and again.
    gc.disable()
    import resource

    from myisam_advisor.cli.ending import end_with, speak_any_text, status_of
    from myisam_advisor.cli.group import cli

    # Others run what we write: plans, units, munin's settings. Whoever calls us without a umask means nobody to change them.
    os.umask(os.umask(FOREIGN_WRITING) | FOREIGN_WRITING)
    # A core would hold the password; whoever needs one to find a fault can raise the limit of the process.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    speak_any_text()

    def command() -> None:
        """Between the loading and the last words there may be something to clear away, so an interruption is raised there."""
        try:
            if is_heard:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            cli.main(standalone_mode=False)
        finally:
            if is_heard:
                signal.signal(signal.SIGINT, _end_at_once)

    end_with(status_of(command, sys.argv[1:]))


def _end_unloaded(reason: bytes) -> None:
    """End at what `ending.py` could not: it was not loaded, or found no memory itself. Status 1 means findings, so no fault may end with it."""
    is_for_nagios = "nagios" in sys.argv or "--format=nagios" in sys.argv
    try:
        os.write(1 if is_for_nagios else 2, (b"MYISAM UNKNOWN - " if is_for_nagios else b"myisam-advisor: ") + reason)
    finally:
        os._exit(NAGIOS_UNKNOWN if is_for_nagios else USER_ERROR)


def _command(words: list[str]) -> str:
    """The command's name: before it stand switches alone."""
    return next((word for word in words if not word.startswith("-")), "")


def _stop_at_once(_signal: int, _frame: object) -> None:
    os._exit(STOPPED)


def _end_at_once(_signal: int, _frame: object) -> None:
    try:
        os.write(2, b"myisam-advisor: interrupted\n")
    finally:
        os._exit(INTERRUPTED)
