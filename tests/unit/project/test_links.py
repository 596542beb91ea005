"""Every link and anchor of README, docs/ and the generated reference leads somewhere, told without a network; and every page is in the site."""

from pathlib import Path

import pytest

from tests.support.repository import ROOT
from tools.links import anchors_of, dead_links, documents, links_of, rewritten
from tools.site import build
from tools.site.navigation import LISTS, NAVIGATION

PAGE = """# The page

See [the end](#the-end), [a file](other.md#its-heading) and ![a picture](picture.svg). Not `[code](gone.md)`.

```
[an example](gone.md)
# no heading
```

## The end
"""
OTHER = "# Its `heading`\n\n## Twice\n\n## Twice\n\n## What's *that*, [then](page.md)?\n"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(PAGE)
    (tmp_path / "docs" / "other.md").write_text(OTHER)
    (tmp_path / "docs" / "picture.svg").write_text("<svg/>")
    return tmp_path


def test_no_link_is_dead() -> None:
    assert dead_links(ROOT) == []


def test_all_that_people_read_is_looked_at() -> None:
    names = {str(path.relative_to(ROOT)) for path in documents(ROOT)}
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/guide/installing.md", "docs/reference/rules/README.md", "exporter/README.md"} <= names
    assert sum(len(links_of((ROOT / name).read_text())) for name in names) > 150


def test_a_sound_page_has_no_complaint(house: Path) -> None:
    assert dead_links(house) == []


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("[gone](gone.md)", "is not there"),
        ("![gone](gone.svg)", "is not there"),
        ("[gone](#gone)", "no such heading"),
        ("[in code](#no-heading)", "no such heading"),
        ("[gone](other.md#gone)", "no such heading"),
        ("[case](other.md#Twice)", "no such heading"),
        ("[thrice](other.md#twice-2)", "no such heading"),
        ("[a part of a picture](picture.svg#part)", "no such heading"),
        ("[away](../../elsewhere.md)", "leads out of the repository"),
    ],
)
def test_a_dead_link_is_named_with_its_place(house: Path, link: str, complaint: str) -> None:
    (house / "docs" / "page.md").write_text(PAGE + f"\nSee {link}.\n")
    target = link.partition("(")[2].rstrip(")")
    assert dead_links(house) == [f"docs/page.md:12: {target}: {complaint}"]


def test_headings_are_named_as_github_names_them() -> None:
    assert anchors_of(OTHER) == {"its-heading", "twice", "twice-1", "whats-that-then"}


def test_links_are_led_elsewhere_and_examples_are_not() -> None:
    text = rewritten(PAGE + "[out](https://example.org/)\n", lambda target: f"new/{target}")
    assert "[a file](new/other.md#its-heading) and ![a picture](new/picture.svg). Not `[code](gone.md)`." in text
    assert "\n[an example](gone.md)\n" in text
    assert "[out](https://example.org/)" in text


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    named = {page for section in NAVIGATION for page in section.pages} | {"README.md"}
    lists = tuple(pattern.removesuffix("*") for pattern in LISTS.values())
    assert [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")) if (name := str(path.relative_to(ROOT))) not in named and not name.startswith(lists)] == []
    assert [page for page in named if not (ROOT / page).exists()] == []


def test_no_site_is_built_with_a_dead_link(house: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(build, "ROOT", house)
    (house / "docs" / "other.md").write_text("[gone](gone.md)\n")
    assert build.main([str(house / "site")]) == 1
    assert "docs/other.md:1: gone.md: is not there" in capsys.readouterr().err
    assert not (house / "site").exists()
