"""The report for a browser: one document, complete in itself."""

import re
from html.parser import HTMLParser

from myisam_advisor.reports.formats.base import Shown
from tests.support.recorded import RecordedLook, report_of


class Reader(HTMLParser):
    """What a browser would show, and what it would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.fetched: list[str] = []

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]


def test_it_says_what_the_findings_say_and_fetches_nothing(look: RecordedLook) -> None:
    text = report_of("html", look.judgement, look.facts, Shown())
    reader = Reader()
    reader.feed(text)
    shown = " ".join(" ".join(reader.text).split())
    for finding in look.judgement.findings:
        assert finding.title in shown
        assert " ".join(finding.message.split()) in shown
    assert not [place for place in reader.fetched if not place.startswith(("data:", "#"))]
    assert text.rstrip().endswith("</html>")


def test_names_are_text(look: RecordedLook) -> None:
    text = report_of("html", look.judgement, look.facts, Shown())
    assert "100%/ünï.中" in text
    assert re.search(r"default-src &#39;none&#39;|default-src 'none'", text)
