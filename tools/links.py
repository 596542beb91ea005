"""Links of the documents: what they lead to, and which headings a page has. Names are those that GitHub gives, so that both it and the site find them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}#{1,6} +(.*?)[ #]*$")
_CODE = re.compile(r"(`+)(?:.+?)\1")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
# https://github.com/gjtorikian/html-pipeline, toc_filter: what is neither a letter, a digit, "_", "-" nor a space goes.
_NOT_IN_A_NAME = re.compile(r"[^\w\- ]")


class Link(NamedTuple):
    """One link of a page, as it is written."""

    line: int
    target: str

    @property
    def is_outside(self) -> bool:
        """Whether it leads to another machine."""
        return re.match(r"[a-z][a-z0-9+.-]*:", self.target) is not None


def documents(root: Path) -> list[Path]:
    """All pages that people read: those at the top, those of the packages, of docs/ and of .github/."""
    return sorted(
        {*root.glob("*.md"), *root.glob("*/README.md"), *root.glob("docs/**/*.md"), *root.glob(".github/**/*.md")}
    )


def text_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside of code, each with its number, code within a line blanked."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        else:
            yield number, _CODE.sub(lambda code: " " * len(code[0]), line)


def links_of(text: str) -> list[Link]:
    """Every link and picture of a page."""
    return [Link(number, target) for number, line in text_lines(text) for target in _LINK.findall(line)]


def anchors_of(text: str) -> set[str]:
    """What may stand behind a #: a name for each heading, the second of the same words with -1."""
    names: set[str] = set()
    lines = text.splitlines()
    for number, _ in text_lines(text):
        heading = _HEADING.match(lines[number - 1])
        if heading is None:
            continue
        name = slug(heading[1])
        twin = 0
        while (candidate := f"{name}-{twin}" if twin else name) in names:
            twin += 1
        names.add(candidate)
    return names


def slug(heading: str) -> str:
    """The name that a heading gets."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return _NOT_IN_A_NAME.sub("", words.strip().lower()).replace(" ", "-")


def dead_links(root: Path) -> list[str]:
    """Each link within the repository that leads nowhere, with its page, its line and what is missing."""
    root = root.resolve()
    return [
        f"{page.relative_to(root)}:{link.line}: {link.target}: {complaint}"
        for page in documents(root)
        for link in links_of(page.read_text("utf-8"))
        if not link.is_outside and (complaint := _complaint(root, page, link.target))
    ]


def _complaint(root: Path, page: Path, target: str) -> str:
    path, _, anchor = target.partition("#")
    place = (page.parent / path).resolve() if path else page
    if not place.is_relative_to(root):
        return "leads out of the repository"
    if not place.exists():
        return "is not there"
    if anchor and (place.suffix != ".md" or anchor not in anchors_of(place.read_text("utf-8"))):
        return "no such heading"
    return ""


def rewritten(text: str, new_target: Callable[[str], str]) -> str:
    """A page with each link that stays within the repository led elsewhere."""
    lines = text.splitlines(keepends=True)
    for number, blanked in text_lines(text):
        line = lines[number - 1]
        # From the end, so that what stands before keeps its place.
        for found in reversed(list(_LINK.finditer(blanked))):
            if not Link(number, found[1]).is_outside:
                line = line[: found.start(1)] + new_target(found[1]) + line[found.end(1) :]
        lines[number - 1] = line
    return "".join(lines)
