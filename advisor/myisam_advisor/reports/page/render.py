"""A view as HTML: one document with its style and its script in it, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from myisam_advisor.reports.page.view import View
from myisam_exporter.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

CONTENT_TYPE = "text/html; charset=utf-8"


def render(view: View) -> str:
    """The document."""
    return _template().render(
        view=view, style=_part("page.css"), script=_part("page.js"), policy=policy(), version=__version__
    )


@lru_cache(maxsize=1)
def policy() -> str:
    """The Content-Security-Policy: the document's own style and script by their hashes, the icon in it, nothing from anywhere."""
    return (
        f"default-src 'none'; style-src {_hash('page.css')}; script-src {_hash('page.js')}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_part("page.html"))


@lru_cache(maxsize=8)
def _part(name: str) -> str:
    return (resources.files("myisam_advisor.reports.page") / name).read_text("utf-8")


def _hash(name: str) -> str:
    digest = hashlib.sha256(_part(name).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
