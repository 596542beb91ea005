"""The daemon's pages over HTTP: other servers, no server, a server that is not there yet."""

import gzip
import json
from pathlib import Path

from myisam_advisor.trial.private.private_server import PrivateServer

from .daemon import serving, wait_for


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
        assert daemon.get(f"/probe?target={quoted}").status == 200
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


def test_answers_are_compressed_where_that_is_wanted(mariadb: PrivateServer) -> None:
    with serving("--socket", mariadb.socket, "--user", "root") as daemon:
        assert wait_for(lambda: "What to change" in daemon.get("/").text)

        def both() -> bool:
            packed, plain = daemon.get("/", {"Accept-Encoding": "gzip"}), daemon.get("/")
            assert packed.headers["content-encoding"] == "gzip"
            return gzip.decompress(packed.body) == plain.body and packed.headers["etag"] == plain.headers["etag"]

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
