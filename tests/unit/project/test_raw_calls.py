"""No module opens, looks for or gives away files as it likes: whoever else may have made or named a file, foreign_files.py opens it.

ALLOWED says which module may make which raw calls, and why; what is in it and not needed any more is a failure too.
"""

import ast
from collections.abc import Iterator, Mapping

import pytest

from tests.support.repository import ROOT

FUNCTIONS = frozenset({"open", "os.open", "os.chown", "os.chmod", "shutil.copyfile", "yaml.load", "yaml.safe_load"})
METHODS = frozenset({"open", "read_text", "read_bytes", "exists", "is_file", "is_dir"})

KERNEL = "the kernel's own files: /proc, /sys, tracefs"
SHIPPED = "files that the package brings"
GIVEN = "files that whoever starts the program names, read with their own rights"
OWN = "files and directories of our own making"
PRIVATE_SERVER = "a private server's directory, made for the trial"
BENCHMARK = "measures this tree; not run by a service"
INSTALLATION = "the machine's programs and units, in directories of root's"

# By module below exporter/ and advisor/: the calls, each with its reason.
ALLOWED: Mapping[str, Mapping[str, str]] = {
    "myisam_exporter.collectors.cgroup": {".exists": KERNEL},
    "myisam_exporter.kernel.usable_processors": {".exists": KERNEL},
    "myisam_exporter.collectors.host": {".exists": KERNEL},
    "myisam_exporter.kernel.residency": {"os.open": "the null device"},
    "myisam_exporter.server.default_sockets": {".exists": "which of the servers' default sockets is there"},
    "myisam_exporter.outside.bounded_reading": {"open": "the one place where files of /proc and /sys are read, to a limit", "os.open": "such folders, and what users name (GivenFile): documents and option files, which may be pipes"},
    "myisam_exporter.outside.foreign_files": {"os.open": "the one place where files of others are opened"},
    "myisam_exporter.server.option_files": {".is_file": GIVEN, ".is_dir": GIVEN},
    "myisam_exporter.server.login_path": {"os.open": "looked at once open: a file that nobody else may read", "open": GIVEN},
    "myisam_exporter.kernel.process_files": {"open": KERNEL},
    "myisam_exporter.server.process_reader": {"os.open": KERNEL, "open": KERNEL},
    "myisam_exporter.kernel.perf_events": {".is_dir": KERNEL},
    "myisam_exporter.web.unix_listener": {"os.open": "the daemon's own socket, looked at once open", "os.chown": "the same, by its descriptor", "os.chmod": "the same"},
    "myisam_advisor.catalogue.configuration": {".exists": GIVEN},
    "myisam_advisor.history.file": {".is_file": OWN, ".open": OWN},
    "myisam_advisor.history.paths": {".is_file": GIVEN},
    "myisam_advisor.history.writer": {".exists": GIVEN},
    "myisam_advisor.cli.ending": {"os.open": "/dev/null", "open": "/dev/null"},
    "myisam_advisor.cli.own_password": {"os.open": "/dev/tty"},
    "myisam_advisor.catalogue.shipped_files": {".is_file": SHIPPED},
    "myisam_advisor.munin.installation": {".is_dir": INSTALLATION, ".exists": INSTALLATION, ".is_file": INSTALLATION},
    "myisam_advisor.rights.service": {".is_dir": "systemd's own mark in /run: sd_booted(3)"},
    "myisam_advisor.rights.looking": {".open": "namespaces of a process, kept open so that those are entered that were looked at"},
    "myisam_advisor.rights.drop_in": {".is_file": SHIPPED, ".read_text": SHIPPED},
    "myisam_advisor.texts.whole_files": {"os.open": "the one place where reports become files: name by name, through nobody else's link"},
    "myisam_advisor.reports.page.render": {".read_text": SHIPPED},
    "myisam_advisor.trial.chart": {"os.open": "the directory that we stand in"},
    "myisam_advisor.trial.private.apart": {"os.open": PRIVATE_SERVER},
    "myisam_advisor.trial.private.binaries": {
        ".exists": INSTALLATION, ".is_file": INSTALLATION, ".open": INSTALLATION,
    },
    "myisam_advisor.trial.tables.copying": {"os.open": PRIVATE_SERVER, ".open": PRIVATE_SERVER},
    "myisam_advisor.trial.engines.disk": {"os.open": PRIVATE_SERVER},
    "myisam_advisor.trial.experiments.columns": {".read_bytes": PRIVATE_SERVER, "os.open": PRIVATE_SERVER, ".open": PRIVATE_SERVER},
    "myisam_advisor.trial.experiments.io": {".open": PRIVATE_SERVER, "os.open": PRIVATE_SERVER},
    "myisam_advisor.trial.private.own_user": {".read_text": "/etc/subuid and /etc/subgid"},
    "myisam_advisor.trial.private.private_server": {".exists": PRIVATE_SERVER, ".read_text": PRIVATE_SERVER, "os.open": PRIVATE_SERVER},
    "myisam_advisor.trial.replay": {".open": PRIVATE_SERVER, ".read_bytes": SHIPPED},
    "myisam_advisor.trial.tables.sources": {".is_dir": "names a table of another engine in a message, once the copy is refused"},
    "myisam_advisor.trial.statements.definitions": {".exists": "whether a copied table has a file of triggers; nothing of it is read"},
    "myisam_advisor.trial.statements.records": {".open": PRIVATE_SERVER},
    "myisam_advisor.trial.statements.schedule": {".open": PRIVATE_SERVER},
    "myisam_advisor.trial.statements.sender": {".open": PRIVATE_SERVER, ".exists": PRIVATE_SERVER, ".read_bytes": PRIVATE_SERVER},
    "myisam_advisor.trial.statements.stages": {".exists": PRIVATE_SERVER, "shutil.copyfile": PRIVATE_SERVER},
    "myisam_advisor.trial.task": {"open": "the workload file that the caller names, which was read once already"},
    "myisam_advisor.trial.tables.indexes": {".open": PRIVATE_SERVER},
    "myisam_advisor.trial.tables.made": {"shutil.copyfile": PRIVATE_SERVER},
    "myisam_advisor.workload.guardian": {"os.open": "/dev/null"},
    "myisam_advisor.workload.probing.watched_server": {".exists": KERNEL},
    "myisam_advisor.workload.probing.learning": {"open": KERNEL},
    "myisam_advisor.workload.probing.place": {"open": "the binary that the server runs, by the kernel's link to it"},
    "myisam_advisor.workload.log_file": {"os.open": "a log that whoever starts the program names, looked at once open: a file"},
    "myisam_advisor.workload.file": {"open": GIVEN, "os.open": "a workload that whoever starts the program names, looked at once open: a file"},
    "myisam_advisor.trial.private.workspace": {"os.open": PRIVATE_SERVER},
}  # fmt: skip


def raw_calls(source: str) -> Iterator[tuple[int, str]]:
    """Lines and names of the calls that open, look for or give away a file without foreign_files.py."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name in FUNCTIONS:
            yield node.lineno, name
        elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not _is_safe(node, node.func):
            yield node.lineno, f".{node.func.attr}"


def _is_safe(call: ast.Call, function: ast.Attribute) -> bool:
    """Whether it is asked of ForeignFiles, or of a name itself and not of what a link leads to."""
    receiver = ast.unparse(function.value)
    if function.attr == "open" and (receiver.endswith("files") or receiver.startswith("ForeignFiles(")):
        return True
    return any(keyword.arg == "follow_symlinks" and ast.unparse(keyword.value) == "False" for keyword in call.keywords)


def modules() -> Iterator[tuple[str, str]]:
    for package in ("exporter", "advisor"):
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ".".join(path.relative_to(ROOT / package).with_suffix("").parts), path.read_text("utf-8")


def test_no_module_makes_a_raw_call_that_it_is_not_allowed() -> None:
    found = [
        f"{module}, line {line}: {name}: use foreign_files.py, or say in ALLOWED why not"
        for module, source in modules()
        for line, name in raw_calls(source)
        if name not in ALLOWED.get(module, {})
    ]
    assert found == []


def test_nothing_is_allowed_that_is_not_needed() -> None:
    made = {(module, name) for module, source in modules() for _, name in raw_calls(source)}
    assert [f"{module}: {name}" for module, calls in ALLOWED.items() for name in calls if (module, name) not in made] == []


@pytest.mark.parametrize(
    "call",
    [
        "open(name)", "os.open(name, 0)", "path.open()", "path.read_text('ascii')", "Path(name).read_bytes()", "(a / b).exists()", "entry.is_dir()",
        "path.is_file()", "os.chown(a, 1, 1)", "os.chmod(a, 0)", "shutil.copyfile(a, b)", "yaml.load(text, Loader=l)", "yaml.safe_load(text)",
        "entry.is_dir(follow_symlinks=True)", "with_lambda(lambda: open(name))",
    ],
)  # fmt: skip
def test_raw_calls_are_found(call: str) -> None:
    assert len(list(raw_calls(call))) == 1


@pytest.mark.parametrize("call", ["self._files.open(name, 3)", "ForeignFiles(owner).open_named(name)", "entry.is_dir(follow_symlinks=False)", "opened(name)", "webbrowser_open()"])
def test_what_goes_through_the_one_place_is_not(call: str) -> None:
    assert list(raw_calls(call)) == []
