"""How a daemon starts: what it leaves behind when it cannot."""

import asyncio
import socket
from pathlib import Path

import pytest

from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.options import CollectOptions, HistoryOptions, ServeOptions, WebOptions
from myisam_advisor.daemon.serve import _serve
from myisam_exporter.errors import UserError
from myisam_exporter.server.option_files import NOTHING_FURTHER
from myisam_exporter.server.target import Target
from myisam_exporter.watching.options import WatchOptions


def asked_for(addresses: tuple[str, ...], listener: Path, history: Path) -> ServeOptions:
    web = WebOptions(addresses, listener, None, "/metrics", None, None, None, (), False, 40, False)
    collect = CollectOptions(None, False, 60, 100, None, None, False)
    target = Target("u", socket=listener.with_name("none"))
    return ServeOptions(web, collect, HistoryOptions(history, False, 7, 256), WatchOptions(), lambda: target, lambda: Site([]), (), False, NOTHING_FURTHER)


def test_a_daemon_that_cannot_listen_leaves_no_history_behind(tmp_path: Path) -> None:
    """Left by root, it was a file that the service's own user could not write into."""
    file, listener = tmp_path / "folder" / "history.sqlite", tmp_path / "socket"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free_and_taken = ("127.0.0.1:0", f"127.0.0.1:{taken.getsockname()[1]}")
        options = asked_for(free_and_taken, listener, file)
        with pytest.raises(UserError, match="cannot listen on"):
            asyncio.run(_serve(options))
    assert list(tmp_path.iterdir()) == []


def test_a_history_that_cannot_be_kept_ends_it_and_no_socket_stays(tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    options = asked_for(("127.0.0.1:0",), tmp_path / "socket", tmp_path / "history")
    with pytest.raises(UserError, match="the history cannot be kept"):
        asyncio.run(_serve(options))
    assert [path.name for path in tmp_path.iterdir()] == ["history"]
