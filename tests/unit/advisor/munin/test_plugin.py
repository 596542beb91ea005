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


@pytest.mark.parametrize("name", ["$(touch {})", "`touch {}`", '"; touch {}; "', "\\`touch {}\\`", "$\n(touch {})"])
def test_no_name_is_run_by_the_shell_of_munins_contacts(tmp_path: Path, name: str) -> None:
    """Munin-limits writes titles and labels into a contact's command, as munin.conf's own examples do between double quotes, and has a shell run it."""
    ran = tmp_path / "ran"
    title = loaded_plugin().shown(name.format(ran), 300)
    subprocess.run(["/bin/sh", "-c", f'echo "Munin {title}"'], check=True)
    assert not ran.exists()


def test_graphs_of_tables_do_not_come_and_go() -> None:
    plugin = loaded_plugin()
    ranked = [("s", name) for name in "dcbazyx"]
    assert plugin.most_active(ranked, [], 3) == [("s", "b"), ("s", "c"), ("s", "d")]
    # Near enough to the first three to stay; x is not.
    assert plugin.most_active(ranked, [("s", "a"), ("s", "z"), ("s", "x")], 3) == [("s", "a"), ("s", "d"), ("s", "z")]
    assert plugin.most_active(ranked, [("s", "gone")], 2) == [("s", "c"), ("s", "d")]
    assert plugin.most_active(ranked, [("s", "a")], 0) == []
