"""How the munin plugin is installed and taken away again: without munin."""

from pathlib import Path

import pytest

from myisam_advisor.munin import installation
from myisam_advisor.munin.installation import Settings, install, uninstall
from myisam_exporter.errors import UserError


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """munin's two folders, and a plugin that others may read wherever this checkout lies."""
    plugin = Path("/bin/true").resolve()
    monkeypatch.setattr(installation, "plugin_file", lambda: plugin.with_name(installation.NAME) if plugin.with_name(installation.NAME).exists() else plugin)
    monkeypatch.setattr(installation, "NAME", plugin.name)
    for name in ("plugins", "plugin-conf.d"):
        (tmp_path / name).mkdir()
    return tmp_path / "plugins", tmp_path / "plugin-conf.d"


def test_installing_twice_changes_nothing_and_can_be_undone(places: tuple[Path, Path]) -> None:
    plugins, configurations = places
    settings = Settings(Path("/run/s.sock"), "/opt/x/myisam-advisor", Path("/etc/c.cnf"), "mysql")
    first = install(plugins, configurations, settings)
    assert [line.split()[0] for line in first] == ["linked", "wrote", "Now"]
    fragment = configurations / "myisam-advisor"
    assert fragment.read_text().splitlines()[1:] == [f"[{installation.NAME}]", "user mysql", "env.socket /run/s.sock", "env.advisor_program /opt/x/myisam-advisor", "env.defaults_file /etc/c.cnf"]
    before = (fragment.stat().st_mtime_ns, (plugins / installation.NAME).lstat().st_mtime_ns)
    assert all(line.endswith("is there") for line in install(plugins, configurations, settings)[:2])
    assert (fragment.stat().st_mtime_ns, (plugins / installation.NAME).lstat().st_mtime_ns) == before
    assert "wrote" in install(plugins, configurations, Settings())[1]
    assert [line.split()[0] for line in uninstall(plugins, configurations)] == ["removed", "removed", "Now"]
    assert list(plugins.iterdir()) == list(configurations.iterdir()) == []
    assert uninstall(plugins, configurations) == ["nothing to remove"]


def test_where_the_settings_cannot_be_written_no_plugin_is_left_without_them(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(installation, "OutputDirectory", full)
    with pytest.raises(UserError, match=r"No space left on device\. Make room there\.$"):
        install(*places, Settings())
    assert list(places[0].iterdir()) == []


def test_each_server_has_a_link_and_settings_of_its_own(places: tuple[Path, Path]) -> None:
    plugins, configurations = places
    install(plugins, configurations, Settings())
    install(plugins, configurations, Settings(Path("/run/forum.sock"), instance="forum"))
    name = installation.NAME
    assert {one.name for one in plugins.iterdir()} == {name, f"{name}_forum"}
    assert (plugins / f"{name}_forum").readlink() == (plugins / name).readlink()
    lines = (configurations / "myisam-advisor-forum").read_text().splitlines()
    assert lines[1:3] == [f"[{name}_forum]", "env.socket /run/forum.sock"]
    uninstall(plugins, configurations, "forum")
    assert [one.name for one in plugins.iterdir()] == [name]
    assert [one.name for one in configurations.iterdir()] == ["myisam-advisor"]
    for wrong in ("a b", "../x", "é", "a-b", "a.b"):
        with pytest.raises(UserError, match="cannot name a server"):
            install(plugins, configurations, Settings(instance=wrong))


def test_what_others_wrote_is_left_alone(places: tuple[Path, Path], tmp_path: Path) -> None:
    plugins, configurations = places
    install(plugins, configurations, Settings())
    fragment = configurations / "myisam-advisor"
    fragment.write_text(fragment.read_text() + "env.tables 20\n")
    assert "it was changed" in install(plugins, configurations, Settings(Path("/other")))[1]
    assert "env.tables 20" in fragment.read_text()
    assert any("it was changed" in line for line in uninstall(plugins, configurations))
    assert fragment.exists()
    link = plugins / installation.NAME
    link.write_text("mine")
    with pytest.raises(UserError, match="is a file and no link"):
        install(plugins, configurations, Settings())
    assert any("it is not a link to the plugin" in line for line in uninstall(plugins, configurations))
    link.unlink()
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="leads to"):
        install(plugins, configurations, Settings())
    assert link.readlink() == tmp_path / "elsewhere"


def test_what_cannot_be_installed_is_said(places: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugins, configurations = places
    with pytest.raises(UserError, match="install munin-node first"):
        install(tmp_path / "none", configurations, Settings())
    with pytest.raises(UserError, match="line break"):
        install(plugins, configurations, Settings(Path("/a\nuser root")))
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "plugin").touch(0o755)
    monkeypatch.setattr(installation, "plugin_file", lambda: closed / "plugin")
    with pytest.raises(UserError, match="is closed to others"):
        install(plugins, configurations, Settings())
    assert list(plugins.iterdir()) == []
