"""Under which address others reach us, and below which path we answer."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.web.access import Access
from myisam_exporter.web.allowed_hosts import AllowedHosts, host_of
from myisam_exporter.web.application import Exporter
from myisam_exporter.web.gate import Gate
from myisam_exporter.web.peers import NOBODY, Peer
from myisam_exporter.web.public_address import PublicAddress, public_address
from myisam_exporter.web.server import Request, Response

OVER_UNIX_SOCKET = Peer("uid 0", uid=0)


def request(path: str, host: str = "db1.example:9942", method: str = "GET") -> Request:
    return Request(method, path, "", {"host": host})


@pytest.mark.parametrize(
    ("url", "prefix", "wanted"),
    [
        (None, None, ("", "")),
        ("https://monitoring.example/myisam/", None, ("https://monitoring.example/myisam", "/myisam")),
        ("https://monitoring.example/myisam", "/", ("https://monitoring.example/myisam", "")),
        ("http://Monitoring.Example:8080", None, ("http://monitoring.example:8080", "")),
        ("http://[2001:db8::1]:8080/a/b", None, ("http://[2001:db8::1]:8080/a/b", "/a/b")),
        (None, "myisam/", ("", "/myisam")),
        (None, "", ("", "")),
    ],
)
def test_the_path_of_the_address_is_the_prefix_unless_another_is_given(url: str | None, prefix: str | None, wanted: tuple[str, str]) -> None:
    found = public_address(url, prefix, "http")
    assert (found.external_url, found.prefix) == wanted


@pytest.mark.parametrize(
    "url",
    ["monitoring.example", "/myisam", "ftp://x/", "javascript:alert(1)", "http://", "http://a b/", "http://x/?q=1", "http://x/#f", "http://user:word@x/", "http://[::1",
     "http://x/%2e%2e/", "http://x/../y", "http://x/<script>", "http://x:port/", 'http://"x"/', "http://x//y"],
)  # fmt: skip
def test_what_is_no_address_of_pages_is_refused_by_name(url: str) -> None:
    with pytest.raises(UserError, match=r"--web\.external-url"):
        public_address(url, None, "http")


@pytest.mark.parametrize("prefix", ["/a b", "/..", "/a/../b", "/a//b", "/%61", "/<i>", "/ü"])
def test_what_is_no_path_is_refused_by_name(prefix: str) -> None:
    with pytest.raises(UserError, match=r"--web\.route-prefix"):
        public_address(None, prefix, "http")


def test_links_from_elsewhere_are_made_of_what_was_asked_or_configured() -> None:
    assert PublicAddress().of(request("/metrics")) == "http://db1.example:9942"
    assert PublicAddress(prefix="/myisam", scheme="https").of(request("/myisam/metrics", "[2001:db8::1]:9942")) == "https://[2001:db8::1]:9942/myisam"
    assert PublicAddress("https://monitoring.example/myisam").of(request("/metrics")) == "https://monitoring.example/myisam"
    # What no browser could go to is no address: over TLS any Host is answered.
    for host in ("", "a b", '"><script>', "x\ny", "[", "x:1:2"):
        assert PublicAddress().of(request("/metrics", host)) == ""
    assert PublicAddress().of(replace(request("/metrics", "localhost"), peer=OVER_UNIX_SOCKET)) == ""


def test_the_configured_host_is_one_of_ours() -> None:
    address = public_address("https://monitoring.example/myisam", None, "http")
    assert AllowedHosts([address.host]).admit("monitoring.example", NOBODY)
    assert not AllowedHosts([]).admit("monitoring.example", NOBODY)
    assert host_of("Monitoring.Example.:80") == "monitoring.example."


@pytest.mark.parametrize(
    ("prefix", "path", "status", "location"),
    [
        ("", "/-/healthy", 200, None),
        ("/myisam", "/myisam/-/healthy", 200, None),
        ("/myisam", "/-/healthy", 404, None),
        ("/myisam", "/myisamx/-/healthy", 404, None),
        ("/myisam", "/", 302, "/myisam/"),
        ("/myisam", "/myisam", 302, "/myisam/"),
        ("/myisam", "/myisam/", 200, None),
        ("/myisam", "//evil.example", 404, None),
    ],
)
def test_everything_is_below_the_prefix(prefix: str, path: str, status: int, location: str | None) -> None:
    answer = asyncio.run(answered(prefix, request(path, "localhost")))
    assert answer.status == status
    assert dict(answer.headers).get("Location") == location


def test_the_unix_socket_needs_no_prefix() -> None:
    for path in ("/-/healthy", "/myisam/-/healthy"):
        assert asyncio.run(answered("/myisam", replace(request(path), peer=OVER_UNIX_SOCKET))).status == 200


def test_every_scrape_says_where_the_pages_are() -> None:
    page = asyncio.run(answered("/myisam", request("/myisam/metrics", "localhost:9942"))).body.decode()
    assert 'myisam_exporter_web_info{external_url="http://localhost:9942/myisam",query=""} 1.0' in page


async def answered(prefix: str, asked: Request) -> Response:
    with ThreadPoolExecutor(1) as executor:
        fleet = Fleet(WatchOptions(1, 60.0), executor, lambda: TableChooser(1, None, None))
        exporter = Exporter(fleet, Access(Gate(None)), lambda: lambda: None, public_address=PublicAddress(prefix=prefix), own_process_metrics=False)
        try:
            return await exporter.handle(asked)
        finally:
            fleet.close()
