"""`script/release` on a repository of its own, made of this tree: what it refuses, that it changes nothing by itself, and a whole release."""

import re
import subprocess
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest

from myisam_exporter.version import __version__
from tests.e2e.packages import copy_of_the_tree
from tests.support.repository import ROOT
from tools.release import CHANGELOG, DEBIAN_CHANGELOG, SPEC, VERSION_FILE, edits

NEXT = "987.6.5"
NOW = datetime(2027, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
NEWS = "\n### Fixed\n\n- What users met.\n"


def git(tree: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid", *words]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout.strip()


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "as it is")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout of this tree, with something to release."""
    folder = tmp_path / "tree"
    folder.mkdir()
    copy_of_the_tree(folder)
    changelog = folder / CHANGELOG
    changelog.write_text(changelog.read_text().replace("## Unreleased\n", f"## Unreleased\n{NEWS}", 1))
    git(folder, "init", "--quiet")
    git(folder, "config", "user.name", "Somebody")
    git(folder, "config", "user.email", "somebody@example.invalid")
    (folder / ".git" / "info" / "exclude").write_text(".venv\n")
    commit(folder)
    return folder


def release(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(tree / "script" / "release"), *words], cwd="/", capture_output=True, text=True, check=False)


def state(tree: Path) -> tuple[str, ...]:
    """Whatever a release might change."""
    dist = sorted(str(path) for path in (tree / "dist").rglob("*")) if (tree / "dist").exists() else []
    return (git(tree, "rev-parse", "HEAD"), git(tree, "status", "--porcelain", "--branch"), git(tree, "for-each-ref"), *dist)


def test_by_itself_it_says_what_it_would_do_and_does_nothing(tree: Path) -> None:
    before = state(tree)
    told = release(tree, NEXT)
    assert (told.returncode, told.stderr) == (0, "")
    for words in (f"{__version__} becomes {NEXT}", f"commit and tag v{NEXT}", f"change {VERSION_FILE}", f"change {SPEC}", f"change {DEBIAN_CHANGELOG}", "### Fixed"):
        assert words in told.stdout
    # The forms are those that script/package knows.
    assert f"  script/package dist/{NEXT}\n" in told.stdout
    listed = re.findall(r"^  script/package ([a-z]+) dist/", told.stdout, re.MULTILINE)
    code = "".join(line for line in (ROOT / "script" / "package").read_text().splitlines(keepends=True) if not line.startswith("#"))
    assert "rpm" in listed
    assert [form for form in listed if not re.search(rf"\b{form}\b", code)] == []
    assert told.stdout.endswith("Nothing was changed. With --go this is done.\n")
    assert state(tree) == before


def dirty(tree: Path) -> None:
    (tree / "README.md").write_text("changed")


def without_news(tree: Path) -> None:
    (tree / CHANGELOG).write_text(re.sub(r"(?s)(## Unreleased\n).*?(?=\n## )", r"\1", (tree / CHANGELOG).read_text()))
    commit(tree)


def tagged(tree: Path) -> None:
    git(tree, "tag", f"v{NEXT}")


def disagreeing(tree: Path) -> None:
    for name in (DEBIAN_CHANGELOG, SPEC):
        (tree / name).write_text((tree / name).read_text().replace(__version__, "0.0.9"))
    commit(tree)


@pytest.mark.parametrize(
    ("spoil", "version", "complaints"),
    [
        (dirty, NEXT, ["the tree is not clean: commit these first, or take them away: README.md"]),
        (without_news, NEXT, ["CHANGELOG.md says nothing below '## Unreleased'"]),
        (tagged, NEXT, [f"the tag v{NEXT} is there already"]),
        (disagreeing, NEXT, ["debian/changelog does not begin with", "rpm/myisam-advisor.spec has another version"]),
        (dirty, __version__, [f"{__version__} is not newer than {__version__}", "the tree is not clean"]),
        (tagged, "0.0.1", ["0.0.1 is not newer"]),
        (tagged, "9.9.9-rc1", ["'9.9.9-rc1' is no version"]),
    ],
)
def test_what_it_refuses(tree: Path, spoil: Callable[[Path], None], version: str, complaints: list[str]) -> None:
    """All at once, each with what to do; as dry as with --go."""
    spoil(tree)
    before = state(tree)
    for words in ((version,), (version, "--go")):
        told = release(tree, *words)
        assert (told.returncode, told.stdout) == (2, "")
        for complaint in complaints:
            assert f"release: {complaint}" in told.stderr
        assert told.stderr.endswith("release: nothing was changed.\n")
    assert state(tree) == before


def test_a_fault_on_the_way_leaves_all_as_it_was(tree: Path) -> None:
    """The Debian package cannot be built: source archive and wheel were there already, and the commit and its tag."""
    (tree / "debian" / "rules").write_text("#!/bin/false\n")
    commit(tree)
    before = state(tree)
    told = release(tree, NEXT, "--go")
    assert told.returncode == 2
    assert "script/package" in told.stderr
    assert told.stderr.endswith("release: nothing was changed.\n")
    assert state(tree) == before


def test_each_file_gets_its_entry() -> None:
    made = {name: edit((ROOT / name).read_text()) for name, edit in edits(NEXT, NOW).items()}
    assert f'__version__ = "{NEXT}"\n' in made[VERSION_FILE]
    assert f"## Unreleased\n\n## {NEXT} (2027-01-02)\n" in made[CHANGELOG]
    assert made[DEBIAN_CHANGELOG].startswith(f"myisam-advisor ({NEXT}) unstable; ")
    assert "Sat, 02 Jan 2027 03:04:05 +0000\n\nmyisam-advisor (" in made[DEBIAN_CHANGELOG]
    assert re.search(rf"^Version: +{NEXT}$", made[SPEC], re.MULTILINE)
    assert "%changelog\n* Sat Jan 02 2027 The " in made[SPEC]


def test_a_whole_release(tree: Path) -> None:
    """The version everywhere, a tag on the commit, and of that commit all packages, by their sums."""
    before = git(tree, "rev-parse", "HEAD")
    forms = re.findall(r"^#   script/package ([a-z]+) \[DIRECTORY\]", (tree / "script" / "package").read_text(), re.MULTILINE)
    for form in set(forms) - {"rpm"}:
        # What takes minutes is built by tests of its own.
        text = (tree / "script" / "package").read_text()
        (tree / "script" / "package").write_text(text.replace(f"#   script/package {form} [DIRECTORY]", f"#   script/package {form}: DIRECTORY"))
        commit(tree)
        before = git(tree, "rev-parse", "HEAD")
    told = release(tree, NEXT, "--go")
    assert told.returncode == 0, told.stderr
    assert git(tree, "status", "--porcelain") == ""
    assert git(tree, "rev-parse", f"v{NEXT}^{{commit}}") == git(tree, "rev-parse", "HEAD")
    assert git(tree, "rev-parse", "HEAD^") == before
    assert set(git(tree, "diff", "--name-only", "HEAD^").splitlines()) >= {VERSION_FILE, CHANGELOG, DEBIAN_CHANGELOG, SPEC}
    changelog = (tree / CHANGELOG).read_text()
    assert re.search(rf"## Unreleased\n\n## {NEXT} \(\d{{4}}-\d\d-\d\d\)\n{NEWS}", changelog)
    place = tree / "dist" / NEXT
    names = {path.name for path in place.iterdir()}
    packages = {f"myisam_advisor-{NEXT}.tar.gz", f"myisam_advisor-{NEXT}-py3-none-any.whl", f"myisam-advisor_{NEXT}_all.deb", f"myisam-advisor-{NEXT}-1.noarch.rpm"}
    bills = {f"{name}.cdx.json" for name in packages if not name.endswith(".tar.gz")}
    assert names == {*packages, *bills, "myisam-snapshot", "SHA256SUMS"}
    checked = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=place, capture_output=True, text=True, check=True).stdout
    assert checked.count(": OK\n") == len(names) - 1
    assert f"myisam-snapshot {NEXT}\n" == subprocess.run([str(place / "myisam-snapshot"), "--version"], capture_output=True, text=True, check=True).stdout
