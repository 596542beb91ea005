"""Makes the pictures of README and docs/guide: `python -m tools.pictures`, with tmux, sysbench, Chromium and a MariaDB of script/servers.

A private server is put under the load of the demonstration; `check` and `top` are shown in a real terminal and drawn as SVG, the page is photographed.
Look at each picture before it is committed.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from demo.load import InsertLoad
from myisam_advisor.trial.private import unprivileged
from myisam_advisor.trial.private.private_server import PrivateServer
from tools.fetched_servers import find_server

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
PROGRAM = Path(sys.executable).with_name("myisam-advisor")
CHECK_SIZE, TOP_SIZE = (100, 18), (120, 22)
PAGE_SIZE, WHOLE_PAGE_SIZE = (1000, 1420), (1000, 3000)
LOAD_SECONDS, LOOKS_SECONDS, TOP_SECONDS, CHECK_SECONDS = 180.0, 30.0, 24.0, 12.0
PORT, PAGES_TRIED = 19942, 60
OPTIONS = ("--key-buffer-size=256M", "--performance-schema=OFF", "--loose-userstat=ON")
# Rows that a shop reads beside the inserts.
SHOP = (
    "CREATE DATABASE shop",
    "USE shop",
    "CREATE TABLE shop.orders (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, note VARCHAR(120), KEY (customer)) ENGINE=MyISAM",
    "INSERT INTO shop.orders (customer, note) SELECT seq % 977, REPEAT('note ', seq % 20) FROM seq_1_to_200000",
    "CREATE TABLE shop.visits (id INT NOT NULL PRIMARY KEY, page VARCHAR(60)) ENGINE=MyISAM",
    "INSERT INTO shop.visits SELECT seq, CONCAT('/page/', seq % 400) FROM seq_1_to_50000",
)
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> int:
    """Make all pictures; 2 when something is missing."""
    unprivileged.root_may_control = True
    binaries = find_server("mariadb-10.11")
    missing = [name for name in ("tmux", "sysbench", "chromium") if shutil.which(name) is None]
    if binaries is None or missing:
        print(
            f"pictures: {', '.join(missing) or 'mariadb-10.11'} is missing: script/bootstrap and script/servers mariadb-10.11"
        )
        return 2
    load = InsertLoad()
    with PrivateServer(binaries, OPTIONS) as server, _history() as history:
        load.make_tables(server)
        server.execute(*SHOP)
        running = load.start(server, LOAD_SECONDS)
        try:
            _take(server, history)
        finally:
            running.kill()
            running.wait()
    return 0


def _take(server: PrivateServer, history: Path) -> None:
    options = ["--socket", str(server.socket), "--user", "root"]
    _draw("top", [str(PROGRAM), "top", *options], TOP_SIZE, TOP_SECONDS)
    check = [str(PROGRAM), "check", *options]
    _draw("check", check, CHECK_SIZE, CHECK_SECONDS, "myisam-advisor check", "found nothing")
    watching = ["--history", str(history), "--collect.interval", "4s", "--web.listen-address", f"127.0.0.1:{PORT}"]
    daemon = subprocess.Popen([PROGRAM, "serve", *options, *watching], stderr=subprocess.DEVNULL)
    try:
        time.sleep(LOOKS_SECONDS)
        page = history.with_name("page.html")
        page.write_bytes(_page())
        _photograph("page", PAGE_SIZE, page)
        _photograph("page-tables", WHOLE_PAGE_SIZE, page)
    finally:
        daemon.terminate()
        daemon.wait()


@contextmanager
def _history() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "history.sqlite"


def _draw(
    name: str, words: Sequence[str], size: tuple[int, int], seconds: float, typed: str = "", until: str = ""
) -> None:
    """What a terminal of this size shows after so long, and with the words `until`, as SVG; `typed` is the line above it."""
    columns, lines = size
    socket = f"pictures-{os.getpid()}-{name}"
    tmux = ["tmux", "-L", socket, "-f", "/dev/null"]
    command = f"{shlex.join(words)} 2>/dev/null; sleep 1000"
    subprocess.run([*tmux, "new-session", "-d", "-x", str(columns), "-y", str(lines), command], check=True)
    try:
        time.sleep(seconds)
        shown = _shown(tmux)
        while until not in shown:
            time.sleep(1.0)
            shown = _shown(tmux)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    if typed:
        console.print(Text(f"$ {typed}", style="bold"))
    console.print(Text.from_ansi(shown.rstrip()))
    # Without a font from elsewhere: every reader has a monospaced one, and the widths are in the picture.
    drawn = _FONTS.sub("", console.export_svg(title=f"myisam-advisor {name}", unique_id=name))
    (FOLDER / f"{name}.svg").write_text(drawn.rstrip() + "\n", "utf-8")


def _shown(tmux: Sequence[str]) -> str:
    return subprocess.run([*tmux, "capture-pane", "-e", "-p"], check=True, capture_output=True, text=True).stdout


def _page() -> bytes:
    """The page of a look that saw what the load does; a browser that starts meanwhile would be seen as well."""
    for _ in range(PAGES_TRIED):
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/") as answer:
            page: bytes = answer.read()
        if b"back by the lock of the key cache." in page:
            return page
        time.sleep(1.0)
    raise SystemExit("pictures: the load did not show what it should; is the machine busy?")


def _photograph(name: str, size: tuple[int, int], page: Path) -> None:
    """The page in a window of this size."""
    width, height = size
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                f"--window-size={width},{height}", f"--screenshot={FOLDER / name}.png", page.as_uri(),
            ],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
