"""Where the program starts: Ctrl-C while its libraries are loaded ends it as Ctrl-C later does, and not in a trace of somebody's import.

Nothing is imported before `main` runs but what the interpreter has at hand. The command line itself: group.py.
"""

from __future__ import annotations

import os
import signal
import sys

# reports/exit_status.py says so too, which is loaded later.
INTERRUPTED = 130
FOREIGN_WRITING = 0o022  # of the group, and of everybody


def main() -> None:
    """Entry point: the user's mistakes end in one message and status 2, an interruption in 130, a fault of ours in one message and 2."""
    # Where it is ignored, as behind nohup, it stays so.
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, _end_at_once)
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


def _end_at_once(_signal: int, _frame: object) -> None:
    try:
        os.write(2, b"myisam-advisor: interrupted\n")
    finally:
        os._exit(INTERRUPTED)
