"""What a purge of the Debian package takes away, by its own script in another root: what belongs to it, and nothing beside."""

import subprocess
from pathlib import Path

from tests.support.repository import ROOT

STATES = "var/lib/munin-node/plugin-state/nobody"
OURS = (f"{STATES}/myisam_advisor-names", f"{STATES}/myisam_advisor_second-process", "var/lib/myisam-advisor/history.sqlite")
OF_OTHERS = (f"{STATES}/myisam_advisor.txt", f"{STATES}/mysql_-names", "etc/munin/plugins/cpu")


def test_a_purge_leaves_no_names_of_tables(tmp_path: Path) -> None:
    """The plugin's file of them stayed among munin's states."""
    for name in (*OURS, *OF_OTHERS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    # Whoever may write among the states leads root elsewhere.
    elsewhere = tmp_path / "home" / "myisam_advisor-names"
    elsewhere.parent.mkdir()
    elsewhere.touch()
    (tmp_path / STATES).with_name("linked").symlink_to(elsewhere.parent)
    script = (ROOT / "debian" / "postrm").read_text()
    for top in ("/etc/", "/var/"):
        script = script.replace(f" {top}", f" {tmp_path}{top}").replace(f"={top}", f"={tmp_path}{top}")
    assert not any(f'"{top}' in script for top in ("/etc/", "/var/"))
    subprocess.run(["sh", "-s", "purge"], input=script, text=True, check=True)
    assert [name for name in (*OURS, *OF_OTHERS) if (tmp_path / name).exists()] == list(OF_OTHERS)
    assert elsewhere.exists()
