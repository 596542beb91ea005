"""How a daemon starts: what it leaves behind when it cannot."""

import asyncio
import socket
from pathlib import Path

import pytest

from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.serve import ServeOptions, _serve
from myisam_exporter.errors import UserError
from myisam_exporter.server.target import Target
from myisam_exporter.watching.options import WatchOptions


def test_a_daemon_that_cannot_listen_leaves_no_history_behind(tmp_path: Path) -> None:
    """Left by root, it was a file that the service's own user could not write into."""
    file, listener = tmp_path / "folder" / "history.sqlite", tmp_path / "socket"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free_and_taken = ["127.0.0.1:0", f"127.0.0.1:{taken.getsockname()[1]}"]
        options = ServeOptions(free_and_taken, WatchOptions(), lambda: Target("u", socket=tmp_path / "none"), lambda: Site([]), unix_socket=listener, history_file=file)
        with pytest.raises(UserError, match="cannot listen on"):
            asyncio.run(_serve(options))
    assert list(tmp_path.iterdir()) == []


def test_a_history_that_cannot_be_kept_ends_it_and_no_socket_stays(tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    options = ServeOptions(["127.0.0.1:0"], WatchOptions(), lambda: Target("u", socket=tmp_path / "none"), lambda: Site([]), unix_socket=tmp_path / "socket", history_file=tmp_path / "history")
    with pytest.raises(UserError, match="the history cannot be kept"):
        asyncio.run(_serve(options))
    assert [path.name for path in tmp_path.iterdir()] == ["history"]
