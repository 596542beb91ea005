"""What a page of somebody else's, open in the administrator's browser, can find out about a daemon on the same machine."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from selenium.webdriver import Chrome

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.e2e.browser import chromium
from tests.support.daemon import Daemon, serving, wait_for
from tests.support.servers import CopiedServer, binaries_of

# Each by itself: whether the page hears that it came. A script is told its failure by its status, a style sheet and a picture too.
ASK = """
const [address, done] = arguments;
const kinds = {
  script: () => Object.assign(document.createElement("script"), {src: address}),
  style: () => Object.assign(document.createElement("link"), {rel: "stylesheet", href: address}),
  image: () => Object.assign(document.createElement("img"), {src: address}),
  object: () => Object.assign(document.createElement("object"), {data: address}),
  prefetch: () => Object.assign(document.createElement("link"), {rel: "prefetch", href: address}),
};
const asked = Object.entries(kinds).map(([kind, make]) => new Promise((told) => {
  const element = make();
  element.onload = () => told([kind, "came"]);
  element.onerror = () => told([kind, "did not"]);
  setTimeout(() => told([kind, "nothing"]), 4000);
  document.body.append(element);
}));
asked.push(fetch(address, {mode: "no-cors"}).then(() => ["fetch", "came"], () => ["fetch", "did not"]));
Promise.all(asked).then((all) => done(Object.fromEntries(all)));
"""


# What Chromium fetches, and shows where nobody looks, before a link is followed.
FORESEE = """
const rules = document.createElement("script");
rules.type = "speculationrules";
rules.textContent = JSON.stringify({prefetch: [{source: "list", urls: [arguments[0]]}], prerender: [{source: "list", urls: [arguments[1]]}]});
document.body.append(rules);
"""


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A page of nobody's."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><body><p>A page</p></body>")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@contextmanager
def elsewhere() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        # To a browser localhost is another site than 127.0.0.1.
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with CopiedServer(binaries_of("mariadb-10.11")) as running:
        running.execute("CREATE DATABASE shop", "CREATE TABLE shop.orders (a INT) ENGINE=MyISAM")
        yield running


@pytest.fixture(scope="module")
def daemon(server: PrivateServer) -> Iterator[Daemon]:
    with serving("--socket", server.socket, "--user", "root") as running:
        running.looked()
        yield running


def heard(browser: Chrome, address: str) -> dict[str, str]:
    found: dict[str, str] = browser.execute_async_script(ASK, address)
    return found


def test_a_page_of_another_site_cannot_tell_what_is_here_from_what_is_not(daemon: Daemon) -> None:
    here = f"http://127.0.0.1:{daemon.port}"
    with chromium() as browser, elsewhere() as address:
        browser.set_script_timeout(20)
        browser.get(address)
        missing = heard(browser, f"{here}/table?schema=shop&table=nothing")
        assert "came" not in missing.values() or missing == heard(browser, f"{here}/nowhere"), missing
        for path in ("/table?schema=shop&table=orders", "/metrics", "/advice.json", "/favicon.ico", "/", "/munin.json"):
            assert heard(browser, f"{here}{path}") == missing, path
        # Whoever follows a link is shown the page, which asks for the next look by itself.
        browser.execute_script("const link = document.createElement('a'); link.href = arguments[0]; document.body.append(link); link.click();", f"{here}/")
        assert browser.execute_async_script("const done = arguments[0]; fetch(location.href).then((answer) => done(answer.status), () => done(0));") == 200
        assert browser.current_url == f"{here}/"


def answered(browser: Chrome) -> dict[str, int]:
    """The status of each address that was answered since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]  # type: ignore[no-untyped-call]
    answers = [message["params"]["response"] for message in messages if message["method"] == "Network.responseReceived"]
    return {str(one["url"]): int(one["status"]) for one in answers}


def test_a_page_of_another_site_has_nothing_fetched_before_somebody_follows_its_link(daemon: Daemon) -> None:
    fetched, shown = f"http://127.0.0.1:{daemon.port}/metrics", f"http://127.0.0.1:{daemon.port}/tables"
    with chromium(network=True) as browser, elsewhere() as address:
        browser.get(address)
        browser.execute_script(FORESEE, fetched, shown)
        seen: dict[str, int] = {}

        def both_came() -> bool:
            seen.update(answered(browser))
            return {fetched, shown} <= seen.keys()

        assert wait_for(both_came)
        assert (seen[fetched], seen[shown]) == (403, 403)
        browser.execute_script("location.href = arguments[0]", shown)
        assert wait_for(lambda: browser.title.startswith("Tables"))
