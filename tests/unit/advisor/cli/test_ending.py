"""How the program ends, whatever is raised: one message and status 2, UNKNOWN for nagios, and a trace for who asks for one."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from myisam_advisor.cli import ending, main
from myisam_advisor.cli.commands.check import REPORTS
from myisam_advisor.cli.ending import NO_DESCRIPTOR, NO_MEMORY, NO_PROCESS, NO_ROOM_IN_MEMORY, status_of
from myisam_exporter.errors import ByHandError, InterruptedWork, UserError
from myisam_exporter.server.target import Target
from tests.support.program import PROGRAM
from tests.support.program import run as run_here

SECRET = "hunter2 'x"


def raising(error: BaseException) -> None:
    target = Target("me", SECRET)
    options = {"password": "other-secret"}
    assert target
    assert options
    raise error


UNMAPPED = ["libssl.so.3: failed to map segment from shared object", "libssl.so.3: cannot open shared object file: Cannot allocate memory", "libssl.so.3: cannot allocate memory for program header"]
# The room that the loader keeps for variables of threads is of one size, whatever memory there is.
NO_ROOM_FOR_THREADS = "libgomp.so.1: cannot allocate memory in static TLS block"
ERRORS = [KeyError("a"), ValueError("x" * 100_000), RecursionError(), AssertionError(), OverflowError("int too large"), UnicodeEncodeError("ascii", "\ud800", 0, 1, "no"), ZeroDivisionError(), SystemError("\x1b[31m\nTraceback"), ImportError(NO_ROOM_FOR_THREADS), GeneratorExit()]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_any_exception_is_one_line_and_status_2(error: BaseException, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(lambda: raising(error), ["check"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(f"myisam-advisor: internal error: {type(error).__name__}")
    assert err.endswith("please report it; --debug shows where\n")
    assert len(err) < 400


LACKS = [(MemoryError(), "there is not enough memory"), *((ImportError(said), "there is not enough memory") for said in UNMAPPED), (RuntimeError("can't start new thread"), "the system starts no further thread")]


@pytest.mark.parametrize(("error", "said"), LACKS)
def test_what_the_system_does_not_give_is_no_internal_error(error: Exception, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(lambda: raising(error), ["check"]) == 2
    assert capsys.readouterr().err.startswith(f"myisam-advisor: {said}: raise what limits")


@pytest.mark.parametrize(("number", "remedy"), [(errno.EAGAIN, NO_PROCESS), (errno.EMFILE, NO_DESCRIPTOR), (errno.ENFILE, NO_DESCRIPTOR), (errno.ENOMEM, NO_ROOM_IN_MEMORY)])
def test_what_is_limited_is_told_with_what_raises_the_limit(number: int, remedy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(lambda: raising(OSError(number, os.strerror(number))), ["check"]) == 2
    assert capsys.readouterr().err == f"myisam-advisor: {os.strerror(number)}{remedy}\n"


@pytest.mark.parametrize("error", [*ERRORS, MemoryError(), UserError("bad | input"), click.UsageError("no such"), click.Abort(), KeyboardInterrupt(), OSError(28, "No space left"), BrokenPipeError()], ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("words", [["check", "--format", "nagios"], ["check", "--format=nagios", "--bogus"]])
def test_nagios_hears_unknown_whatever_is_raised(error: BaseException, words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert status_of(lambda: raising(error), words) == 3
    out = capfd.readouterr().out
    assert out.startswith("MYISAM UNKNOWN - ")
    assert out.count("\n") == 1
    assert "|" not in out


@pytest.mark.parametrize(("code", "status"), [(0, 0), (None, 0), (1, 1), (3, 3), ("text", 2)])
def test_statuses_that_were_chosen_stay(code: object, status: int) -> None:
    assert status_of(lambda: sys.exit(code), ["verify"]) == status  # type: ignore[arg-type]


@pytest.mark.parametrize("code", [4, 130, -1])
def test_nagios_hears_of_no_other_status(code: int) -> None:
    assert status_of(lambda: sys.exit(code), ["check", "--format", "nagios"]) == 3


def test_the_trace_is_for_who_asks_and_holds_no_password(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        try:
            raising(ValueError(f"cannot use {SECRET!r} and {SECRET} and other-secret"))
        except ValueError as error:
            raise KeyError(f"while using {SECRET}") from error

    assert status_of(fail, []) == 2
    assert "Traceback" not in capsys.readouterr().err
    monkeypatch.setenv(ending.DEBUG_VARIABLE, "1")
    assert status_of(fail, []) == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "in raising" in err
    assert "hunter2" not in err
    assert "other-secret" not in err
    assert ending.HIDDEN in err


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), UserError("lost the server"), BrokenPipeError()], ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("is_told_in_its_place", [False, True])
def test_what_fails_while_an_interrupt_is_obeyed_is_told_behind_it(error: Exception, is_told_in_its_place: bool, capsys: pytest.CaptureFixture[str]) -> None:
    def ended() -> None:
        try:
            raise InterruptedWork("all was given back")
        except KeyboardInterrupt:
            if is_told_in_its_place:
                raise error from None
            raise error  # noqa: B904 - as cleaning up does

    status, said = status_of(ended, []), capsys.readouterr().err
    assert (status == 130) is not is_told_in_its_place
    assert said.startswith("myisam-advisor: interrupted: all was given back") is not is_told_in_its_place
    assert status == 130 or "interrupted" not in said
    assert isinstance(error, BrokenPipeError) or ("further thread" in said) is isinstance(error, RuntimeError)


def test_a_user_error_has_no_trace(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ending.DEBUG_VARIABLE, "1")
    assert status_of(lambda: raising(UserError("no such file")), []) == 2
    assert capsys.readouterr().err == "myisam-advisor: no such file\n"


def run(script: str, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The program with a fault in it, as its users start it."""
    code = f"import sys; sys.argv = ['myisam-advisor', *{list(words)!r}]\nfrom myisam_advisor.cli import main, sources\nfrom myisam_advisor.cli.commands import check\n{script}\nmain.main()"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, input=b"schema: 1\n", env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment}, timeout=60, check=False)


@pytest.mark.parametrize("full", [False, True])
def test_a_remark_that_nobody_takes_stops_no_plan(tmp_path: Path, *, full: bool) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text('{"schema": 1}')
    words = [str(PROGRAM), "plan", "--facts", str(facts)]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as lost, open("/dev/full", "wb") as no_room:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=no_room if full else lost, text=True, timeout=60, check=False)
    heard = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert "says what is missing" in heard.stderr
    assert (done.returncode, done.stdout.count("\n")) == (0, heard.stdout.count("\n"))


@pytest.mark.parametrize("error", ["PermissionError(13, 'Permission denied', '/x/my.cnf')", "OSError(28, 'No space left on device')", "BrokenPipeError(32, 'Broken pipe')"])
def test_an_error_of_anything_but_the_output_is_told_on_it(error: str) -> None:
    fault = f"def fail(*_, **__): raise {error}\ncheck.judged = fail"
    reason = error.split("'")[1].encode()
    nagios = run(fault, "check", "--facts", "-", "--format", "nagios")
    assert (nagios.returncode, nagios.stdout[: 17 + len(reason)]) == (3, b"MYISAM UNKNOWN - " + reason)
    document = run(fault, "check", "--facts", "-", "--format", "json")
    assert (document.returncode, json.loads(document.stdout)["error"][: len(reason)]) == (2, reason.decode())
    assert document.stderr.startswith(b"myisam-advisor: " + reason)


def test_nagios_hears_first_what_is_wrong_with_the_words() -> None:
    done = run("", "check", "--format", "nagios", "--port", "many")
    assert done.returncode == 3
    assert done.stdout.startswith(b"MYISAM UNKNOWN - Invalid value for '--port'")


@pytest.mark.parametrize(
    ("output", "length", "status", "said"),
    [
        # What the buffer still holds fails once more, which tells whose error it is.
        ("/dev/full", 10, 2, b"myisam-advisor: No space left on device: the standard output\n"),
        ("/dev/full", 1_000_000, 2, b"myisam-advisor: No space left on device\n"),
        ("a closed pipe", 10, 141, b""),
        ("a closed pipe", 1_000_000, 141, b""),
    ],
)
def test_an_error_of_the_output_itself_is_one_line_at_most(output: str, length: int, status: int, said: bytes) -> None:
    code = f"import sys\nfrom myisam_advisor.cli.ending import status_of\nsys.exit(status_of(lambda: print('x' * {length}), ['check', '--format', 'text']))"
    reader, writer = os.pipe()
    os.close(reader)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-c", code], stdout=full if output == "/dev/full" else writer, stderr=subprocess.PIPE, env=buffered, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (status, said)


@pytest.mark.parametrize("length", [10, 1_000_000])
def test_a_verdict_is_the_same_whenever_its_reader_leaves(length: int) -> None:
    """`check | head -1` ended with 1 where the report was written first, and with 2 where head had gone."""
    code = f"import sys\nfrom myisam_advisor.cli.ending import print_verdict, status_of\ndef work():\n  print_verdict('x' * {length})\n  sys.exit(1)\nsys.exit(status_of(work, ['check']))"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


FAULT = "def fail(*_, **__): raise KeyError('boom')\ncheck.judged = fail"


def test_the_whole_program_ends_so() -> None:
    done = run(FAULT, "check", "--facts", "-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"myisam-advisor: internal error: KeyError: 'boom'; please report it; --debug shows where\n"
    nagios = run(FAULT, "check", "--facts", "-", "--format", "nagios")
    assert (nagios.returncode, nagios.stdout.splitlines()[0][:40]) == (3, b"MYISAM UNKNOWN - internal error: KeyErro")
    for traced in (run(FAULT, "--debug", "check", "--facts", "-"), run(FAULT, "check", "--facts", "-", MYISAM_ADVISOR_DEBUG="1")):
        assert traced.returncode == 2
        assert b"Traceback" in traced.stderr


HOSTILE_NAMES = 'schema: 1\ntables: [{schema_name: "\u00fc\u2603", table_name: "\U0001f980", row_format: fixed, crashed: 1, recovery_failed: 0}]\n'


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}, {"LANG": "C.UTF-8"}])
def test_any_text_can_be_written_wherever_the_program_is_started(environment: dict[str, str]) -> None:
    done = subprocess.run([str(PROGRAM), "check", "--facts", "-"], capture_output=True, input=HOSTILE_NAMES.encode(), env={"PATH": os.environ["PATH"], **environment}, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr
    assert b"table-crashed" in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("form", REPORTS)
def test_any_text_can_be_written_in_any_encoding(encoding: str, form: str) -> None:
    done = run_here("check", "--facts", "-", "--format", form, stdin=HOSTILE_NAMES, encoding=encoding)
    assert done.returncode == (2 if form == "nagios" else 1), done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert "table-crashed" in done.stdout


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&-"])
def test_closed_streams_end_without_a_traceback(closed: str) -> None:
    done = subprocess.run(["bash", "-c", f"'{PROGRAM}' facts --facts - {closed}; echo status $? >&3", "3"], capture_output=True, text=True, timeout=60, check=False, preexec_fn=lambda: os.dup2(1, 3), pass_fds=(3,))
    assert "Traceback" not in done.stdout + done.stderr
    assert "status 2" in done.stdout or "status 0" in done.stdout


def test_commands_by_hand_keep_their_lines_and_nothing_else_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(lambda: raising(ByHandError("not done \x1b. By hand:\n  SET a = 1;\n  SET b = 2;")), []) == 2
    assert capsys.readouterr().err == "myisam-advisor: not done \\x1b. By hand:\n  SET a = 1;\n  SET b = 2;\n"
    assert status_of(lambda: raising(UserError("a\nb")), []) == 2
    assert capsys.readouterr().err == "myisam-advisor: a\\nb\n"


def ended(what_happens: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    code = f"import atexit, sys, threading, time\nfrom myisam_advisor.cli.ending import end_with\n{what_happens}\nend_with(3)"
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run([sys.executable, "-c", code], stdout=stdout, stderr=subprocess.PIPE, env=buffered, timeout=60, check=False)


def test_a_process_that_ends_at_once_has_written_all_and_called_who_asked_for_it() -> None:
    done = ended("print('said', end='')\nsys.stderr.write('noted')\natexit.register(print, ' and cleared away', end='')")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"said and cleared away", b"noted")


def test_an_ending_process_looks_through_none_of_its_objects() -> None:
    kept = "class Kept:\n  def __del__(self): print('given back')\nkept = Kept()"
    assert ended(kept).stdout == b""


def test_a_thread_at_work_is_waited_for_and_a_daemon_thread_is_not() -> None:
    worker = "threading.Thread(target=lambda: (time.sleep(0.3), print('done', end='')), daemon={}).start()"
    assert (ended(worker.format(False)).returncode, ended(worker.format(False)).stdout) == (3, b"done")
    assert (ended(worker.format(True)).returncode, ended(worker.format(True)).stdout) == (3, b"")


def test_an_output_that_is_full_at_the_very_end_changes_no_status() -> None:
    with open("/dev/full", "wb") as full:
        done = ended("print('said')", full.fileno())
    assert (done.returncode, done.stderr) == (3, b"")


@pytest.mark.parametrize("watch", ["sys.setprofile(lambda *_: None)", "sys.settrace(lambda *_: None)"])
def test_whoever_watches_the_program_sees_its_usual_end(watch: str) -> None:
    told = "usual = sys.exit\ndef told(status):\n  print('as usual')\n  usual(status)\nsys.exit = told\n"
    done = ended(told + watch)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"as usual\n", b"")
    assert ended(told).stdout == b""


@pytest.mark.parametrize("where", ["atexit.register(interrupt)", "sys.stdout = Stream()"])
def test_an_interrupt_at_the_very_end_changes_nothing(where: str) -> None:
    interrupt = "import os, signal\ndef interrupt():\n  os.kill(os.getpid(), signal.SIGINT)\n  for _ in range(100): pass\n"
    done = ended(interrupt + "class Stream:\n  def flush(self): interrupt()\n" + where)
    assert (done.returncode, done.stderr) == (3, b"")


CLICK_THAT_IS_INTERRUPTED = "import os, signal, sys\nos.kill(os.getpid(), signal.SIGINT)\nfor _ in range(100): pass\nsys.exit(7)\n"


@pytest.mark.parametrize(("is_ignored", "status", "said"), [(False, 130, b"myisam-advisor: interrupted\n"), (True, 7, b"")])
def test_an_interrupt_while_libraries_are_loaded_is_one_line_and_no_trace(is_ignored: bool, status: int, said: bytes, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(CLICK_THAT_IS_INTERRUPTED)
    behind = signal.SIG_IGN if is_ignored else signal.SIG_DFL
    done = subprocess.run([str(PROGRAM), "check"], capture_output=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}, preexec_fn=lambda: signal.signal(signal.SIGINT, behind), timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", said)


@pytest.mark.parametrize(
    ("words", "is_ignored", "status"),
    [(["serve"], False, 0), (["--debug", "serve", "--no-history"], False, 0), (["serve"], True, 7), (["check"], False, -signal.SIGTERM), (["explain", "serve"], False, -signal.SIGTERM)],
)  # fmt: skip
def test_a_daemon_that_is_stopped_while_its_libraries_are_loaded_ends_as_it_does_later(words: list[str], is_ignored: bool, status: int, tmp_path: Path) -> None:
    """It ended by the signal for its first 0.4 s: whoever started it was told of a failure."""
    (tmp_path / "click.py").write_text(CLICK_THAT_IS_INTERRUPTED.replace("SIGINT", "SIGTERM"))
    behind = signal.SIG_IGN if is_ignored else signal.SIG_DFL
    done = subprocess.run([str(PROGRAM), *words], capture_output=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}, preexec_fn=lambda: signal.signal(signal.SIGTERM, behind), timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")


MISSING = b"a part of it is missing, install it anew: "
UNLOADED = [
    ("raise MemoryError", main.NO_MEMORY),
    ("raise SystemError", main.NO_MEMORY),
    *((f"raise ImportError({said!r})", main.NO_MEMORY) for said in UNMAPPED),
    (f"raise ImportError({NO_ROOM_FOR_THREADS!r})", MISSING + f"{NO_ROOM_FOR_THREADS}\n".encode()),
    ("raise OSError(12, 'Cannot allocate memory')", main.NO_MEMORY),
    ("raise OSError(5, 'Input/output error', 'click.py')", MISSING + b"[Errno 5] Input/output error: 'click.py'\n"),
    ("import not_there", MISSING + b"No module named 'not_there'\n"),
]


@pytest.mark.parametrize(("click", "said"), UNLOADED)
@pytest.mark.parametrize(("words", "status", "is_nagios"), [(["check"], 2, False), (["check", "--format", "nagios"], 3, True), (["check", "--format=nagios"], 3, True)])
def test_what_fails_while_libraries_are_loaded_is_no_finding(click: str, said: bytes, words: list[str], status: int, is_nagios: bool, tmp_path: Path) -> None:
    """Status 1 would be findings, or a warning."""
    (tmp_path / "click.py").write_text(click)
    done = subprocess.run([str(PROGRAM), *words], capture_output=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, *((b"MYISAM UNKNOWN - " + said, b"") if is_nagios else (b"", b"myisam-advisor: " + said)))


def test_an_ending_that_finds_no_memory_itself_is_told_as_that() -> None:
    assert main.NO_MEMORY.decode() == f"{NO_MEMORY}\n"
    done = run("from myisam_advisor.cli import ending\ndef fail(*_):\n  raise MemoryError\nending._verdict_on = fail", "check", "--facts", "/nowhere")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"myisam-advisor: " + main.NO_MEMORY)


def test_an_interpreter_that_loses_its_way_where_memory_is_limited_has_too_little(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (64 << 20, 64 << 20))
    assert status_of(lambda: raising(SystemError("error return without exception set")), ["check"]) == 2
    assert capsys.readouterr().err == f"myisam-advisor: {NO_MEMORY}\n"


def test_a_second_interrupt_while_the_first_is_told_is_no_trace() -> None:
    stream = "class Stream:\n  def write(self, text):\n    os.kill(os.getpid(), signal.SIGINT)\n    for _ in range(100): pass\n"
    done = run(f"import os, signal\n{stream}def fail(*_, **__):\n  sys.stderr = Stream()\n  raise KeyboardInterrupt\ncheck.judged = fail", "check", "--facts", "-")
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"myisam-advisor: interrupted\n")
