"""A real Chromium, as tests drive it."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

from tests.e2e.munin import root_of
from tests.support.fetched import missing

FOLDERS = "/usr/bin:/usr/lib/chromium"


def program(name: str) -> str:
    """Chromium or its driver."""
    path = shutil.which(name, path=f"{os.environ['PATH']}:{FOLDERS}")
    if path is None:
        missing(f"{name} is not installed: script/bootstrap does that on Debian")
    return path


@contextmanager
def chromium(width: int = 1200, height: int = 900, *, dark: bool = False, script: bool = True, network: bool = False) -> Iterator[Chrome]:
    """A browser with a window of this size; `network` notes what it asks for."""
    options = ChromeOptions()
    options.binary_location = program("chromium")
    # Chromium's own sandbox wants another user than root; here it opens pages of ours only.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"} | ({"performance": "ALL"} if network else {}))
    if not script:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    # What a browser of these leaves in the directory for temporary files, nobody else takes away.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Chrome(options, ChromeService(program("chromedriver"), env={**os.environ, "TMPDIR": folder}))
        try:
            dress(browser, width, height, dark=dark)
            yield browser
        finally:
            browser.quit()


def dress(browser: Chrome, width: int, height: int = 800, *, dark: bool = False) -> None:
    """Windows have a least width: the viewport is set as a phone's would be. A browser that runs takes another dress in no time, and starts in two seconds."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def violations(browser: Chrome) -> list[str]:
    """What axe-core finds wrong on the page, by rule and place."""
    browser.execute_script((root_of("axe") / "axe.min.js").read_text())
    found: dict[str, Any] = browser.execute_async_script("const done = arguments[arguments.length - 1]; axe.run().then(done);")
    assert len(found["passes"]) > 15, "axe did not look"
    # Of a name where there may be none axe says that it is not sure: Chromium tells it, screen readers do not.
    unsure = [one for one in found["incomplete"] if one["id"] == "aria-prohibited-attr"]
    return [f"{one['id']}: {node['target']}: {node['failureSummary']}" for one in (*found["violations"], *unsure) for node in one["nodes"]]


def complaints(browser: Chrome) -> list[str]:
    """What the console says."""
    return [str(entry["message"]) for entry in browser.get_log("browser")]  # type: ignore[no-untyped-call]


def asked_for(browser: Chrome) -> list[str]:
    """The addresses that the browser asked for since the last call: of one with `network`."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]  # type: ignore[no-untyped-call]
    return [str(message["params"]["request"]["url"]) for message in messages if message["method"] == "Network.requestWillBeSent"]


def picture(browser: Chrome, name: str) -> None:
    """The whole page as a picture, where MYISAM_ADVISOR_PICTURES names a folder for such."""
    folder = os.environ.get("MYISAM_ADVISOR_PICTURES")
    if not folder:
        return
    import base64
    from pathlib import Path

    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"})
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
