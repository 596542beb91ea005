"""Who may connect and who may ask: the parts of it that need no server."""

import asyncio
import base64
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import bcrypt
import pytest

from myisam_advisor.reports.page.host_paths import document_without_paths
from myisam_exporter.errors import UserError
from myisam_exporter.web import logins as logins_module
from myisam_exporter.web.access import Access
from myisam_exporter.web.allowed_hosts import AllowedHosts
from myisam_exporter.web.connection_budget import ConnectionBudget, OpenConnection, Stage
from myisam_exporter.web.gate import Gate
from myisam_exporter.web.logins import WAITING_LOGINS, WAITING_LOGINS_PER_PEER, LoginQueue, Logins, TooManyLoginsError
from myisam_exporter.web.peers import Peer, peer_of
from myisam_exporter.web.security import MAXIMUM_COST, read_web_config
from myisam_exporter.web.server import Request, Response
from myisam_exporter.web.token_bucket import TokenBucket


def authorization(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def hashed(password: str, cost: int = 4) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(cost)).decode()


class Crowd:
    """A budget and who lost their place, in order."""

    def __init__(self, total: int, per_peer: int) -> None:
        self.budget = ConnectionBudget(total, per_peer)
        self.ended: list[str] = []

    def comes(self, name: str, group: str, stage: Stage = Stage.REQUEST, seconds_ago: float = 60.0, answers: int = 0) -> bool:
        place = OpenConnection(Peer(group), lambda: self.ended.append(name))
        for _ in range(answers):
            place.reach(Stage.TAKING)
        place.stage, place.since = stage, time.monotonic() - seconds_ago
        return self.budget.admit(place)


def test_who_has_the_most_connections_loses_the_one_that_was_silent_longest() -> None:
    crowd = Crowd(total=5, per_peer=5)
    crowd.comes("prometheus", "192.0.2.1", seconds_ago=1000)
    for number, silent in enumerate((30, 50, 40, 20)):
        crowd.comes(f"idle {number}", "loopback", seconds_ago=silent)
    assert crowd.comes("new", "192.0.2.2")
    assert crowd.comes("newer", "loopback")
    assert crowd.ended == ["idle 1", "idle 2"]
    assert len(crowd.budget) == 5


def test_who_has_more_than_others_takes_no_place_from_them() -> None:
    crowd = Crowd(total=3, per_peer=3)
    crowd.comes("patient", "192.0.2.1", seconds_ago=1000)
    assert crowd.comes("first", "192.0.2.2", Stage.ANSWER)
    assert crowd.comes("second", "192.0.2.2", Stage.ANSWER)
    assert not crowd.comes("third", "192.0.2.2")
    assert crowd.comes("modest", "192.0.2.3")
    assert crowd.ended == ["patient"]


def test_one_peer_never_has_all_places() -> None:
    crowd = Crowd(total=10, per_peer=6)
    for number in range(50):
        assert crowd.comes(f"idle {number}", "loopback")
    assert len(crowd.budget) == 6
    assert all(crowd.comes(f"other {number}", f"192.0.2.{number}") for number in range(4))
    assert len(crowd.ended) == 44


def test_who_sent_many_requests_at_once_goes_before_who_waits_for_the_first_answer() -> None:
    crowd = Crowd(total=4, per_peer=4)
    crowd.comes("first scrape", "loopback", Stage.TAKING, seconds_ago=0.5, answers=1)
    for number, silent in enumerate((0.2, 0.3, 0.1)):
        crowd.comes(f"pipelined {number}", "loopback", seconds_ago=silent, answers=7)
    for number in range(4):
        assert crowd.comes(f"new {number}", "loopback", seconds_ago=0)
    assert crowd.ended == ["pipelined 1", "pipelined 0", "pipelined 2", "first scrape"]


def test_an_answer_being_worked_out_is_never_given_up() -> None:
    crowd = Crowd(total=4, per_peer=3)
    for number in range(3):
        assert crowd.comes(f"busy {number}", "loopback", Stage.ANSWER)
    assert not crowd.comes("too many", "loopback")
    assert crowd.comes("other", "192.0.2.1")
    # A peer with more connections takes no place of one with fewer.
    assert not crowd.comes("again", "loopback")
    assert crowd.ended == []


def test_who_has_just_come_goes_after_who_takes_no_answer() -> None:
    crowd = Crowd(total=3, per_peer=3)
    crowd.comes("fresh", "loopback", seconds_ago=0.1)
    crowd.comes("never reading", "loopback", Stage.TAKING, seconds_ago=5)
    crowd.comes("silent", "loopback", seconds_ago=3)
    for number in range(3):
        crowd.comes(f"new {number}", "loopback", seconds_ago=0)
    assert crowd.ended == ["silent", "never reading", "fresh"]


def test_whom_a_connection_counts_with(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as asking:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        asking.connect(str(tmp_path / "s"))
        accepted, _ = listener.accept()
        with accepted:
            assert peer_of(accepted) == Peer(f"uid {os.geteuid()}", os.geteuid())
    for address, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
        with socket.create_server((address, 0), family=family) as server, socket.create_connection(server.getsockname()[:2]):
            accepted, _ = server.accept()
            with accepted:
                assert peer_of(accepted) == Peer("loopback", asked_address=ip_address(address))


@pytest.mark.parametrize(
    ("asking", "group"),
    [("127.9.9.9", "loopback"), ("::ffff:127.0.0.1", "loopback"), ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"),
     ("2001:db8::1", "2001:db8::/64"), ("2001:db8::2:3", "2001:db8::/64"), ("fe80::1%eth0", "fe80::/64")],
)  # fmt: skip
def test_addresses_that_one_peer_has_at_will_are_one(asking: str, group: str) -> None:
    class Accepted:
        family = socket.AF_INET6

        def getpeername(self) -> tuple[Any, ...]:
            return (asking, 1, 0, 0)

        def getsockname(self) -> tuple[Any, ...]:
            return ("::1", 2, 0, 0)

    assert peer_of(Accepted()).group == group  # type: ignore[arg-type]


def test_hosts_that_are_answered_for() -> None:
    hosts = AllowedHosts(["Shop.Example.", "2001:db8::7", "[2001:db8::8]"])
    here = Peer("x", asked_address=ip_address("192.0.2.1"))
    for host in ("localhost", "localhost:1", "shop.example", "SHOP.example.:9942", "192.0.2.1:80", "[2001:db8::7]:1", "[2001:DB8::8]", "[::ffff:192.0.2.1]", None):
        assert hosts.admit(host, here), host
    for host in ("", ":80", "evil.example", "a.shop.example", "shop.example.evil", "192.0.2.2", "[2001:db8::9]", "[shop.example]", "shop.example:x", "shop.example,localhost", "localhost\n", "0.0.0.0", "2130706433"):
        assert not hosts.admit(host, here), host
    assert hosts.admit("evil.example", Peer("x", over_tls=True))
    assert hosts.admit("evil.example", Peer("x", uid=1))


def test_a_token_comes_back_with_time() -> None:
    bucket = TokenBucket(20, 2)
    assert [bucket.take() for _ in range(3)] == [True, True, False]
    assert 0 < bucket.seconds_until_next <= 0.05
    time.sleep(bucket.seconds_until_next + 0.005)
    assert bucket.take()
    assert not bucket.take()


def test_the_wait_for_a_token_grows_shorter() -> None:
    bucket = TokenBucket(0.01, 1)
    assert bucket.take()
    assert not bucket.take()
    first = bucket.seconds_until_next
    time.sleep(0.002)
    assert bucket.seconds_until_next <= first - 0.001 < 100


def test_a_right_login_is_remembered_and_a_changed_password_forgets_it(tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(f"basic_auth_users: {{me: '{hashed('one')}', you: '{hashed('ü' * 36)}'}}\n")
    gate = Gate(path)
    assert not gate.logins.is_remembered(authorization("me", "one"))
    assert gate.logins.verify(authorization("me", "one"))
    assert gate.logins.verify(authorization("you", "ü" * 50))
    assert gate.logins.is_remembered(authorization("me", "one"))
    for wrong in (authorization("me", "two"), authorization("you", "one"), authorization("no", "one"), authorization("me", "one\0"), "Basic ???", "Bearer x", "", "Basic " + base64.b64encode(b"me").decode()):
        assert not gate.logins.verify(wrong), wrong
        assert not gate.logins.is_remembered(wrong), wrong
    gate.reload()
    assert gate.logins.is_remembered(authorization("me", "one"))
    path.write_text(f"basic_auth_users: {{me: '{hashed('two')}'}}\n")
    gate.reload()
    assert not gate.logins.is_remembered(authorization("me", "one"))
    assert not gate.logins.verify(authorization("me", "one"))


def test_every_wrong_login_takes_as_many_rounds_whoever_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    known = Logins({"cheap": hashed("a", 4), "middle": hashed("b", 6), "dear": hashed("c", 8)})

    def counted(password: str, against: str) -> bool:
        spent.append(2 ** logins_module.cost_of(against))
        return bcrypt.checkpw(password.encode(), against.encode())

    monkeypatch.setattr(logins_module, "_fits", counted)
    for user in ("cheap", "middle", "dear", "nobody"):
        spent.clear()
        assert not known.verify(authorization(user, "wrong"))
        assert sum(spent) == 2**8, user


@pytest.mark.slow
def test_time_does_not_tell_which_users_there_are() -> None:
    known = Logins({"cheap": hashed("a", 8), "dear": hashed("c", 11)})

    def seconds(user: str) -> float:
        started = time.thread_time()
        known.verify(authorization(user, "wrong"))
        return time.thread_time() - started

    fastest = {user: min(seconds(user) for _ in range(5)) for user in ("cheap", "dear", "nobody")}
    assert max(fastest.values()) < 1.3 * min(fastest.values()), fastest


class Slow(Logins):
    """Verifications that wait until they are let go."""

    def __init__(self) -> None:
        super().__init__({})
        self.go = threading.Event()
        self.verified: Counter[str] = Counter()

    def verify(self, authorization: str) -> bool:
        self.go.wait(10)
        self.verified[authorization] += 1
        return True


def test_logins_that_wait_are_few_and_fewer_of_one_peer() -> None:
    async def crowd() -> None:
        slow, queue = Slow(), LoginQueue()
        waiting = []

        async def asks(number: int, group: str) -> bool:
            return await queue.admits(slow, authorization("x", str(number)), group)

        for number in range(WAITING_LOGINS_PER_PEER):
            waiting.append(asyncio.create_task(asks(number, "loopback")))
        await asyncio.sleep(0)
        with pytest.raises(TooManyLoginsError):
            await asks(100, "loopback")
        for number in range(WAITING_LOGINS_PER_PEER, WAITING_LOGINS):
            waiting.append(asyncio.create_task(asks(number, f"192.0.2.{number}")))
        await asyncio.sleep(0)
        with pytest.raises(TooManyLoginsError):
            await asks(101, "192.0.2.200")
        # The same as one that waits: no work, and no place. Whoever gives up takes the verdict from nobody.
        same = [asyncio.create_task(asks(0, "loopback")) for _ in range(50)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        slow.go.set()
        assert await asyncio.gather(*same, *waiting[1:]) == [True] * (50 + WAITING_LOGINS - 1)
        assert slow.verified[authorization("x", "0")] == 1
        assert await asks(102, "loopback")

    asyncio.run(crowd())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("# nothing yet\n", "is empty"),
        (f"basic_auth_users: {{me: '{'$2y$99$' + 'a' * 53}'}}", "not a bcrypt hash"),
        (f"basic_auth_users: {{me: '{'$2y$10$' + '!' * 53}'}}", "not a bcrypt hash"),
        (f"basic_auth_users: {{me: '{f'$2y${MAXIMUM_COST + 1}$' + 'a' * 53}'}}", "htpasswd"),
        ("rate_limit: {interval: 1s, burst: 0}", "a burst of 1 or more"),
        ("rate_limit: {interval: 0s, burst: 1}", "an interval above 0"),
        # Values of another kind ended the reload in a traceback, and systemd waited for its end.
        ("tls_server_config: {cert_file: a, key_file: b, min_version: [TLS13]}", "min_version must be one value"),
        ("tls_server_config: {cert_file: a, key_file: b, client_auth_type: {a: b}}", "client_auth_type must be one value"),
        ("basic_auth_users: {headers: [a]}", "headers must be one value"),
        ("http_server_config: {headers: [X-Frame-Options]}", "headers must be a mapping"),
        ("http_server_config: {headers: DENY}", "headers must be a mapping"),
    ],
)
def test_a_web_configuration_that_protects_nothing_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        read_web_config(path)


@pytest.mark.parametrize("section", ["cert_file: odd, key_file: file", "cert_file: file, key_file: odd", "cert_file: file, key_file: file, client_auth_type: RequireAndVerifyClientCert, client_ca_file: odd"])
@pytest.mark.parametrize("kind", ["FIFO", "device", "directory", "link to itself", "name that none has"])
def test_nothing_is_waited_for_that_is_no_file(tmp_path: Path, section: str, kind: str) -> None:
    path, odd = tmp_path / "web.yaml", tmp_path / "odd"
    (tmp_path / "file").write_text("no certificate")
    made: dict[str, Callable[[Path], None]] = {"FIFO": os.mkfifo, "directory": Path.mkdir, "device": lambda one: one.symlink_to("/dev/zero"), "link to itself": lambda one: one.symlink_to(one)}
    if kind in made:
        made[kind](odd)
    path.write_text("tls_server_config: {" + section.replace("odd", '"a\\0b"' if kind not in made else "odd") + "}\n")
    with pytest.raises(UserError, match="cannot be read"):
        read_web_config(path)


def test_a_configuration_that_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "web.yaml")
    with pytest.raises(UserError, match=r"cannot read the web configuration .*: it is not a regular file"):
        read_web_config(tmp_path / "web.yaml")


def test_blanks_around_a_header_are_none_of_it(tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text('http_server_config: {headers: {X-Frame-Options: " DENY ", X-XSS-Protection: " "}}\n')
    assert read_web_config(path).headers == (("X-Frame-Options", "DENY"), ("X-XSS-Protection", ""))


def test_the_unix_socket_has_a_rate_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text("rate_limit: {interval: 1h, burst: 2}\n")
    access = Access(Gate(path))

    async def statuses(peer: Peer) -> list[int]:
        request = Request("GET", "/", "", {"host": "localhost"}, peer)
        return [answer.status if isinstance(answer := await access.admit(request), Response) else 200 for _ in range(3)]

    assert asyncio.run(statuses(Peer("loopback"))) == [200, 200, 429]
    assert asyncio.run(statuses(Peer("uid 1", 1))) == [200, 200, 429]


def test_who_may_reload_and_how_often() -> None:
    def refused(access: Access, peer: Peer, *, is_identified: bool = False) -> int | None:
        answer = access.refuse_reload(Request("POST", "/-/reload", "", {}, peer, is_identified))
        return None if answer is None else answer.status

    over_network, own, other = Peer("192.0.2.1"), Peer("unix", uid=os.geteuid()), Peer("unix", uid=54321)
    assert refused(Access(Gate(None)), over_network) == 403
    assert refused(Access(Gate(None)), other, is_identified=True) == 403
    for access, peer, is_identified in ((Access(Gate(None), enable_lifecycle=True), over_network, False), (Access(Gate(None)), over_network, True), (Access(Gate(None)), own, False), (Access(Gate(None)), Peer("unix", uid=0), False)):
        assert [refused(access, peer, is_identified=is_identified) for _ in range(2)] == [None, 429]


def test_a_client_certificate_is_as_good_as_a_login() -> None:
    access = Access(Gate(None))

    async def is_identified(peer: Peer) -> bool:
        admitted = await access.admit(Request("POST", "/-/reload", "", {"host": "localhost"}, peer))
        assert isinstance(admitted, Request)
        return admitted.is_identified

    assert not asyncio.run(is_identified(Peer("loopback", over_tls=True)))
    assert asyncio.run(is_identified(Peer("loopback", over_tls=True, is_certified=True)))


def test_no_path_is_left_in_a_document_whatever_its_name() -> None:
    document = {"a": ["/var/lib/my data/d/t.MYI is crashed", "cp '/srv/x/y' /tmp/z/"], "b": {"c": ("in /var/lib/my data.", 5, None, True, 1.5)}, "d": "1/2 of rows/s, see /proc/meminfo"}
    assert document_without_paths(document, "/var/lib/my data/") == {
        "a": ["(a path) is crashed", "cp '(a path)' (a path)"],
        "b": {"c": ["in (a path).", 5, None, True, 1.5]},
        "d": "1/2 of rows/s, see /proc/meminfo",
    }
