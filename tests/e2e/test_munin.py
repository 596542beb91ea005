"""The plugin under the real munin: node, protocol, master, limits, pictures."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import unpack

import pytest

from demo.demo import make_crashed_table
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.e2e.munin import GROUP, HOST, NAME, PLUGIN, Munin, munin_lab
from tests.support.daemon import Daemon, serving, wait_for
from tests.support.program import PROGRAM
from tests.support.servers import CopiedServer, binaries_of, working

HOSTILE = ("a'b\"c", "#\\ multigraph evil\ngraph_title x", "root", "ünï☃cödé", "x" * 64, "\u202egnp", "a.b", "a_b")
FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DECIMAL = re.compile(r"[-+]?\d+(\.\d+)?|[-+]?\d+(\.\d+)?:([-+]?\d+(\.\d+)?)?|:[-+]?\d+(\.\d+)?")


@dataclass
class Lab:
    server: PrivateServer
    daemon: Daemon
    munin: Munin
    socket: Path


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=16M"]) as server, munin_lab() as munin:
        server.execute("CREATE DATABASE shop", "SET GLOBAL `hot cache`.key_buffer_size = 4194304")
        quoted = ["`" + name.replace("`", "``") + "`" for name in HOSTILE]
        for name in ("orders", *quoted):
            server.execute(f"CREATE TABLE shop.{name} (id INT NOT NULL PRIMARY KEY AUTO_INCREMENT, a CHAR(50) NOT NULL) ENGINE=MyISAM", f"INSERT INTO shop.{name} (a) VALUES ('x')")
        socket = munin.folder / "run" / "advisor.sock"
        words = ("--socket", server.socket, "--user", "root", "--web.socket", socket)
        group = ("--web.socket-group", "nogroup") if os.geteuid() == 0 else ()
        with serving(*words, *group) as daemon:
            daemon.looked()
            munin.configure({"socket": socket, "tables": 20})
            yield Lab(server, daemon, munin, socket)


@pytest.fixture
def settings(lab: Lab) -> Iterator[Munin]:
    """The lab's munin, whose settings a test may change."""
    yield lab.munin
    lab.munin.configure({"socket": lab.socket, "tables": 20})


def graphs_of(text: str) -> dict[str, dict[str, str]]:
    """What the plugin printed, by graph: `field.attribute` or `graph_...` with its value. A name that comes twice is an error."""
    graphs: dict[str, dict[str, str]] = {}
    lines: dict[str, str] = {}
    for line in text.splitlines():
        if line in (".", "") or line.startswith(("# ", "cap ")):
            continue
        name, _, value = line.partition(" ")
        if name == "multigraph":
            assert value not in graphs
            lines = graphs.setdefault(value, {})
        else:
            assert name not in lines, f"{name} comes twice"
            lines[name] = value
    return graphs


def values_of(text: str) -> dict[str, dict[str, str]]:
    return {graph: {name.removesuffix(".value"): value for name, value in lines.items() if name.endswith(".value")} for graph, lines in graphs_of(text).items()}


def test_the_file_is_what_munin_wants_of_a_plugin(lab: Lab) -> None:
    assert subprocess.run(["podchecker", str(PLUGIN)], capture_output=True, check=False).returncode == 0
    headings = re.findall(r"^=head1 (.*)", PLUGIN.read_text(), re.MULTILINE)
    assert headings == ["NAME", "APPLICABLE SYSTEMS", "CONFIGURATION", "INTERPRETATION", "MAGIC MARKERS", "BUGS", "AUTHOR", "LICENSE"]
    # Standard library only: it runs where nothing of ours can be imported.
    alone = subprocess.run([sys.executable, "-I", "-S", str(PLUGIN), "config"], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "socket": "/nowhere"}, check=False)
    assert alone.returncode == 0
    assert "multigraph myisam_key_cache_requests" in alone.stdout
    suggested = lab.munin.suggest("--suggest")
    assert re.search(rf"^{NAME} +\| yes +\| yes", suggested.stdout, re.MULTILINE), suggested.stdout + suggested.stderr
    assert "# " not in suggested.stdout + suggested.stderr  # how munin-node-configure reports faults
    (lab.munin.folder / "etc/plugins" / NAME).unlink()
    try:
        assert f"ln -s '{lab.munin.plugin}'" in lab.munin.suggest("--shell", "--families", "auto").stdout
    finally:
        (lab.munin.folder / "etc/plugins" / NAME).symlink_to(lab.munin.plugin)


def test_the_configuration_is_whole(lab: Lab) -> None:
    done = lab.munin.run(NAME, "config")
    assert done.returncode == 0, done.stderr
    graphs = graphs_of(done.stdout)
    assert {"myisam_key_cache_requests", "myisam_key_cache_misses", "myisam_key_cache_usage", "myisam_page_cache_hits", "myisam_data_residency", "myisam_page_cache_evictions",
            "myisam_context_switches", "myisam_opened_tables", "myisam_open_files", "myisam_table_locks", "myisam_lock_queues", "myisam_temporary_tables", "myisam_slow_queries", "myisam_page_faults", "myisam_advice", "myisam_tables"} <= graphs.keys()  # fmt: skip
    for graph, lines in graphs.items():
        assert re.fullmatch(r"[-\w:]+(\.[-\w:]+)?", graph)
        assert lines["graph_category"] == "db"
        assert all(lines[name] for name in ("graph_title", "graph_vlabel", "graph_info", "graph_args"))
        fields = lines["graph_order"].split()
        assert {name.partition(".")[0] for name in lines if "." in name} == set(fields)
        for field in fields:
            assert FIELD.fullmatch(field)
            assert field != "root"
            assert lines[f"{field}.label"]
            assert not set("#\\") & set(lines[f"{field}.label"] + lines["graph_title"])
            assert len(lines[f"{field}.label"]) <= 40
            assert lines[f"{field}.info"]
            assert lines[f"{field}.min"] == "0"
            for level in ("warning", "critical"):
                assert DECIMAL.fullmatch(lines.get(f"{field}.{level}", "0"))
    nested = [graph for graph in graphs if graph.startswith("myisam_tables.")]
    assert len(nested) == len(HOSTILE) + 1
    assert not any(graph == "evil" for graph in graphs)


def test_the_configuration_outlives_daemon_and_server(settings: Munin) -> None:
    whole = settings.run(NAME, "config").stdout
    settings.configure({"socket": "/nowhere", "advisor_program": "/nowhere/myisam-advisor", "tables": 20})
    done = settings.run(NAME, "config")
    assert done.returncode == 0
    assert done.stdout == whole
    fetched = settings.run(NAME)
    assert fetched.returncode == 0
    assert {value for lines in values_of(fetched.stdout).values() for value in lines.values()} == {"U"}
    assert "no daemon answers on /nowhere" in fetched.stderr
    told = settings.run(NAME, "autoconf")
    assert told.returncode == 0
    assert re.fullmatch(r"no \(no daemon answers on /nowhere \(No such file or directory\); /nowhere/myisam-advisor cannot be run .*\)\n", told.stdout)
    for name in (settings.folder / "state").rglob("*-names"):
        name.write_text("[1, broken")
    assert "c_default_used.label default: in use" in settings.run(NAME, "config").stdout


def test_the_node_speaks_with_its_master(lab: Lab) -> None:
    with lab.munin.node():
        assert NAME in lab.munin.talk("cap multigraph dirtyconfig", "list").split()
        config = graphs_of(lab.munin.talk("cap multigraph", f"config {NAME}"))
        fetched = values_of(lab.munin.talk("cap multigraph", f"fetch {NAME}"))
        assert config.keys() == fetched.keys()
        for graph, lines in fetched.items():
            assert set(config[graph]["graph_order"].split()) == lines.keys()
            assert all(value == "U" or re.fullmatch(r"\d+(\.\d+)?(e[-+]\d+)?", value) for value in lines.values()), lines
            counters = [field for field in lines if config[graph][f"{field}.type"] == "DERIVE"]
            assert all(lines[field] == "U" or lines[field].isdigit() for field in counters)
        both = graphs_of(lab.munin.talk("cap multigraph dirtyconfig", f"config {NAME}"))
        assert all(f"{field}.value" in lines for lines in both.values() for field in lines["graph_order"].split())
    assert fetched["myisam_key_cache_requests"].keys() == {"c_default_read_requests", "c_default_write_requests"} | {
        f"c_hot_cache_{digest}_{kind}" for kind in ("read_requests", "write_requests") for digest in re.findall(r"c_hot_cache_(\w{8})_read_requests", str(fetched))
    }
    assert int(fetched["myisam_data_residency"]["data"]) > 0
    assert fetched["myisam_advice"]["critical"] == "0"


def test_it_holds_no_password_and_others_hold_no_socket(lab: Lab) -> None:
    assert "password" not in (lab.munin.folder / "etc/plugin-conf.d/myisam-advisor").read_text()
    assert lab.socket.stat().st_mode & 0o777 == 0o660


def test_thresholds_come_from_the_environment(settings: Munin, lab: Lab) -> None:
    settings.configure({"socket": lab.socket, "hit_ratio_warning": "80:", "myisam_slow_queries_slow_critical": "2.5", "slow_critical": "9", "opened_warning": "80%", "warning_warning": ""})
    done = settings.run(NAME, "config")
    graphs = graphs_of(done.stdout)
    assert graphs["myisam_page_cache_hits"]["hit_ratio.warning"] == "80:"
    assert graphs["myisam_slow_queries"]["slow.critical"] == "2.5"
    assert "opened.warning" not in graphs["myisam_opened_tables"]
    assert "env.opened_warning 80% is no threshold" in done.stderr
    settings.configure({"socket": lab.socket, "graphs": "myisam_advice myisam_tables", "skip": "myisam_tables", "tables": "0"})
    assert graphs_of(settings.run(NAME, "config").stdout).keys() == {"myisam_advice"}


def test_without_a_daemon_the_program_is_asked(settings: Munin, lab: Lab, tmp_path: Path) -> None:
    option_file = tmp_path / "client.cnf"
    option_file.write_text(f"[client]\nuser=root\nsocket={lab.server.socket}\n")
    settings.configure({"socket": "/nowhere", "advisor_program": PROGRAM, "defaults_file": option_file}, user="root")
    first = values_of(settings.run(NAME).stdout)
    assert int(first["myisam_key_cache_requests"]["c_default_read_requests"]) >= 0
    assert int(first["myisam_page_faults"]["minor"]) > 0
    # Growth between two readings of the same threads: unknown at first, never 0.
    assert first["myisam_context_switches"]["voluntary"] == "U"
    lab.server.execute(*["DO SLEEP(0.01)"] * 50)
    second = values_of(settings.run(NAME).stdout)
    assert int(second["myisam_context_switches"]["voluntary"]) > 0
    for state in (settings.folder / "state").rglob("*-process"):
        state.write_text('{"format": 1, "moment": "x"}')
    third = settings.run(NAME)
    assert third.returncode == 0
    assert values_of(third.stdout)["myisam_context_switches"]["voluntary"] == "U"
    assert settings.run(NAME, "autoconf").stdout == "yes\n"


def test_a_server_that_is_down(tmp_path: Path) -> None:
    with CopiedServer(binaries_of("mariadb-10.11")) as server, munin_lab() as munin:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1)")
        socket = munin.folder / "run" / "s"
        group = ("--web.socket-group", "nogroup") if os.geteuid() == 0 else ()
        with serving("--socket", server.socket, "--user", "root", "--timeout", "1", "--web.socket", socket, *group) as daemon:
            daemon.looked()
            munin.configure({"socket": socket, "advisor_program": "/nowhere"})
            assert munin.run(NAME, "autoconf").stdout == "yes\n"
            config = munin.run(NAME, "config").stdout
            server.stop()
            assert wait_for(lambda: daemon.get().value("up") == 0)
            told = munin.run(NAME, "autoconf")
            assert told.returncode == 0
            assert re.fullmatch(r"no \(.+\)\n", told.stdout)
            fetched = munin.run(NAME)
            assert fetched.returncode == 0
            assert {value for lines in values_of(fetched.stdout).values() for value in lines.values()} == {"U"}
            assert fetched.stderr.strip()
            assert munin.run(NAME, "config").stdout == config
            assert munin.run(NAME, "nonsense").returncode == 2


def test_a_quiet_server_is_no_alarm_and_one_that_is_down_says_why(tmp_path: Path) -> None:
    """Without a load nobody knows of warnings: each quiet night was a message that they are unknown, and none said why."""
    with CopiedServer(binaries_of("mariadb-10.11")) as server, munin_lab() as munin:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1)")
        socket = munin.folder / "run" / "s"
        group = ("--web.socket-group", "nogroup") if os.geteuid() == 0 else ()
        sent = munin.folder / "run" / "sent"
        settings = munin.folder / "munin.conf"
        settings.write_text(f"contacts me\ncontact.me.command tee -a {sent}\n{settings.read_text()}")
        moments = iter(range(int(time.time()) // 300 * 300 - 3600, int(time.time()), 300))

        def state_of(field: str) -> str:
            """What munin holds of the field after more unknown values than it waits for."""
            for moment in (next(moments) for _ in range(5)):
                munin.master("munin-update", "--nofork", now=moment)
                munin.master("munin-limits", now=moment + 5)
            (state,) = re.findall(rf";myisam_advice;{field};state (\w+)", (munin.folder / "db" / "limits").read_text())
            return str(state)

        munin.configure({"socket": socket, "advisor_program": "/nowhere", "graphs": "myisam_advice"})
        with serving("--socket", server.socket, "--user", "root", "--timeout", "1", "--web.socket", socket, *group) as daemon, munin.node():
            assert wait_for(lambda: "There was hardly any activity" in munin.run(NAME).stdout)
            assert values_of(munin.run(NAME).stdout)["myisam_advice"] | {"unknown": ""} == {"critical": "0", "warning": "U", "info": "U", "unknown": ""}
            assert state_of("warning") == "ok"
            assert not sent.exists(), sent.read_text()
            server.stop()
            assert wait_for(lambda: daemon.get().value("up") == 0)
            assert state_of("critical") == "unknown"
            assert "UNKNOWNs: critical is unknown: no server: the socket (a path) does not exist" in sent.read_text()


def test_no_tables_is_no_reason_to_graph() -> None:
    with CopiedServer(binaries_of("mariadb-10.11")) as server, munin_lab() as munin:
        socket = munin.folder / "run" / "s"
        group = ("--web.socket-group", "nogroup") if os.geteuid() == 0 else ()
        with serving("--socket", server.socket, "--user", "root", "--web.socket", socket, *group) as daemon:
            daemon.looked()
            munin.configure({"socket": socket})
            assert munin.run(NAME, "autoconf").stdout == "no (the server has no MyISAM tables)\n"


def test_two_servers_of_one_machine_are_drawn_apart(lab: Lab) -> None:
    """One node, two links; of one name, what the second says of a graph takes the place of what the first said."""
    with CopiedServer(binaries_of("mariadb-10.11"), ["--table-open-cache=123"]) as forum, munin_lab() as munin:
        forum.execute("CREATE DATABASE forum", "CREATE TABLE forum.posts (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")
        socket = munin.folder / "run" / "forum.sock"
        group = ("--web.socket-group", "nogroup") if os.geteuid() == 0 else ()
        (munin.folder / "etc/plugins" / f"{NAME}_forum").symlink_to(munin.plugin)
        (munin.folder / "etc/plugin-conf.d/myisam-advisor-forum").write_text(f"[{NAME}_forum]\nenv.socket {socket}\n")
        with serving("--socket", forum.socket, "--user", "root", "--web.socket", socket, *group) as daemon:
            daemon.looked()
            munin.configure({"socket": lab.socket, "tables": 0})
            base = int(time.time()) // 300 * 300
            with munin.node():
                assert {NAME, f"{NAME}_forum"} <= set(munin.talk("cap multigraph dirtyconfig", "list").split())
                for moment in (base - 600, base - 300, base):
                    munin.master("munin-update", "--nofork", now=moment)
        first = munin.series("myisam_open_files", "table_cache", base - 900, base)
        second = munin.series("myisam_open_files_forum", "table_cache", base - 900, base)
        assert set(second) == {123.0}
        assert first
        assert 123.0 not in first
        kept = (munin.folder / "db" / "datafile").read_text()
        assert f"{HOST}:myisam_advice_forum.graph_title MyISAM: advice (forum)\n" in kept
        assert f"{HOST}:myisam_advice.graph_title MyISAM: advice\n" in kept
        assert ":myisam_tables_forum.t_forum_posts_" in kept


def test_from_samples_to_pictures(settings: Munin, lab: Lab) -> None:
    """Two hours of samples on the master's clock, a restart of the server among them."""
    statements = ["INSERT INTO orders (a) SELECT a FROM orders LIMIT 50", "SELECT COUNT(*) FROM orders WHERE id > 5"]
    base = int(time.time()) // 300 * 300
    moments = [base - 300 * step for step in range(11, -1, -1)]
    settings.configure({"socket": lab.socket, "tables": 3})
    with settings.node():
        for number, moment in enumerate(moments):
            with working(lab.server, "shop", statements):
                time.sleep(0.5)
            if number == 6:
                highest = int(values_of(settings.run(NAME).stdout)["myisam_key_cache_requests"]["c_default_read_requests"])
                lab.server.restart()
                assert wait_for(lambda: lab.daemon.get().value("up") == 1)
                assert wait_for(lambda: lab.daemon.get().value("advice_interval_seconds") is not None)
            if moment == moments[-2]:
                make_crashed_table(lab.server, "archive", "broken")
                assert wait_for(lambda: "archive.broken" in lab.daemon.get("/advice.json").text)
            settings.master("munin-update", "--nofork", now=moment)
    for program in ("munin-limits", "munin-html"):
        settings.master(program, now=base + 5)
    settings.master("munin-graph", "--cron", now=base + 5)

    requests = settings.series("myisam_key_cache_requests", "c_default_read_requests", moments[0], base)
    assert len(requests) >= 8
    assert 0 < max(requests) <= highest / 300 * 1.05  # what was counted within 35 minutes came within one interval at most
    for graph, field in (("myisam_opened_tables", "opened"), ("myisam_context_switches", "voluntary"), ("myisam_table_locks", "immediate")):
        assert 0 <= max(settings.series(graph, field, moments[0], base)) < 1e5

    updates = settings.log("munin-update.log").split("Starting munin-update")
    assert not re.search(r"ERROR|WARN", "".join(updates[3:])), settings.log("munin-update.log")
    limits = (settings.folder / "db" / "limits").read_text()
    assert f"{GROUP};{HOST};myisam_advice;critical;state critical" in limits
    assert "table-crashed archive.broken: A table is crashed" in limits
    pictures = settings.pictures()
    assert {"myisam_key_cache_requests", "myisam_page_cache_hits", "myisam_advice", "myisam_tables"} <= pictures.keys()
    assert sum(graph.startswith("myisam_tables.") for graph in pictures) == 3
    for graph, path in pictures.items():
        head = path.read_bytes()[:24]
        assert head.startswith(b"\x89PNG"), graph
        width, height = unpack(">II", head[16:24])
        assert width >= 400
        assert height >= 200
    assert "MyISAM key cache: requests" in (settings.folder / "www" / GROUP / HOST / "index.html").read_text()
    kept = os.environ.get("MYISAM_ADVISOR_PICTURES")
    if kept:
        shutil.copytree(settings.folder / "www", Path(kept) / "munin", dirs_exist_ok=True)
