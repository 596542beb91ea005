"""The status page in a real browser, of a server under a provoked contention."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from demo.load import InsertLoad
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.e2e.browser import chromium, complaints, dress, picture, violations
from tests.support.daemon import Daemon, serving, wait_for
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of
from tests.support.thoroughness import THOROUGH

HOSTILE = ("<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", "{{ 7 * 7 }}", "\u202egnp.exe", "a'b`c;DROP", "ünï☃" * 16)
RULE = "key-cache-contention"
MAXIMUM_BYTES = 200_000


@dataclass
class Shown:
    """The page of a server, as its daemon renders it; a load that contends for the key cache can be put on it."""

    server: PrivateServer
    daemon: Daemon


@pytest.fixture(scope="module")
def shown() -> Iterator[Shown]:
    options = ["--key-buffer-size=256M", "--myisam-recover-options=OFF", "--performance-schema=OFF"]
    with CopiedServer(binaries_of("mariadb-10.11"), options) as server:
        server.execute("CREATE DATABASE `<i>odd</i>`")
        for name in HOSTILE:
            quoted = name.replace("`", "``")
            server.execute(f"CREATE TABLE `<i>odd</i>`.`{quoted}` (id INT NOT NULL PRIMARY KEY, a CHAR(200) NOT NULL) ENGINE=MyISAM", f"INSERT INTO `<i>odd</i>`.`{quoted}` VALUES (1, 'x')")
        InsertLoad().make_tables(server)
        with serving("--socket", server.socket, "--user", "root", "--collect.interval", "2s") as daemon:
            daemon.looked()
            yield Shown(server, daemon)


@contextmanager
def contended(shown: Shown) -> Iterator[None]:
    """While the load runs: it takes a processor and more, so that only what is about it runs beside it."""
    running = InsertLoad().start(shown.server, 120)
    try:
        assert wait_for(lambda: f'rule="{RULE}"' in shown.daemon.get().text, 40), shown.daemon.get("/advice.json").text
        yield
    finally:
        running.kill()
        running.communicate()


@pytest.fixture(scope="module")
def reader() -> Iterator[Chrome]:
    """A browser for tests that leave nothing in it."""
    with chromium() as browser:
        yield browser


def dresses(narrow: int) -> tuple[tuple[int, bool], ...]:
    """Widths, light or dark. What axe finds depends on the structure, which is the same in each, and on contrasts: two of the four have both."""
    return ((1200, False), (narrow, True), *(((1200, True), (narrow, False)) if THOROUGH else ()))


def text_of(browser: Chrome, selector: str) -> str:
    return browser.find_element(By.CSS_SELECTOR, selector).text


def test_it_says_what_holds_the_server_back(shown: Shown) -> None:
    with chromium() as browser, contended(shown):
        # The load is real, and may pause between two looks.
        # What is written to a table is seen when its writers let go of it once: not in each look.
        assert wait_for(lambda: _is_held_back(browser, shown.daemon) and "hot" in text_of(browser, "[aria-label=Tables]"), 60)
        assert "through the one lock of the key cache" in text_of(browser, ".verdict")
        finding = next(one for one in browser.find_elements(By.CSS_SELECTOR, "details.finding") if RULE in one.text)
        assert finding.get_attribute("open") is not None
        for heading in ("Evidence", "Do", "Expect", "Cost", "Undo", "Verify"):
            assert heading in finding.text
        assert "key_cache_segments = 16" in finding.text
        assert "threshold" in finding.text
        assert len(browser.find_elements(By.CSS_SELECTOR, ".map rect[class^=s]")) >= len(HOSTILE) + 8
        assert "demo.load_1" in text_of(browser, "[aria-label=Tables]")
        assert "hot" in text_of(browser, "[aria-label=Tables]")
        assert "default" in text_of(browser, "[aria-label='Key caches']")
        assert len(browser.find_elements(By.CSS_SELECTOR, ".curves path")) >= 4
        assert complaints(browser) == []
        picture(browser, "page-light")
        finding.find_element(By.CSS_SELECTOR, ".block button").click()
        assert wait_for(lambda: finding.find_element(By.CSS_SELECTOR, ".block button").text in ("Copied", "Marked"))
        assert complaints(browser) == []


def _is_held_back(browser: Chrome, daemon: Daemon) -> bool:
    browser.get(f"http://127.0.0.1:{daemon.port}/")
    return "held back by the lock of the key cache" in text_of(browser, ".verdict").lower()


def test_names_stay_text(shown: Shown, reader: Chrome) -> None:
    dress(reader, 1200)
    reader.get(f"http://127.0.0.1:{shown.daemon.port}/")
    assert reader.find_elements(By.CSS_SELECTOR, "img") == []
    assert len(reader.find_elements(By.TAG_NAME, "script")) == 1
    tables = text_of(reader, "[aria-label=Tables]")
    for name in ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "{{ 7 * 7 }}", "a'b`c;DROP"):
        doubled = name.replace("`", "``")
        assert f"`<i>odd</i>`.`{doubled}`" in tables
    assert "\u202e" not in reader.page_source
    assert "\\u202egnp.exe" in tables
    assert complaints(reader) == []


def is_accessible_and_fits(browser: Chrome) -> None:
    """With all that can be opened open."""
    for details in browser.find_elements(By.CSS_SELECTOR, "details:not([open]) > summary"):
        details.click()
    assert violations(browser) == []
    overflow = browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow == 0, "the page is wider than its window"
    cut = browser.execute_script("return [...document.querySelectorAll('.evidence')].filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)")
    assert cut == [], "a threshold is out of sight"


def test_it_is_accessible_in_every_dress(shown: Shown) -> None:
    with chromium() as browser, contended(shown):
        for width, dark in dresses(360):
            dress(browser, width, dark=dark)
            browser.get(f"http://127.0.0.1:{shown.daemon.port}/")
            is_accessible_and_fits(browser)
            background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == dark
            assert complaints(browser) == []
            picture(browser, f"page-{width}-{'dark' if dark else 'light'}")


# Every kind of page: rules found and not, the list of tables in its forms, a table of each kind, and one that is gone.
PAGES = ("rules", f"rules/{RULE}", "rules/mmap-enable", "tables", "tables?search=no+such+name", "table?schema=demo&table=load_1",
         "table?schema=%3Ci%3Eodd%3C%2Fi%3E&table=%3Cscript%3Ealert(1)%3C%2Fscript%3E", "table?schema=a&table=gone")  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_every_other_page_is_accessible_too(shown: Shown, reader: Chrome, page: str) -> None:
    for width, dark in dresses(390):
        dress(reader, width, dark=dark)
        reader.get(f"http://127.0.0.1:{shown.daemon.port}/{page}")
        is_accessible_and_fits(reader)
        assert [one for one in complaints(reader) if "404 (Not Found)" not in one] == []
        assert reader.find_elements(By.CSS_SELECTOR, "img, script + script") == []
        picture(reader, f"page-{PAGES.index(page)}-{width}-{'dark' if dark else 'light'}")


def test_all_tables_are_reached_without_javascript(shown: Shown) -> None:
    with chromium(script=False) as browser:
        browser.get(f"http://127.0.0.1:{shown.daemon.port}/")
        browser.find_element(By.LINK_TEXT, "All tables").click()
        field = browser.find_element(By.NAME, "search")
        field.send_keys("<script>", Keys.ENTER)
        assert wait_for(lambda: "search=" in browser.current_url)
        browser.find_element(By.PARTIAL_LINK_TEXT, "<script>alert(1)</script>").click()
        assert "<script>alert(1)</script>" in text_of(browser, "h1")
        browser.find_element(By.LINK_TEXT, "rules").click()
        browser.find_element(By.LINK_TEXT, RULE).click()
        assert RULE in text_of(browser, "header")


def test_the_next_look_comes_and_disturbs_nobody(shown: Shown) -> None:
    with chromium() as browser:
        browser.get(f"http://127.0.0.1:{shown.daemon.port}/")
        assert re.fullmatch(r"\d+(\.\d)? s ago", text_of(browser, ".age"))  # in tenths below a second, until the script counts
        first = text_of(browser, ".taken time")
        key = browser.find_element(By.CSS_SELECTOR, "details.finding").get_attribute("data-key")
        was_open = browser.execute_script("const one = document.querySelector('details.finding'); one.open = !one.open; return !one.open")

        def looked_again() -> bool:
            browser.execute_async_script("const done = arguments[arguments.length - 1]; poll().then(done);")
            return text_of(browser, ".taken time") != first

        assert wait_for(looked_again, 30, 1.0)
        kept = [one for one in browser.find_elements(By.CSS_SELECTOR, "details.finding") if one.get_attribute("data-key") == key]
        assert all((one.get_attribute("open") is not None) != was_open for one in kept)
        assert len(browser.find_elements(By.CSS_SELECTOR, ".block button")) == len(browser.find_elements(By.CSS_SELECTOR, ".block"))
        for one in browser.find_elements(By.CSS_SELECTOR, "details.finding"):
            labels = [button.get_attribute("aria-label") for button in one.find_elements(By.CSS_SELECTOR, ".block button")]
            assert len(set(labels)) == len(labels), "who hears the page can tell them apart"
        # Whoever marks something keeps what is marked.
        second = text_of(browser, ".taken time")
        browser.execute_script("getSelection().selectAllChildren(document.querySelector('.verdict'))")
        for _ in range(4):
            browser.execute_async_script("const done = arguments[arguments.length - 1]; setTimeout(() => poll().then(done), 1000);")
        assert text_of(browser, ".taken time") == second
        browser.execute_script("getSelection().removeAllRanges()")
        assert wait_for(lambda: looked_again() and text_of(browser, ".taken time") != second, 30, 1.0)
        # A click leaves the focus where it was, for as long as the page is open: only a keyboard's is somebody's place.
        for clicked in ("details.finding > summary", ".block button"):
            before = text_of(browser, ".taken time")
            browser.find_element(By.CSS_SELECTOR, clicked).click()
            assert browser.execute_script("return document.querySelector('main').contains(document.activeElement)")
            browser.execute_script("getSelection().removeAllRanges()")
            assert wait_for(lambda: looked_again() and text_of(browser, ".taken time") != before, 30, 1.0), clicked  # noqa: B023
        browser.find_element(By.CSS_SELECTOR, "details.finding > summary").send_keys(Keys.TAB)
        third = text_of(browser, ".taken time")
        for _ in range(4):
            browser.execute_async_script("const done = arguments[arguments.length - 1]; setTimeout(() => poll().then(done), 1000);")
        assert text_of(browser, ".taken time") == third
        assert complaints(browser) == []


def test_it_works_without_javascript_and_by_keyboard(shown: Shown) -> None:
    with chromium(script=False) as browser:
        browser.get(f"http://127.0.0.1:{shown.daemon.port}/")
        assert browser.find_elements(By.CSS_SELECTOR, ".block button") == []
        assert text_of(browser, ".verdict")
        body = browser.find_element(By.TAG_NAME, "body")
        body.send_keys(Keys.TAB)
        assert browser.switch_to.active_element.get_attribute("class") == "skip"
        summary = browser.find_element(By.CSS_SELECTOR, "details.finding > summary")
        was_open = summary.find_element(By.XPATH, "..").get_attribute("open")
        summary.send_keys(Keys.ENTER)
        assert summary.find_element(By.XPATH, "..").get_attribute("open") != was_open


def test_its_headers_allow_nothing_else(shown: Shown) -> None:
    page = shown.daemon.get("/")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert re.findall(r"(?:src|href)=[\"']?(?:https?:|//)", page.text) == []
    assert len(page.body) < MAXIMUM_BYTES
    for method in ("POST", "PUT", "DELETE"):
        assert shown.daemon.get("/", method=method).status == 405


def test_advice_is_there_for_programs_too(shown: Shown) -> None:
    advice = shown.daemon.get("/advice.json")
    document = json.loads(advice.text)
    assert document["schema"] == 1
    assert {"findings", "not_evaluated", "quiet", "server", "interval_seconds"} <= document.keys()

    def unchanged() -> bool:
        tag = shown.daemon.get("/advice.json").headers["etag"]
        again = shown.daemon.get("/advice.json", {"If-None-Match": tag})
        return again.status == 304 and again.body == b"" and again.headers["etag"] == tag

    assert wait_for(unchanged)  # unless a look came between the two
    assert shown.daemon.get("/advice.json", {"If-None-Match": '"other"'}).status == 200
    tag = shown.daemon.get("/").headers["etag"]
    assert wait_for(lambda: shown.daemon.get("/", {"If-None-Match": tag}).status == 200)  # the next look is another page


def test_it_tells_of_a_server_that_is_down_and_no_paths(tmp_path: Path) -> None:
    secret = tmp_path / "secret-options.cnf"
    with CopiedServer(binaries_of("mariadb-10.11"), [f"--tmpdir={tmp_path}"] if os.geteuid() else []) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1)")
        secret.write_text(f"[client]\nuser=root\npassword=hunter2hunter2\nsocket={server.socket}\n")
        # The account has no password: what the option file holds is not sent wrongly, but must not be shown.
        server.execute("ALTER USER root@localhost IDENTIFIED BY 'hunter2hunter2'")
        history = tmp_path / "secret-history.sqlite"
        with serving("--defaults-file", secret, "--history", history) as daemon:
            assert wait_for(lambda: "What to change" in daemon.get("/").text)
            for page in ("/", "/advice.json"):
                up = daemon.get(page).text
                assert "hunter2" not in up
                assert "secret-" not in up
                assert str(server.socket) not in up
            server.stop()
            assert wait_for(lambda: "The server does not answer" in daemon.get("/").text)
            down = daemon.get("/").text
            assert "What follows is from an earlier look" in down
            assert "d.t" in down
            assert str(server.socket) not in down
            assert daemon.get("/advice.json").status == 503
            assert str(server.socket) not in daemon.get("/advice.json").text


def test_an_open_page_says_that_its_next_look_is_overdue_and_not_while_it_waits_for_its_reader() -> None:
    with CopiedServer(binaries_of("mariadb-10.11")) as server, chromium() as browser, serving("--socket", server.socket, "--user", "root", "--timeout", "60") as daemon:
        daemon.looked()
        browser.get(f"http://127.0.0.1:{daemon.port}/")
        poll = "const done = arguments[arguments.length - 1]; poll().then(done);"
        # More than three looks' time: what stands there is old, and the daemon has newer ones.
        browser.execute_script("getSelection().selectAllChildren(document.querySelector('.verdict'))")
        time.sleep(5)
        browser.execute_async_script(poll)
        assert re.fullmatch(r"\d+ s ago", text_of(browser, ".age"))
        browser.execute_script("getSelection().removeAllRanges()")
        os.kill(server.pid, signal.SIGSTOP)
        try:

            def is_overdue() -> bool:
                browser.execute_async_script(poll)
                return re.fullmatch(r"\d+ s ago: the next look is overdue", text_of(browser, ".age")) is not None

            assert wait_for(is_overdue, 30, 1.0), text_of(browser, ".age")
            assert "stale" in str(browser.find_element(By.CSS_SELECTOR, ".age").get_attribute("class"))
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert wait_for(lambda: not is_overdue(), 30, 1.0)


def test_a_report_on_the_disk_tells_no_age(shown: Shown, reader: Chrome, tmp_path: Path) -> None:
    """Nobody knows how long it has lain there: a report's age was "NaN s", and a page that was saved was as young as on that day."""
    run("check", "--socket", shown.server.socket, "--user", "root", "--interval", "0", "--format", "html", "--output", tmp_path / "report.html")
    (tmp_path / "saved.html").write_text(shown.daemon.get("/").text)
    complaints(reader)  # of the pages before: one is of a table that is gone, and asks for it again
    for name in ("report", "saved"):
        reader.get((tmp_path / f"{name}.html").as_uri())
        reader.execute_script("showAge()")  # as it does each second
        assert re.fullmatch(r"Looked at [-\d]{10} [:\d]{8} \S+", text_of(reader, ".taken").strip()), name
        assert complaints(reader) == []


def test_a_page_that_was_opened_too_early_becomes_whole_by_itself(tmp_path: Path) -> None:
    """Without a look there is no age on it, and it asked for nothing: whoever opened it while the server was down saw it down until he reloaded it."""
    link = tmp_path / "s"
    with CopiedServer(binaries_of("mariadb-10.11")) as server, serving("--socket", link, "--user", "root") as daemon, chromium() as browser:
        browser.get(f"http://127.0.0.1:{daemon.port}/")
        assert "Nothing is known yet" in text_of(browser, ".verdict")
        link.symlink_to(server.socket)
        assert wait_for(lambda: "Nothing is known yet" not in text_of(browser, ".verdict"), 60, 1.0)
        assert wait_for(lambda: re.fullmatch(r"\d+ s ago", text_of(browser, ".age")) is not None)
        assert complaints(browser) == []


def test_ten_thousand_tables(tmp_path: Path) -> None:
    from benchmarks.common import make_tables

    with CopiedServer(binaries_of("mariadb-10.11"), ["--table-open-cache=400"]) as server:
        make_tables(server, 10_000, 50)
        with serving("--socket", server.socket, "--user", "root", "--collect.interval", "5s") as daemon:
            daemon.looked(60)
            page = daemon.get("/")
            assert len(page.body) < MAXIMUM_BYTES
            assert "10,001 MyISAM tables" in page.text
            with chromium(1200) as browser:
                browser.get(f"http://127.0.0.1:{daemon.port}/")
                assert 100 < len(browser.find_elements(By.CSS_SELECTOR, ".map g")) < 600
                assert violations(browser) == []
                picture(browser, "page-ten-thousand-tables")
