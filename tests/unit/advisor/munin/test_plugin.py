"""What the munin plugin makes of names and ranks, without munin: functions of a program that imports nothing of ours."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import ROOT

PLUGIN = ROOT / "plugins" / "munin" / "myisam_advisor"


def loaded_plugin() -> Any:
    from importlib.machinery import SourceFileLoader
    from importlib.util import module_from_spec, spec_from_loader

    loader = SourceFileLoader("plugin", str(PLUGIN))
    spec = spec_from_loader("plugin", loader)
    assert spec is not None
    plugin = module_from_spec(spec)
    loader.exec_module(plugin)
    return plugin


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("name", ["$(touch {})", "`touch {}`", '"; touch {}; "', "'; touch {}; '", "\\`touch {}\\`", "$\n(touch {})"])
def test_no_name_is_run_by_the_shell_of_munins_contacts(tmp_path: Path, name: str, quote: str) -> None:
    """Munin-limits writes titles and labels into a contact's command, between quotes as whoever wrote it chose, and has a shell run it."""
    ran = tmp_path / "ran"
    title = loaded_plugin().shown(name.format(ran), 300)
    subprocess.run(["/bin/sh", "-c", f"echo {quote}Munin {title}{quote}"], check=True)
    assert not ran.exists()


def test_no_title_or_label_ends_the_quotes_of_a_contacts_command() -> None:
    """An apostrophe in a label of our own was enough for the shell to refuse the command, and nobody got the message."""
    plugin = loaded_plugin()
    for graph in plugin.graphs({"key_caches": ["default"], "tables": [("it's", 'a "b"')]}):
        for text in (graph.title, *(field.label for field in graph.fields)):
            assert plugin.shown(text, 300) == text


def test_graphs_of_tables_do_not_come_and_go() -> None:
    plugin = loaded_plugin()
    ranked = [("s", name) for name in "dcbazyx"]
    assert plugin.most_active(ranked, [], 3) == [("s", "b"), ("s", "c"), ("s", "d")]
    # Near enough to the first three to stay; x is not.
    assert plugin.most_active(ranked, [("s", "a"), ("s", "z"), ("s", "x")], 3) == [("s", "a"), ("s", "d"), ("s", "z")]
    assert plugin.most_active(ranked, [("s", "gone")], 2) == [("s", "c"), ("s", "d")]
    assert plugin.most_active(ranked, [("s", "a")], 0) == []
