"""The daemon's pages over HTTP: other servers, no server, a server that is not there yet."""

import gzip
import html
import json
import re
from email.utils import parsedate_to_datetime
from pathlib import Path

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import serving, wait_for

from .conftest import schema


def test_each_probed_server_has_its_page(mariadb: PrivateServer, tmp_path: Path) -> None:
    options, targets = tmp_path / "client.cnf", tmp_path / "targets.yaml"
    options.write_text("[client]\nuser=root\n")
    name = "the <b>archive</b> & co"
    targets.write_text(json.dumps({"targets": {name: {"socket": str(mariadb.socket)}}}))
    with serving("--no-own-server", "--defaults-file", options, "--config.targets", targets) as daemon:
        page = daemon.get("/")
        assert page.status == 200
        assert "watches no server of its own" in page.text
        assert daemon.get("/advice.json").status == 503
        assert daemon.get("/munin.json").status == 503
        quoted = "the+%3Cb%3Earchive%3C%2Fb%3E+%26+co"
        assert daemon.get(f"/?target={quoted}").status == 400  # nobody probes it yet
        probed = daemon.get(f"/probe?target={quoted}")
        assert f'web_info{{external_url="http://127.0.0.1:{daemon.port}",query="?target={quoted}"}} 1' in probed.text
        assert wait_for(lambda: "What to change" in daemon.get(f"/?target={quoted}").text)
        assert json.loads(daemon.get(f"/advice.json?target={quoted}").text)["schema"] == 1
        assert json.loads(daemon.get(f"/munin.json?target={quoted}").text)["up"]
        assert f'<a href="./?target={quoted}">the &lt;b&gt;archive&lt;/b&gt; &amp; co</a>' in daemon.get("/").text
        rule = daemon.get(f"/rules/recovery-disabled?target={quoted}")
        assert f'href="../?target={quoted}"' in rule.text
        assert "looked at" in rule.text
        assert "Nothing is known yet" in daemon.get("/rules/recovery-disabled?target=gone").text
        assert daemon.get("/rules/nothing-of-the-kind").status == 404
        assert daemon.get(f"/?target={quoted}&target=x").status == 400
        assert daemon.get("/?target=127.0.0.1:3306").status == 400


def test_a_server_that_is_not_there_yet(tmp_path: Path) -> None:
    missing = tmp_path / "not-yet.sock"
    with serving("--socket", missing, "--user", "root") as daemon:
        assert wait_for(lambda: "the socket (a path) does not exist" in daemon.get("/").text)
        page = daemon.get("/").text
        assert "Nothing is known yet." in page
        assert "not-yet" not in page
        advice = daemon.get("/advice.json")
        assert advice.status == 503
        assert "not-yet" not in advice.text
        document = json.loads(daemon.get("/munin.json").text)
        assert not document["up"]
        assert document["reason"]
        assert "not-yet" not in document["reason"]
        assert document["values"] == {}


def test_a_page_has_an_age_that_its_tag_does_not_have(mariadb: PrivateServer) -> None:
    with serving("--socket", mariadb.socket, "--user", "root", "--collect.interval", "60s") as daemon:
        assert wait_for(lambda: "What to change" in daemon.get("/").text)
        first = daemon.get("/")

        def older() -> bool:
            again = daemon.get("/")
            assert again.headers["etag"] == first.headers["etag"]
            return again.text != first.text

        assert wait_for(older)
        unchanged = daemon.get("/", {"If-None-Match": first.headers["etag"]})
        assert unchanged.status == 304
        looked, now = (parsedate_to_datetime(unchanged.headers[name]) for name in ("last-modified", "date"))
        assert 0 <= (now - looked).total_seconds() < 60


def test_answers_are_compressed_where_that_is_wanted(mariadb: PrivateServer) -> None:
    with serving("--socket", mariadb.socket, "--user", "root") as daemon:
        assert wait_for(lambda: "What to change" in daemon.get("/").text)

        def both() -> bool:
            packed, plain = daemon.get("/", {"Accept-Encoding": "gzip"}), daemon.get("/")
            assert packed.headers["content-encoding"] == "gzip"
            ages = [re.sub(rb'<span class="age.*?</span>', b"", body) for body in (gzip.decompress(packed.body), plain.body)]
            return ages[0] == ages[1] and packed.headers["etag"] == plain.headers["etag"]

        assert wait_for(both)  # unless a look came between the two
        head = daemon.get("/", method="HEAD")
        assert head.status == 200
        assert head.body == b""
        assert int(head.headers["content-length"]) > 1000
        for path in ("/rules", "/rules/", "/rules/table-crashed"):
            page = daemon.get(path)
            assert page.headers["content-type"].startswith("text/html")
            assert page.headers["x-content-type-options"] == "nosniff"
            assert page.headers["content-security-policy"].startswith("default-src 'none'; ")
        assert daemon.get("/favicon.ico").headers["content-type"] == "image/svg+xml"


def test_every_table_has_a_page(mariadb: PrivateServer, tmp_path: Path) -> None:
    names = ("plain", "a/../b", "<i>&amp;", "ü☃", "a.b?c=d#e", "'")
    with schema(mariadb, "pages"), serving("--socket", mariadb.socket, "--user", "root", "--history", tmp_path / "history.sqlite") as daemon:
        for name in names:
            mariadb.execute(f"CREATE TABLE pages.`{name}` (id INT NOT NULL PRIMARY KEY, a VARCHAR(9)) ENGINE=MyISAM", f"INSERT INTO pages.`{name}` VALUES (1, 'x')")
        assert daemon.get("/tables").status in (200, 503)  # 503 before the first look

        def listed() -> list[str]:
            found = re.findall(r'href="\./(table\?[^"]+)"', daemon.get("/tables?search=pages.&sort=name").text)
            return list(map(html.unescape, found))

        assert wait_for(lambda: len(listed()) == len(names))
        for link in listed():
            page = daemon.get(f"/{link}")
            assert page.status == 200, link
            assert "INT NOT NULL" in page.text

        def has_curves() -> bool:
            """Only of tables that were in use the history has curves."""
            mariadb.execute("INSERT INTO pages.plain SELECT MAX(id) + 1, 'x' FROM pages.plain")
            return "The last day" in daemon.get("/table?schema=pages&table=plain").text

        assert wait_for(has_curves, step=0.3)
        assert f'href="./{html.escape(listed()[0])}"' in daemon.get("/").text


def test_what_is_wrongly_asked_of_the_tables_is_said(mariadb: PrivateServer) -> None:
    with serving("--socket", mariadb.socket, "--user", "root") as daemon:
        assert wait_for(lambda: daemon.get("/tables").status == 200)
        wrong = {"sort=evil": "there are worst, name", "page=0": "from 1 up", "page=-1": "from 1 up", "page=%D9%A3": "from 1 up", "page=1e9": "from 1 up", "page=9999999999": "from 1 up",
                 f"search={'x' * 201}": "200 characters", "search=a&search=b": "at most", "search=%ff": "cannot be read", "target=gone": "unknown target"}  # fmt: skip
        for query, said in wrong.items():
            answer = daemon.get(f"/tables?{query}")
            assert answer.status == 400, query
            assert said in answer.text
            assert answer.headers["content-type"].startswith("text/plain")
        assert daemon.get("/tables?page=999999999&search=%3Cscript%3E").status == 200
        assert daemon.get("/table?schema=gone&table=%3Cscript%3E").status == 404
        assert "<script>gone" not in daemon.get("/table?schema=gone&table=%3Cscript%3Egone").text
        assert daemon.get("/table").status == 404
        assert daemon.get("/tables", method="POST").status == 405
