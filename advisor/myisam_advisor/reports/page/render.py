"""A view as HTML: each page is one document with its style and its script in it, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_advisor.reports.page.rule_view import RuleListView, RuleView
from myisam_advisor.reports.page.table_list import TableListView
from myisam_advisor.reports.page.table_page import NoTableView, TablePageView
from myisam_advisor.reports.page.view import View
from myisam_advisor.texts.templates import duration
from myisam_exporter.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

CONTENT_TYPE, ICON_TYPE = "text/html; charset=utf-8", "image/svg+xml"
# Each kind of page has a template that extends layout.html.
_TEMPLATES = {
    View: "page.html",
    RuleView: "rule.html",
    RuleListView: "rules.html",
    TableListView: "tables.html",
    TablePageView: "table.html",
    NoTableView: "no_table.html",
}
Page = View | RuleView | RuleListView | TableListView | TablePageView | NoTableView


def render(view: Page) -> str:
    """The document."""
    return (
        _environment()
        .get_template(_TEMPLATES[type(view)])
        .render(
            view=view,
            style=_part("page.css"),
            script=_part("page.js"),
            icon=icon(),
            policy=policy(is_served=view.links is not None),
            version=__version__,
        )
    )


def aged(page: bytes, seconds: float, stale_after: float) -> bytes:
    """A rendered page with how long ago the look was: told when it is sent, so that it need not be rendered again."""
    stale = " stale" if seconds > stale_after else ""
    late = ": the next look is overdue" if stale else ""
    said = f'<span class="age{stale}" data-seconds="{seconds:.0f}" data-stale-after="{stale_after:.0f}">{duration(seconds)} ago{late}</span>'
    # What names hold is escaped: the first one is the template's own.
    return page.replace(b'<span class="age"></span>', said.encode(), 1)


def icon() -> str:
    """The icon, an SVG: it is in each document, and for whoever asks for /favicon.ico."""
    return _part("icon.svg").strip()


@lru_cache(maxsize=2)
def policy(*, is_served: bool) -> str:
    """The Content-Security-Policy: the document's own style and script by their hashes, the icon in it, nothing from anywhere.

    What a daemon serves may ask that daemon again: for the next look, and for tables by name.
    """
    own = "form-action 'self'; connect-src 'self'" if is_served else "form-action 'none'"
    return (
        f"default-src 'none'; style-src {_hash('page.css')}; script-src {_hash('page.js')}; img-src data:; "
        f"base-uri 'none'; {own}"
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_part),
        auto_reload=False,
    )


@lru_cache(maxsize=32)
def _part(name: str) -> str:
    # By its place, as shipped_files.py does it: importlib.resources takes a megabyte of a daemon.
    return Path(__file__).with_name(name).read_text("utf-8")


def _hash(name: str) -> str:
    digest = hashlib.sha256(_part(name).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
