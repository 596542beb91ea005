"""What docs/guide/beside-mysqld-exporter.md says of names and numbers, held against the real mysqld_exporter on the same server."""

import os
import re
import subprocess
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import free_port, peer, serving, wait_for
from tests.support.repository import ROOT
from tests.support.servers import CopiedServer, binaries_of

PAGE = (ROOT / "docs" / "guide" / "beside-mysqld-exporter.md").read_text()
ROWS = re.findall(r"^\| `(myisam_\w+)` \| `(mysql_[^`]+)` \| (.*?) ?\|$", PAGE, re.MULTILINE)
# They move while both are asked: by our statements and theirs.
MOVING = (
    "uptime", "questions", "connections", "threads", "flush_commands", "full_scan", "select_scans", "temporary", "opened_tables", "open_tables", "open_files",
    "table_cache_hits", "table_cache_misses", "table_locks_immediate",
)  # fmt: skip

Series = dict[str, float]


def series(text: str) -> Series:
    """Name with labels, as PromQL writes them -> value."""
    found = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(one.labels.items()))
            found[f"{one.name}{{{labels}}}" if labels else one.name] = one.value
    return found


def scraped(address: str) -> str:
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=16M", "--myisam-mmap-size=1G", "--query-cache-type=1"]) as running:
        running.execute("CREATE DATABASE shop", "USE shop", "CREATE TABLE t (a INT, KEY (a)) ENGINE=MyISAM", "INSERT INTO t SELECT seq FROM seq_1_to_20000", "SELECT COUNT(*) FROM t WHERE a = 7")
        yield running


@pytest.fixture(scope="module")
def both(server: PrivateServer) -> Iterator[tuple[Series, Series]]:
    """Ours and theirs, of one server on which nothing else happens."""
    port = free_port()
    environment = {"DATA_SOURCE_NAME": f"root@unix({server.socket})/", "PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    command = [str(peer("prometheus-mysqld-exporter")), f"--web.listen-address=127.0.0.1:{port}"]
    address = f"http://127.0.0.1:{port}/metrics"
    with serving("--socket", server.socket, "--user", "root") as daemon:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert wait_for(lambda: "mysql_up 1" in scraped(address), 60)
            daemon.looked()
            yield series(daemon.get().text), series(scraped(address))
        finally:
            process.kill()
            process.wait()


def test_the_page_counts_right() -> None:
    assert len(ROWS) == len({ours for ours, _, _ in ROWS}) == len({theirs for _, theirs, _ in ROWS})
    assert re.search(r"\b\d+ numbers exist in both", PAGE) is not None
    assert {int(count) for count in re.findall(r"\b(\d+) numbers", PAGE)} == {len(ROWS)}


@pytest.mark.parametrize(("ours", "theirs", "note"), ROWS, ids=[ours for ours, _, _ in ROWS])
def test_both_tell_the_same_number(both: tuple[Series, Series], ours: str, theirs: str, note: str) -> None:
    mine, other = both[0].get(ours, both[0].get(f'{ours}{{cache="default"}}')), both[1].get(theirs)
    assert mine is not None
    assert other is not None
    if "blocks there" in note:
        other *= both[1]["mysql_global_variables_key_cache_block_size"]
    if ours == "myisam_threads_running":
        assert mine < other
    elif any(word in ours for word in MOVING):
        assert mine == pytest.approx(other, rel=0.5, abs=200)
    else:
        assert mine == other


def test_no_number_that_both_have_is_forgotten(both: tuple[Series, Series]) -> None:
    """Of what our metrics say that it is: a status or a variable that mysqld_exporter has too."""
    theirs = {name.removeprefix("mysql_global_status_").removeprefix("mysql_global_variables_"): name for name in both[1] if name.startswith("mysql_global_")}
    reference = (ROOT / "docs" / "reference" / "metrics.md").read_text()
    sources = re.findall(r"^\| `(myisam_\w+)` \| \w+ \| [^|]*\| [^|]*?: ([A-Za-z_]+)(?:[.;, ][^|]*)?\|$", reference, re.MULTILINE)
    named = {ours for ours, _, _ in ROWS}
    shared = {ours for ours, source in sources if source.lower() in theirs}
    assert len(shared) > 30
    assert sorted(shared - named) == []
