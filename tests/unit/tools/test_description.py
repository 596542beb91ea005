"""What a wheel says of itself: README, with nothing in it that leads nowhere outside the repository."""

import re

from tests.support.repository import ROOT
from tools.description import description


def test_links_become_words_and_paths_and_pictures_go() -> None:
    made = description("# Title\n\n![a\npicture](docs/p.svg)\n\n[one\ntwo](docs/a.md#part), **[`x`](b.md)** and [there](https://example.org/).\n")
    assert made.startswith("# Title\n\n<!-- Generated")
    assert made.endswith("one two, `docs/a.md`, **`x`, `b.md`** and [there](https://example.org/).\n")


def test_nothing_of_readme_dangles_and_what_it_names_is_there() -> None:
    readme = (ROOT / "README.md").read_text()
    made = description(readme)
    assert re.findall(r"\]\((?!https?://)|<img|!\[", made) == []
    paths = {path for path in re.findall(r"\]\(([^)#]+)", readme) if not path.startswith("http")} - {"docs/pictures/check.svg"}
    assert len(paths) > 20
    assert [path for path in paths if f", `{path}`" not in made or not (ROOT / path).exists()] == []
