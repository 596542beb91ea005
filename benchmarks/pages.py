"""How fast the munin plugin and the status page are, beside Debian's own munin plugin for MySQL. Run by script/bench.

Machines are shared: read the ratios. Nothing here is a test.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from rich.console import Console

from benchmarks.common import OPTIONS, PROGRAM, TABLES, Line, make_tables, median_seconds
from benchmarks.scrapes import own
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.private_server import PrivateServer
from tools.fetched_servers import cache_directory

RUNS = 15
PEER_GRAPH = "mysql_myisam_indexes"
FEW_TABLES = 100


def lines(console: Console, binaries: ServerBinaries) -> list[Line]:
    """All measurements of what people look at."""
    return [*_plugin(console, binaries), *_page(console, binaries)]


def _plugin(console: Console, binaries: ServerBinaries) -> Iterator[Line]:
    with PrivateServer(binaries, OPTIONS) as server:
        console.print("the munin plugin ...")
        make_tables(server, FEW_TABLES, 1)
        option_file = server.directory / "client.cnf"
        option_file.write_text(f"[client]\nuser=root\nsocket={server.socket}\n")
        by_daemon = {"socket": str(server.directory / "advisor.sock")}
        with own(server, "--web.socket", by_daemon["socket"]):
            ours = _seconds(_plugin_file(), by_daemon)
        yield Line("munin plugin, all graphs, by the daemon", f"{ours * 1000:.0f} ms", "100 ms", ours <= 0.1)
        by_program = {"socket": "/nowhere", "advisor_program": str(PROGRAM), "defaults_file": str(option_file)}
        alone = _seconds(_plugin_file(), by_program)
        what = f"munin plugin without a daemon, {FEW_TABLES} tables"
        yield Line(what, f"{alone * 1000:.0f} ms", "500 ms", alone <= 0.5)
        with _peer(server) as peer:
            if peer is None:
                yield Line("beside Debian's mysql_", "not fetched: script/servers munin munin-mysql", "", None)
                return
            theirs = _seconds(*peer)
            yield Line(
                f"all our graphs beside one of Debian's ({PEER_GRAPH})",
                f"{ours * 1000:.0f} ms, {theirs * 1000:.0f} ms (ratio {ours / theirs:.2f})",
                "1.00",
                ours <= theirs,
            )


def _plugin_file() -> Path:
    return Path(str(resources.files("myisam_advisor.munin_plugin") / "myisam_advisor"))


def _seconds(plugin: Path, settings: Mapping[str, str]) -> float:
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **settings}
    return median_seconds(lambda: subprocess.run([plugin], env=environment, capture_output=True, check=True), RUNS)


@contextmanager
def _peer(server: PrivateServer) -> Iterator[tuple[Path, dict[str, str]] | None]:
    """Debian's plugin as its graph's name, and its settings; None where it was not fetched."""
    munin, libraries = cache_directory() / "munin", cache_directory() / "munin-mysql"
    if not all((root / "complete").exists() for root in (munin, libraries)):
        yield None
        return
    plugin = server.directory / PEER_GRAPH
    shutil.copy(munin / "usr/share/munin/plugins/mysql_", plugin)
    places = [munin / "usr/share/perl5", libraries / "usr/share/perl5", *libraries.glob("usr/lib/*/perl5/*")]
    yield (
        plugin,
        {
            "PERL5LIB": os.pathsep.join(map(str, places)),
            "MUNIN_LIBDIR": str(munin / "usr/share/munin"),
            "mysqlconnection": f"DBI:mysql:mysql;mysql_socket={server.socket}",
            "mysqluser": "root",
        },
    )


def _page(console: Console, binaries: ServerBinaries) -> Iterator[Line]:
    from myisam_advisor.catalogue.rules import shipped_rules
    from myisam_advisor.catalogue.site import Site
    from myisam_advisor.judging.judge import judge
    from myisam_advisor.judging.prepared import prepared
    from myisam_advisor.reports.page.look import look_at
    from myisam_advisor.reports.page.render import render
    from myisam_advisor.reports.page.view import view_of
    from myisam_exporter.look.live import collect_facts
    from myisam_exporter.server.target import Target

    with PrivateServer(binaries, OPTIONS) as server:
        console.print(f"the page of {TABLES:,} tables ...")
        make_tables(server, TABLES, 50)
        ready = prepared(collect_facts(Target("root", socket=server.socket), 1.0, 10), Site(shipped_rules()))
        look = look_at(judge(ready), ready.judged, 0.0)
        size = len(render(view_of(look)).encode())
        seconds = median_seconds(lambda: render(view_of(look)), RUNS)
        with own(server) as daemon:
            served = median_seconds(lambda: daemon.scrape_plain("/"), RUNS)
    what = f"status page of {TABLES:,} tables"
    yield Line(f"{what}: rendered, once a look", f"{seconds * 1000:.0f} ms", "100 ms", seconds <= 0.1)
    yield Line(f"{what}: served", f"{served * 1000:.1f} ms", "100 ms", served <= 0.1)
    yield Line(f"{what}: size", f"{size / 1000:.0f} kB", "200 kB", size < 200_000)
