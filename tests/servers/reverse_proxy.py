"""A real reverse proxy before a daemon: nginx, with TLS, below a path."""

import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.daemon import free_port, wait_for
from tests.support.fetched import fetched

from .test_web_security import make_certificate

CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log stderr warn;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{
    listen 127.0.0.1:{port} ssl; server_name monitoring.example; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    location /myisam/ {{ {location} }}
  }}
}}
"""


@dataclass(frozen=True)
class Proxy:
    """Where it listens, and whom it trusts."""

    port: int
    certificate: Path

    def get(self, path: str) -> tuple[int, str, str]:
        """Status, type and text of what is there, after redirections."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{self.port}{path}", timeout=20, context=context) as answer:
                return answer.status, answer.headers["content-type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["content-type"], error.read().decode()


@contextmanager
def proxied(folder: Path, location: str) -> Iterator[Proxy]:
    """nginx with this in its `location /myisam/`."""
    make_certificate(folder, "proxy")
    port = free_port()
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port, location=location))
    words = ["setpriv", "--pdeathsig", "KILL", "--", fetched("nginx", "usr", "sbin", "nginx"), "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(list(map(str, words)), stdout=log, stderr=log)
    try:
        proxy = Proxy(port, folder / "cert.pem")

        def answers() -> bool:
            try:
                return proxy.get("/")[0] == 404
            except OSError:
                return False

        assert wait_for(answers), (folder / "log").read_text()
        yield proxy
    finally:
        process.kill()
        process.wait()
