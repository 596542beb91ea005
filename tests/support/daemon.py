"""A running `myisam-advisor serve`, as tests speak with it."""

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.support.fetched import fetched
from tests.support.program import PROGRAM


def peer(name: str, package: str = "prometheus") -> Path:
    """Prometheus, promtool, ..."""
    return fetched(package, "usr", "bin", name)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(condition: Callable[[], object], seconds: float = 20, step: float = 0.05) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(step)
    return False


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        return self.body.decode()

    def samples(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        """The parsed page; a series that comes twice is an error."""
        parsed: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
        for family in text_string_to_metric_families(self.text):
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                assert key not in parsed, f"{key} comes twice"
                parsed[key] = sample.value
        return parsed

    def value(self, name: str, **labels: str) -> float | None:
        return self.samples().get((f"myisam_{name}", frozenset(labels.items())))


class Daemon:
    """The process and its address."""

    def __init__(self, words: list[str], environment: Mapping[str, str] | None = None) -> None:
        self.port = free_port()
        command = [str(PROGRAM), "serve", "--web.listen-address", f"127.0.0.1:{self.port}", *words]
        self.environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", **(environment or {})}
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment)
        self.log = b""

    @property
    def pid(self) -> int:
        return self.process.pid

    def get(self, path: str = "/metrics", headers: Mapping[str, str] | None = None, method: str = "GET", timeout: float = 20) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, headers=dict(headers or {}))
            answer = connection.getresponse()
            return Answer(answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()})
        finally:
            connection.close()

    def is_up(self) -> bool:
        try:
            return self.get("/-/healthy").status == 200
        except OSError:
            return False

    def looked(self, seconds: float = 20) -> Answer:
        """A page with the background's findings over an interval in it."""
        page = self.get()
        deadline = time.monotonic() + seconds
        while page.value("advice_interval_seconds") is None and time.monotonic() < deadline:
            time.sleep(0.1)
            page = self.get()
        return page

    def stop(self, number: int = signal.SIGTERM, seconds: float = 10) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, log = self.process.communicate(timeout=seconds)
        self.log += log
        return self.process.returncode


@contextmanager
def serving(*words: object, environment: Mapping[str, str] | None = None) -> Iterator[Daemon]:
    """A daemon that looks every second and keeps no history unless told to."""
    given = [str(word) for word in words]
    if "--history" not in given:
        given.append("--no-history")
    if "--collect.interval" not in given:
        given += ["--collect.interval", "1s"]
    daemon = Daemon(given, environment)
    try:
        # How long a program takes to start says nothing where other workers run.
        assert wait_for(daemon.is_up, 60), daemon.stop() or daemon.log.decode()
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.process.kill()
        daemon.process.communicate()
