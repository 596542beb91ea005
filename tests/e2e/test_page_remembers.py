"""The page's memory in a real browser: bands on the curves, the list, and nothing that a reader by ear would miss."""

from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.past import Episode, Past, Stretch
from myisam_advisor.reports.page.look import look_at
from myisam_advisor.reports.page.render import render
from myisam_advisor.reports.page.view import CURVES, view_of
from tests.e2e.browser import chromium, complaints, picture, violations

NOW, HOUR = 1_763_838_000.0, 3600.0


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day with a shortage, a table that was crashed, a gap and a restart."""
    lock = Episode("db", "lock", "", "warning", NOW - 6 * HOUR, NOW - 5 * HOUR, "words", begin_seen=True, gone_at=NOW - 5 * HOUR)
    crashed = replace(lock, rule="crash", object="shop." + "long_name_" * 12, severity="critical")
    stretches = (Stretch(NOW - 24 * HOUR, NOW - 12 * HOUR, 60.0), Stretch(NOW - 10 * HOUR, NOW, 60.0))
    titles = {"lock": "Tables share one lock", "crash": "A table is crashed"}
    past = Past(NOW - 24 * HOUR, NOW, (lock, crashed), 0, stretches, (NOW - 9 * HOUR,), titles, {"lock": "the lock of the key cache", "crash": ""})
    facts = facts_from_document({"schema": 1, "interval_seconds": 10, "server": {"flavour": "mariadb", "version": "10.11.6"}})
    curves = {fact: [(NOW - 600 * number, float(number % 17)) for number in range(144, -1, -1)] for fact, _, _ in CURVES}
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(render(view_of(look_at(Judgement([], ["quiet"]), facts, NOW, past), curves)))
    return file


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (1200, True), (390, False)])
def test_what_is_remembered_can_be_seen(page: Path, width: int, dark: bool) -> None:
    with chromium(width, 900, dark=dark) as browser:
        browser.get(page.as_uri())
        picture(browser, f"remembers-{width}{'-dark' if dark else ''}")
        assert browser.find_element(By.CSS_SELECTOR, ".verdict .before").text.startswith("Held back earlier")
        bands = browser.find_elements(By.CSS_SELECTOR, ".curves svg .held")
        assert len(bands) == len(CURVES)
        assert all(band.size["width"] >= 2 and band.size["height"] > 10 for band in bands)
        assert {band.value_of_css_property("fill") for band in bands} != {"rgb(0, 0, 0)"}
        assert len(browser.find_elements(By.CSS_SELECTOR, ".legend .key rect")) == 3
        assert "A table is crashed" in browser.find_element(By.CSS_SELECTOR, "table.earlier").text
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
        assert violations(browser) == []
        assert complaints(browser) == []
