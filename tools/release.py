"""A release in one command: `script/release VERSION` says what it would do, with --go it is done.

Everything is made in a clone: version, changelogs, commit, tag, and the packages of that commit. Only when all are there does this checkout go forward
to the commit (git merge --ff-only), so a fault on the way leaves it as it was.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path

NAME = "myisam-advisor"
WHO = "The myisam-advisor developers <developers@myisam-advisor.invalid>"
VERSION_FILE = "exporter/myisam_exporter/version.py"
CHANGELOG, DEBIAN_CHANGELOG, SPEC = "CHANGELOG.md", "debian/changelog", "rpm/myisam-advisor.spec"
# They name the image of a version.
NAMES_IMAGE = (
    "docs/guide/containers.md",
    "docs/examples/containers/compose.yaml",
    "docs/examples/containers/kubernetes/statefulset.yaml",
    "docs/examples/containers/kubernetes/sidecar.yaml",
)
_IMAGE = re.compile(rf"({NAME}[:_])[0-9]+\.[0-9]+\.[0-9]+")
SUMS = "SHA256SUMS"
UNRELEASED = "## Unreleased\n"
_VERSION = re.compile(r'^__version__ = "(?P<version>[0-9.]+)"$', re.MULTILINE)
_RELEASABLE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
# The forms that script/package's own head lists beside the one without a name.
_FORM = re.compile(r"^#   script/package (?P<form>[a-z]+) \[DIRECTORY\]", re.MULTILINE)


class ReleaseError(Exception):
    """It cannot be released; each line says why."""


def main(words: Sequence[str], root: Path, now: datetime) -> int:
    """Say what would be done, or do it; 2 where that cannot be, and nothing was changed."""
    parser = argparse.ArgumentParser(
        prog="script/release", description="Make a release; without --go, say what would be done."
    )
    parser.add_argument("version", help="such as 0.2.0, newer than the present one")
    parser.add_argument("--go", action="store_true", help="do it")
    options = parser.parse_args(words)
    try:
        problems = problems_of(root, options.version)
        if problems:
            raise ReleaseError("\n".join(problems))
        for line in told(root, options.version, now):
            print(line)
        if not options.go:
            print("Nothing was changed. With --go this is done.")
            return 0
        place = released(root, options.version, now)
    except (ReleaseError, OSError) as error:
        for line in str(error).splitlines():
            print(f"release: {line}", file=sys.stderr)
        print("release: nothing was changed.", file=sys.stderr)
        return 2
    print(f"Released {options.version}: {place}. Nothing was published: git push --follow-tags does that.")
    return 0


def problems_of(root: Path, version: str) -> list[str]:
    """Why this cannot be released, all of it."""
    if not (root / ".git").exists():
        return [f"{root} is no git checkout: a release is a commit and a tag."]
    found = []
    present = present_version(root)
    if not _RELEASABLE.fullmatch(version):
        found.append(f"{version!r} is no version: three numbers with dots between, such as 0.2.0.")
    elif _numbers(version) <= _numbers(present):
        found.append(f"{version} is not newer than {present}, which {VERSION_FILE} names.")
    if changed := output(root, "git", "status", "--porcelain"):
        found.append(
            f"the tree is not clean: commit these first, or take them away: {', '.join(line[3:] for line in changed.splitlines()[:5])}."
        )
    if output(root, "git", "tag", "--list", f"v{version}"):
        found.append(f"the tag v{version} is there already: git tag --delete v{version}, or take another version.")
    if not unreleased(root):
        found.append(f"{CHANGELOG} says nothing below {UNRELEASED.strip()!r}: write there what users meet.")
    if (root / "dist" / version).exists():
        found.append(f"dist/{version} is there already: take it away.")
    if not (root / DEBIAN_CHANGELOG).read_text("utf-8").startswith(f"{NAME} ({present}) "):
        found.append(f"{DEBIAN_CHANGELOG} does not begin with {present}.")
    if f"\nVersion:        {present}\n" not in (root / SPEC).read_text("utf-8"):
        found.append(f"{SPEC} has another version than {present}.")
    return found


def told(root: Path, version: str, now: datetime) -> list[str]:
    """What is going to be done, line by line."""
    commands = [" ".join(command) for command in package_commands(root, Path("dist") / version)]
    return [
        f"{present_version(root)} becomes {version}, of {now:%Y-%m-%d}:",
        *(f"  change {name}" for name in edits(version, now)),
        f"  commit and tag v{version}",
        *(f"  {command}" for command in commands),
        f"  write dist/{version}/{SUMS}",
        f"{CHANGELOG} says of it ({len(unreleased(root).splitlines())} lines):",
        *(f"  {line}" for line in unreleased(root).splitlines()[:3]),
        "  ...",
    ]


def released(root: Path, version: str, now: datetime) -> Path:
    """Make it; the directory of its packages. Raises ReleaseError, with everything as it was before."""
    place = root / "dist" / version
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        clone = Path(folder) / NAME
        output(root, "git", "clone", "--quiet", "--no-hardlinks", str(root), str(clone))
        (clone / ".git" / "info" / "exclude").write_text(".venv\n")
        (clone / ".venv").symlink_to(root / ".venv")
        _commit(root, clone, version, now)
        made = Path(folder) / "made"
        for command in package_commands(clone, made):
            print(f"release: {' '.join(command[:-1])}", file=sys.stderr, flush=True)
            output(clone, *command)
        (made / SUMS).write_text(sums(made))
        if output(clone, "git", "status", "--porcelain"):
            raise ReleaseError("building changed files of the tree: see git status after script/package.")
        _take_over(root, clone, version, lambda: shutil.copytree(made, place), place)
    return place


def _commit(root: Path, clone: Path, version: str, now: datetime) -> None:
    for name, edit in edits(version, now).items():
        text = (clone / name).read_text("utf-8")
        (clone / name).write_text(edit(text), "utf-8")
    # Some of what is generated may name the version.
    output(clone, "script/generate-docs")
    identity = [
        word
        for key in ("user.name", "user.email")
        if (value := _setting(root, key))
        for word in ("-c", f"{key}={value}")
    ]
    output(clone, "git", *identity, "commit", "--quiet", "--all", "--message", f"{NAME} {version}")
    output(clone, "git", *identity, "tag", "--annotate", f"v{version}", "--message", f"{NAME} {version}")


def _take_over(root: Path, clone: Path, version: str, copy: Callable[[], object], place: Path) -> None:
    """The packages, the tag, the commit: the last of these is what shows. What went before is taken back where it cannot be."""
    tag = f"refs/tags/v{version}"
    try:
        copy()
        output(root, "git", "fetch", "--quiet", "--no-tags", str(clone), f"{tag}:{tag}")
        output(root, "git", "merge", "--quiet", "--ff-only", f"{tag}^{{commit}}")
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        with suppress(ReleaseError):
            output(root, "git", "update-ref", "-d", tag)
        raise


def edits(version: str, now: datetime) -> dict[str, Callable[[str], str]]:
    """Each file that names the version, and what becomes of its text."""
    debian = f"{NAME} ({version}) unstable; urgency=medium\n\n  * Release {version}. See /usr/share/doc/{NAME}/changelog.gz.\n\n -- {WHO}  {format_datetime(now)}\n\n"
    rpm = f"%changelog\n* {now:%a %b %d %Y} {WHO} - {version}-1\n- Release {version}. See CHANGELOG.md.\n\n"
    return {
        VERSION_FILE: lambda text: _VERSION.sub(f'__version__ = "{version}"', text, count=1),
        CHANGELOG: lambda text: text.replace(UNRELEASED, f"{UNRELEASED}\n## {version} ({now:%Y-%m-%d})\n", 1),
        DEBIAN_CHANGELOG: lambda text: debian + text,
        SPEC: lambda text: re.sub(r"(?m)^(Version: +).*$", rf"\g<1>{version}", text, count=1).replace(
            "%changelog\n", rpm, 1
        ),
        **dict.fromkeys(NAMES_IMAGE, lambda text: _IMAGE.sub(rf"\g<1>{version}", text)),
    }


def package_commands(root: Path, place: Path) -> list[list[str]]:
    """script/package without a form, and with each that its head lists."""
    forms = _FORM.findall((root / "script" / "package").read_text("utf-8"))
    return [["script/package", *form, str(place)] for form in ([], *([form] for form in forms))]


def sums(folder: Path) -> str:
    """As sha256sum(1) writes and checks it."""
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())
    )


def unreleased(root: Path) -> str:
    """What the changelog says of what comes next; nothing where it has no such section."""
    _, found, rest = (root / CHANGELOG).read_text("utf-8").partition(UNRELEASED)
    return rest.partition("\n## ")[0].strip() if found else ""


def present_version(root: Path) -> str:
    """The version that the tree has. Raises ReleaseError."""
    found = _VERSION.search((root / VERSION_FILE).read_text("utf-8"))
    if found is None:
        raise ReleaseError(f"{VERSION_FILE} names no version.")
    return found["version"]


def output(folder: Path, *command: str) -> str:
    """What a command prints. Raises ReleaseError with the end of what it complained of."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise ReleaseError(f"{' '.join(command)} failed ({done.returncode}):\n{done.stderr[-2000:].strip()}")
    return done.stdout.rstrip()


def _setting(root: Path, key: str) -> str:
    with suppress(ReleaseError):
        return output(root, "git", "config", "--get", key)
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path.cwd(), datetime.now(timezone.utc)))
