"""The daemon's pages behind nginx, with TLS, below a path: with the path taken away on the way, and with it kept."""

import html
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import Daemon, wait_for

from .conftest import schema
from .reverse_proxy import Proxy, proxied
from .test_unix_socket import ask

URL = "https://monitoring.example/myisam"
# nginx takes /myisam away where proxy_pass has a path of its own; with Host, as its documentation's examples have it.
WAYS = {
    "taken": (("--web.external-url", URL, "--web.route-prefix", "/"), "proxy_pass http://127.0.0.1:{port}/;"),
    "kept": (("--web.external-url", f"{URL}/"), "proxy_pass http://127.0.0.1:{port}; proxy_set_header Host monitoring.example;"),
    "neither": ((), "proxy_pass http://127.0.0.1:{port}/;"),
}
MOST_PAGES = 120


def crawled(proxy: Proxy, start: str) -> dict[str, tuple[int, str, str]]:
    """Every page that links of pages lead to, by path."""
    found: dict[str, tuple[int, str, str]] = {}
    waiting = [start]
    while waiting and len(found) < MOST_PAGES:
        path = waiting.pop(0)
        if path in found:
            continue
        found[path] = status, kind, text = proxy.get(path)
        if status == 200 and kind.startswith("text/html"):
            links = map(html.unescape, re.findall(r'(?:href|action)="([^"#]+)', text))
            ours = (urljoin(path, link) for link in links if not urlsplit(link).scheme)
            waiting += [link for link in ours if link not in found]
    return found


@pytest.mark.parametrize("way", WAYS)
def test_every_link_leads_somewhere(mariadb: PrivateServer, tmp_path: Path, way: str) -> None:
    words, location = WAYS[way]
    with schema(mariadb, "proxied"), below(mariadb, *words) as daemon:
        mariadb.execute("CREATE TABLE proxied.`a/b` (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO proxied.`a/b` VALUES (1)")
        with proxied(tmp_path, location.format(port=daemon.port)) as proxy:
            assert wait_for(lambda: "What to change" in proxy.get("/myisam/")[2])
            assert proxy.get("/myisam")[0] == 200  # nginx leads to /myisam/
            found = crawled(proxy, "/myisam/")
            assert {path: status for path, (status, _, _) in found.items() if status != 200} == {}
            assert all(path.startswith("/myisam") for path in found)
            assert len([path for path in found if path.startswith("/myisam/rules/")]) > 30
            for path in ("/myisam/rules", "/myisam/advice.json", "/myisam/metrics"):
                assert path in found
            assert json.loads(found["/myisam/advice.json"][2])["schema"] == 1
            assert json.loads(proxy.get("/myisam/munin.json")[2])["up"]
            told = re.findall(r'web_info\{external_url="([^"]+)"', proxy.get("/myisam/metrics")[2])
            assert told == [URL if words else f"http://127.0.0.1:{daemon.port}"]


def test_below_a_path_without_a_proxy(mariadb: PrivateServer, tmp_path: Path) -> None:
    socket = tmp_path / "web.sock"
    with below(mariadb, "--web.route-prefix", "db/one", "--web.socket", str(socket)) as daemon:
        assert daemon.get("/db/one/-/healthy").status == 200
        assert daemon.get("/").status == 302
        assert daemon.get("/").headers["location"] == "/db/one/"
        assert daemon.get("/db/one").headers["location"] == "/db/one/"
        assert daemon.get("/metrics").status == 404
        assert daemon.get("/-/healthy").status == 404
        assert f'external_url="http://127.0.0.1:{daemon.port}/db/one"' in daemon.get("/db/one/metrics").text
        # Munin's plugin asks the socket, before which there is no proxy.
        assert ask(socket, "/munin.json")[0] == 200


@contextmanager
def below(server: PrivateServer, *words: str) -> Iterator[Daemon]:
    """A daemon whose health check may be below a path: it is up when it answers anything."""
    daemon = Daemon(["--socket", str(server.socket), "--user", "root", "--no-history", "--collect.interval", "1s", *words])

    def answers() -> bool:
        try:
            return daemon.get("/-/healthy").status in (200, 404)
        except OSError:
            return False

    try:
        assert wait_for(answers), daemon.stop() or daemon.log.decode()
        yield daemon
    finally:
        daemon.stop()
