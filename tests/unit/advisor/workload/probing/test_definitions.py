"""Events as tracefs takes them: named by their recorder, removed when it is gone, and nobody else's."""

import os
from pathlib import Path

import pytest

from myisam_advisor.workload.probing import definitions
from myisam_advisor.workload.probing.definitions import (
    Group,
    Offsets,
    clear_stale,
    own_group,
    start_events,
    tracing_root,
)
from myisam_advisor.workload.probing.place import LAYOUTS, Place
from myisam_exporter.errors import UserError

PACKET, UNION = Place("/proc/7/exe", 64, LAYOUTS[min(LAYOUTS)], "ab"), Place("/proc/7/exe", 64, LAYOUTS["_Z16dispatch_commandP3THDPK8COM_DATA19enum_server_command"], "ab")


def test_a_text_is_fetched_in_pieces_and_never_as_a_string() -> None:
    events = start_events(PACKET, 65_536, Offsets(40, 64))
    assert [name for name, _ in events][:3] == ["begin", "further0", "further1"]
    arguments = " ".join(text for _, text in events)
    assert "string" not in arguments
    assert [f"text{number}=+{number * 512}(%dx):x64[64]" in arguments for number in range(128)] == [True] * 128
    assert "connection=+40(%si):u32" in arguments
    # The kernel takes 3,072 bytes of arguments in one event.
    assert max(text.count("x64[64]") for _, text in events) * 512 + 100 < 3072


def test_a_union_is_followed() -> None:
    ((_, arguments),) = start_events(UNION, 512, None)
    assert arguments == "session=%di:x64 length=+8(%si):u32 command=%dx:u32 text0=+0(+0(%si)):x64[64]"


def test_what_is_left_of_recorders_that_are_gone_is_removed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = own_group(7)
    gone = Group(own.namespace, own.pid, own.begun + 1, 7)
    elsewhere = Group(own.namespace + 1, 2, 1, 8)
    lines = [f"p:{group}/begin /proc/7/exe:0x40 a=%di:u32" for group in (gone, elsewhere, "somebody", "myisam_advisor_x")] + [f"r:{gone}/end /proc/7/exe:0x40"]
    (tmp_path / "uprobe_events").write_text("\n".join(lines) + "\n")
    done: list[str] = []
    monkeypatch.setattr(definitions, "_command", lambda _root, line: done.append(line))
    clear_stale(tmp_path, 7)
    assert done == [f"-:{gone}/begin", f"-:{gone}/end"]


def test_a_second_recorder_of_the_same_server_is_refused(tmp_path: Path) -> None:
    own = own_group(7)
    (tmp_path / "uprobe_events").write_text(f"p:{own}/begin /proc/7/exe:0x40\n")
    with pytest.raises(UserError, match=f"another recording.*process {os.getpid()}"):
        clear_stale(tmp_path, 7)
    clear_stale(tmp_path, 8)


def test_where_there_can_be_no_probe_the_reason_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(UserError, match=r"not mounted. mount -t tracefs"):
        tracing_root((tmp_path,))
    (tmp_path / "events").mkdir()
    with pytest.raises(UserError, match="CONFIG_UPROBE_EVENTS"):
        tracing_root((tmp_path,))
    (tmp_path / "uprobe_events").touch()
    assert tracing_root((tmp_path,)) == tmp_path
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match=r"needs root.*sudo"):
        tracing_root((tmp_path,))
