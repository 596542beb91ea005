"""Builds the site: pages are laid out for Sphinx, links between them led there, and what else they link to is put beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.links import dead_links, rewritten
from tools.site.navigation import FIRST_PAGE, LISTS, NAVIGATION

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ICON = ROOT / "advisor" / "myisam_advisor" / "reports" / "page" / "icon.svg"
# What Sphinx leaves in a site that it made.
MARK = "objects.inv"


def main(words: list[str]) -> int:
    """Build the site into a directory; 1 when a page has a fault, 2 when the directory may not be used."""
    target = Path(words[0]) if words else ROOT / "build" / "site"
    complaint = _refused(target)
    if complaint:
        print(f"docs: {complaint}", file=sys.stderr)
        return 2
    dead = dead_links(ROOT)
    if dead:
        print("\n".join(["docs: not built: links lead nowhere", *dead]), file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="myisam-advisor-site-") as work:
        source, built = Path(work) / "source", Path(work) / "built"
        lay_out(source)
        command = [sys.executable, "-m", "sphinx", "--builder", "html", "--quiet", "--fail-on-warning", "--keep-going"]
        command += ["--doctree-dir", f"{work}/doctrees", "--jobs", "auto", str(source), str(built)]
        if subprocess.run(command, check=False).returncode:
            print("docs: not built: mend what is named above", file=sys.stderr)
            return 1
        (built / ".buildinfo").unlink()
        if target.exists():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(built, target)
    print(f"docs: {len(list(target.rglob('*.html')))} pages; open {target / 'index.html'}")
    return 0


def _refused(target: Path) -> str:
    """Why a directory is not written to: whatever is in it will be gone."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        return f"{target} is no directory: name another one"
    if target.is_dir() and any(target.iterdir()) and not (target / MARK).exists():
        return f"{target} is not empty and is no site that this made: name another directory, or empty it"
    return ""


def lay_out(source: Path) -> None:
    """Write what Sphinx reads."""
    pages = _pages()
    files: set[Path] = set()
    for page, name in pages.items():
        text = _page_text(page, pages, files)
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, "utf-8")
    for file in files:
        (source / _place(file)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, source / _place(file))
    (source / "static").mkdir()
    shutil.copyfile(HERE / "site.css", source / "static" / "site.css")
    shutil.copyfile(HERE / "conf.py", source / "conf.py")
    shutil.copyfile(ICON, source / "icon.svg")


def _pages() -> dict[Path, Path]:
    """Each page of the site by its path in the repository, and where it goes."""
    named = {Path(page) for section in NAVIGATION for page in section.pages}
    below_docs = {path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")}
    return {page: _place(page) for page in sorted({Path(FIRST_PAGE)} | named | below_docs)}


def _place(path: Path) -> Path:
    """Where a file of the repository goes: docs/ is the top, and the first page its index."""
    if str(path) == FIRST_PAGE:
        return Path("index.md")
    if path.parts[0] == "docs":
        path = Path(*path.parts[1:])
        return path.with_name("index.md") if path.name == "README.md" else path
    return Path(path.name.lower()) if path.suffix == ".md" and len(path.parts) == 1 else Path("files") / path


def _page_text(page: Path, pages: dict[Path, Path], files: set[Path]) -> str:
    here = _place(page).parent

    def led(target: str) -> str:
        path, _, anchor = target.partition("#")
        if not path:
            return target
        linked = Path(os.path.normpath(page.parent / path))
        if linked / "README.md" in pages:
            linked /= "README.md"
        elif linked not in pages:
            files.add(linked)
        return os.path.relpath(_place(linked), here) + (f"#{anchor}" if anchor else "")

    text = rewritten((ROOT / page).read_text("utf-8"), led)
    if str(page) == FIRST_PAGE:
        return text + "".join(_toctree(section.caption, section.pages) for section in NAVIGATION)
    return text + (_list_of(page) if str(page) in LISTS else "")


def _toctree(caption: str, pages: tuple[str, ...]) -> str:
    names = "\n".join(str(_place(Path(page)).with_suffix("")) for page in pages)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{names}\n```\n"


def _list_of(page: Path) -> str:
    """The pages below one that lists them, unseen where it names them itself."""
    names = f"/{_place(Path(LISTS[str(page)]))}"
    return f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{names}\n```\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
