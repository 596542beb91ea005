"""The site that script/docs builds: whole, strict, and usable from the disk of a machine without a network."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from tests.e2e.browser import asked_for, chromium, complaints, picture
from tests.support.repository import ROOT

PAGES = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))


def build(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "script" / "docs", *words], capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site") / "built"
    done = build(str(target))
    if "cannot be installed" in done.stderr and not os.environ.get("CI"):
        pytest.skip("the libraries of requirements/docs.txt cannot be had here")
    assert done.returncode == 0, done.stderr
    assert str(target / "index.html") in done.stdout
    return target


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Chrome]:
    with chromium(1280, 900, network=True) as one:
        yield one


def test_every_page_is_reached_from_the_navigation(site: Path) -> None:
    menu = re.search(r'<div class="sidebar-tree">(.*?)</div>\s*<', (site / "index.html").read_text(), re.DOTALL)
    assert menu is not None
    linked = {(site / target).resolve() for target in re.findall(r'href="([^"#]+)"', menu[1])}
    # Lists are folded; their pages are one step further.
    for page in (site / "reference/rules/index.html", site / "decisions/index.html"):
        assert page in linked
        linked |= {(page.parent / target).resolve() for target in re.findall(r'class="toctree-l2[^"]*"><a class="reference internal" href="([^"#]+)"', page.read_text())}
    wanted = {site / page.with_name("index.html" if page.name == "README.md" else f"{page.stem}.html") for page in PAGES}
    assert [str(page.relative_to(site)) for page in sorted(wanted - linked)] == []


def test_no_page_asks_another_host(site: Path) -> None:
    # What a browser fetches by itself; links that a reader may follow are <a href>.
    fetched = re.compile(r'<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\ssrc="([^"]*)"|<link\b[^>]*?\shref="([^"]*)"|(?:url\(|@import\s*)["\']?([^"\')]+)')
    outside = [
        f"{path.relative_to(site)}: {target}"
        for path in site.rglob("*")
        if path.suffix in (".html", ".css", ".svg")
        for found in fetched.findall(path.read_text("utf-8"))
        for target in found
        if re.match(r"(?:[a-z]+:)?//", target) and not target.startswith("data:")
    ]
    assert outside == []


def test_a_browser_opens_it_from_the_disk(site: Path, browser: Chrome) -> None:
    for name in ("index.html", "guide/coming-from-mysqltuner.html", "reference/rules/io-bound-data.html"):
        browser.get((site / name).as_uri())
        asked = asked_for(browser)
        assert len(asked) > 3, "styles and scripts were not seen"
        assert [address for address in asked if urlsplit(address).scheme not in ("file", "data")] == []
        assert [address for address in asked if address.startswith("file:") and not Path(unquote(urlsplit(address).path)).exists()] == []
        assert complaints(browser) == []
        broken = "return [...document.images].filter(image => !image.complete || !image.naturalWidth).map(image => image.src)"
        assert browser.execute_script(broken) == []
        picture(browser, f"site-{Path(name).stem}")


def test_search_needs_no_server(site: Path, browser: Chrome) -> None:
    browser.get((site / "index.html").as_uri())
    field = browser.find_element(By.NAME, "q")
    field.send_keys("context switches", Keys.ENTER)
    # Results come one after another.
    WebDriverWait(browser, 30).until(lambda one: one.find_elements(By.CSS_SELECTOR, 'ul.search li a[href*="key-cache-contention.html"]'))
    assert complaints(browser) == []
    picture(browser, "site-search")


def test_tables_scroll_and_the_page_does_not(site: Path, browser: Chrome) -> None:
    # A phone, a menu on one side, the width where the second one comes, both.
    for width in (390, 1100, 1280, 1340, 1600):
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
        for name in ("guide/installing.html", "guide/beside-mysqld-exporter.html", "reference/metrics.html"):
            browser.get((site / name).as_uri())
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width, name
            picture(browser, f"site-{Path(name).stem}-{width}")


@pytest.mark.parametrize(("words", "said"), [(("--wrong",), "script/docs [DIRECTORY]"), (("one", "two"), "script/docs [DIRECTORY]")])
def test_wrong_words_are_answered_with_how_to_call_it(words: tuple[str, ...], said: str) -> None:
    done = build(*words)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_folder_with_something_else_in_it_is_left_alone(site: Path, tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear")
    done = build(str(tmp_path))
    assert done.returncode == 2
    assert "is not empty" in done.stderr
    assert (tmp_path / "letter").read_text() == "dear"
