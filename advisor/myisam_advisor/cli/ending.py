"""How the program ends, whatever happened: one message, and a status that says what it was. Everything that is raised comes here.

Status 1 means findings, so no fault may end with it, and nagios must hear UNKNOWN. A traceback is for whoever asks for one (--debug, or
MYISAM_ADVISOR_DEBUG=1). Neither the message nor the trace holds a password: those that the frames of the trace know are taken out of both.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import errno
import os
import resource
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn

import click

from myisam_advisor.cli.loader_words import is_unmapped
from myisam_advisor.cli.terminal_lines import fitted
from myisam_advisor.reports.exit_status import INTERRUPTED, NAGIOS_STATUSES, NAGIOS_UNKNOWN, READER_LEFT, USER_ERROR
from myisam_exporter.errors import ByHandError, InterruptedWork, UserError, shortened

DEBUG_VARIABLE = "MYISAM_ADVISOR_DEBUG"
MAXIMUM_REASON_CHARACTERS = 200
HIDDEN = "(password)"
# An error handler by its name, and what stands between the parts of a first line (reports/wording.py).
IN_PLAIN, SEPARATING = "in-plain", "\u00b7"
# What click raises from 8.2 on where no command is named; its message is the whole help. Before, it prints that itself.
NO_WORDS = "NoArgsIsHelpError"
NO_MEMORY = "there is not enough memory: raise what limits it (ulimit -v, the control group or MemoryMax=), or end something else."
# pthread_create(3) says the same of both: each thread's stack takes 8 MiB of addresses.
NO_THREAD = "the system starts no further thread: raise what limits their number (ulimit -u, the control group's pids.max or TasksMax=), or memory (ulimit -v)."
# Python says of a refused fork(2) only this.
NO_PROCESS = ". Where the system starts no further process, raise what limits their number (ulimit -u, the control group's pids.max or TasksMax=)."
NO_DESCRIPTOR = ". Raise what limits the number of open files (ulimit -n, LimitNOFILE=; fs.file-max for all processes)."
NO_ROOM_IN_MEMORY = ". Raise what limits memory (ulimit -v, the control group or MemoryMax=), or end something else."
REMEDIES_OF_LIMITS = {
    errno.EAGAIN: NO_PROCESS,
    errno.EMFILE: NO_DESCRIPTOR,
    errno.ENFILE: NO_DESCRIPTOR,
    errno.ENOMEM: NO_ROOM_IN_MEMORY,
}
_asked_for_traces = False


def keep_traces() -> None:
    """Print the trace of an internal error from now on."""
    global _asked_for_traces  # noqa: PLW0603 - a process ends once
    _asked_for_traces = True


def wants_traces() -> bool:
    """Whether traces are to be printed."""
    return _asked_for_traces or os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0")


def end_as_by_interrupt() -> None:
    """SIGTERM and SIGHUP end the command as Ctrl-C does from now on: everything is cleared away."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def status_of(command: Callable[[], object], arguments: Sequence[str]) -> int:
    """Run the command; its exit status. Nothing is raised, and what there is to say was said."""
    form = _form_asked(arguments)
    speaks_to_nagios = form == "nagios"
    try:
        status = _status_of_ended(command)
        sys.stdout.flush()
    except BaseException as error:  # the only place that may: whatever it is, it ends here
        status, message = _verdict_on(error)
        if speaks_to_nagios:
            status = NAGIOS_UNKNOWN
            # Pagers and lists show the beginning of the line: how the command is used would hide what is wrong.
            what = shortened(error.format_message()) if isinstance(error, click.UsageError) else message
            _say(sys.stdout, f"MYISAM UNKNOWN - {_in_one_line(what)}")
        elif message:
            if form == "json":
                _say(sys.stdout, _as_json(message))
            said = message if isinstance(error, click.UsageError) else f"myisam-advisor: {message}"
            _say(sys.stderr, said if isinstance(error, ByHandError) else fitted(said, sys.stderr))
        if wants_traces() and _is_internal(error):
            import traceback

            _say(sys.stderr, without_secrets("".join(traceback.format_exception(error)), error))
    return NAGIOS_UNKNOWN if speaks_to_nagios and status not in NAGIOS_STATUSES else status


def print_verdict(text: str) -> None:
    """Print what a verdict rests on. Whoever reads no further has what they wanted: the status stays the verdict's."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        if not _output_is_lost():
            raise


def tell_beside(message: str) -> None:
    """A line on standard error beside the answer. Whoever does not read it, or has no room for it, stops nothing: the answer is what was asked for."""
    _say(sys.stderr, message)


def end_with(status: int) -> NoReturn:
    """End the process with this status, without giving each object back one by one: the system takes all of them at once.

    The interpreter would also look for garbage among them; both are a tenth of what `check` takes. Where another thread is at work, or
    somebody watches the program, it ends as usual. All was said by now, so an interrupt changes nothing.
    """
    if _is_watched() or any(one is not threading.main_thread() and not one.daemon for one in threading.enumerate()):
        sys.exit(status)
    with contextlib.suppress(KeyboardInterrupt):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # full, closed, or somebody's own
                stream.flush()
    os._exit(status)


def _is_watched() -> bool:
    """Whether a profiler or a tracer is at work: it tells what it saw when the interpreter ends."""
    monitoring = getattr(sys, "monitoring", None)  # from Python 3.12 on
    has_tool = monitoring is not None and any(monitoring.get_tool(number) for number in range(6))
    return has_tool or sys.getprofile() is not None or sys.gettrace() is not None


def _status_of_ended(command: Callable[[], object]) -> int:
    streams = sys.stdout, sys.stderr
    try:
        command()
    except SystemExit as ended:
        if sys.stdout is not streams[0]:
            # click ends every broken pipe with 1, a socket's too, and leaves wrappers that hide it (click/core.py, `main`).
            sys.stdout, sys.stderr = streams
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None
        return ended.code if isinstance(ended.code, int) else USER_ERROR if ended.code else 0
    return 0


def _form_asked(arguments: Sequence[str]) -> str:
    """For which program the answer is, nagios or one that reads JSON; told from the words themselves, because they may be what is wrong."""
    formats = [word for before, word in zip(["", *arguments], arguments, strict=False) if before == "--format"]
    formats += [word.partition("=")[2] for word in arguments if word.startswith("--format=")]
    if "check" in arguments and "nagios" in formats:
        return "nagios"
    return "json" if formats[-1:] == ["json"] else ""


def _verdict_on(error: BaseException) -> tuple[int, str]:
    """The status and what to say. What fails while an interrupt is obeyed is told behind it."""
    status, message = _verdict_alone(error)
    interrupt = _interrupt_before(error)
    if interrupt is None:
        return status, message
    return INTERRUPTED, "; then: ".join(filter(None, (_interrupted(interrupt), message)))


def _interrupt_before(error: BaseException) -> BaseException | None:
    """The interrupt that was under way when this was raised, unless somebody put this in its place (`from`)."""
    before = None if error.__suppress_context__ else error.__context__
    while before is not None and not isinstance(before, KeyboardInterrupt):
        before = before.__context__
    return None if isinstance(error, (click.exceptions.Abort, KeyboardInterrupt)) else before


def _verdict_alone(error: BaseException) -> tuple[int, str]:
    if isinstance(error, (click.exceptions.Abort, KeyboardInterrupt)):
        return INTERRUPTED, _interrupted(error)
    if isinstance(error, click.UsageError):
        return USER_ERROR, _usage(error)
    if isinstance(error, click.ClickException):
        return USER_ERROR, shortened(error.format_message())
    if isinstance(error, UserError):
        from myisam_advisor.texts.templates import printable

        return USER_ERROR, printable(str(error), keep_newlines=isinstance(error, ByHandError))
    if isinstance(error, OSError):
        is_lost = _output_is_lost()
        has_left = is_lost and isinstance(error, BrokenPipeError)
        return (READER_LEFT, "") if has_left else (USER_ERROR, _system_refused(error, is_lost=is_lost))
    return USER_ERROR, _lacked(error) or f"internal error: {reason_of(error)}; please report it; --debug shows where"


def _lacked(error: BaseException) -> str:
    """What the system did not give us, and who decides on that; nothing where it is another error. Python has no type of its own for threads."""
    if _lacks_memory(error):
        return NO_MEMORY
    return NO_THREAD if isinstance(error, RuntimeError) and "start new thread" in str(error) else ""


def _lacks_memory(error: BaseException) -> bool:
    """Whether memory ended, for us or for a library; or the interpreter itself lost its way where memory is limited, which it says as SystemError."""
    if isinstance(error, SystemError):
        return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return isinstance(error, MemoryError) or (isinstance(error, ImportError) and is_unmapped(error))


def _interrupted(error: BaseException) -> str:
    """That somebody ended it, and what became of what was changed by then."""
    told = error.__cause__ if isinstance(error, click.exceptions.Abort) else error  # click makes the one of the other
    if not isinstance(told, InterruptedWork):
        return "interrupted"
    from myisam_advisor.texts.templates import printable

    return f"interrupted: {printable(str(told), keep_newlines=True)}"


def _is_internal(error: BaseException) -> bool:
    expected = (click.exceptions.Abort, KeyboardInterrupt, click.ClickException, UserError, BrokenPipeError)
    return not isinstance(error, expected) and not _lacked(error)


def _usage(error: click.UsageError) -> str:
    """As click says it: the usage, where help is, and what is wrong."""
    lines = []
    if error.ctx is not None and type(error).__name__ == NO_WORDS:
        return error.ctx.get_help()
    if error.ctx is not None:
        help_option = f"Try '{error.ctx.command_path} --help' for help."
        lines = [error.ctx.get_usage(), help_option, ""]
    return "\n".join([*lines, f"Error: {shortened(error.format_message())}"])


def _system_refused(error: OSError, *, is_lost: bool) -> str:
    """What the system refused, the output among it."""
    where = f": {error.filename}" if error.filename else ": the standard output" if is_lost else ""
    remedy = "" if is_lost else REMEDIES_OF_LIMITS.get(error.errno or 0, "")
    return shortened(f"{error.strerror or error}{where}{remedy}")


def _output_is_lost() -> bool:
    """Whether standard output takes nothing more: a full disk, or a reader that went away. What it still holds is dropped then.

    Asked of the output itself: an error does not tell which file or socket it is of.
    """
    try:
        sys.stdout.flush()
        return _has_no_reader(sys.stdout)
    except OSError:
        _drop(sys.stdout)
        return True
    except (ValueError, AttributeError):  # closed, or somebody's own stream
        return True


def _has_no_reader(stream: Any) -> bool:
    """Whether it is a pipe whose reader went away: a long text may have failed there and left nothing in the buffer."""
    poll = select.poll()
    with contextlib.suppress(OSError, ValueError, AttributeError):
        poll.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    return False


def _drop(stream: Any) -> None:
    """Let the null device take what is in the buffer, which would fail once more at the end of the process."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), stream.fileno())


def reason_of(error: BaseException) -> str:
    """An error in one line of bounded length, without the secrets that its frames know."""
    from myisam_advisor.texts.templates import printable

    text = " ".join(without_secrets(str(error), error).split())
    named = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return printable(shortened(named, MAXIMUM_REASON_CHARACTERS))


def without_secrets(text: str, error: BaseException) -> str:
    """The text without the passwords that the frames of the error's trace hold."""
    for secret in sorted(set(_secrets_of(error)), key=len, reverse=True):
        text = text.replace(repr(secret)[1:-1], HIDDEN).replace(secret, HIDDEN)
    return text


def _secrets_of(error: BaseException) -> Iterator[str]:
    import traceback

    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        waiting += [one.__cause__, one.__context__]
        for frame, _ in traceback.walk_tb(one.__traceback__):
            names = frame.f_locals
            yield from filter(None, (_password_in(value) for value in (names, *names.values())))


def _password_in(value: Any) -> str:
    """The password that an object or a mapping holds (options, the environment), or nothing."""
    with contextlib.suppress(Exception):  # whatever looking at somebody's object may raise
        is_mapping = isinstance(value, Mapping)
        found = value.get("password", value.get("MYSQL_PWD")) if is_mapping else getattr(value, "password", "")
        found = getattr(found, "value", found)
        return found if isinstance(found, str) else ""
    return ""


def _as_json(message: str) -> str:
    """The document of a run that failed; the words of the usage are for people."""
    import json

    from myisam_advisor.texts.json_documents import failure

    return json.dumps(failure(message.rpartition("\n\nError: ")[2]), indent=1)


def _in_one_line(message: str) -> str:
    from myisam_advisor.reports.formats.nagios import plain

    return plain(" ".join(message.split()) or "the report could not be written")


def _say(stream: Any, message: str) -> None:
    """A stream that is closed or full hears nothing, and that is no further error."""
    try:
        print(message, file=stream, flush=True)
    except OSError:
        _drop(stream)
    except (ValueError, AttributeError):
        pass


def _in_plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """An error handler of codecs: our own sign between the parts of a line by one that every encoding has, all else as an escape."""
    if isinstance(error, UnicodeEncodeError) and error.object[error.start] == SEPARATING:
        return "-", error.start + 1
    return codecs.backslashreplace_errors(error)


def speak_any_text() -> None:
    """Let standard output and error take any text, in whatever encoding: what that lacks is written as an escape.

    A stream that was closed before the start becomes the null device.
    """
    codecs.register_error(IN_PLAIN, _in_plain)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for as long as the process
        with contextlib.suppress(AttributeError):  # somebody's own stream, in a test
            getattr(sys, name).reconfigure(errors=IN_PLAIN)
