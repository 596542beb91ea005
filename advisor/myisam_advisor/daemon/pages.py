"""What the daemon answers besides the exporter: the status page, the advice as JSON, the munin plugin's document, the rules' pages.

Paths of this machine are for who logged in, or may use the UNIX socket; see docs/decisions/020-who-may-ask.md.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.daemon.board import Board
from myisam_advisor.munin.document import document as munin_document
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.reports.formats.json import document as advice_document
from myisam_advisor.reports.formats.json import past_document
from myisam_advisor.reports.page.host_paths import document_without_paths, without_host_paths
from myisam_advisor.reports.page.links import Links, base_of
from myisam_advisor.reports.page.look import Look
from myisam_advisor.reports.page.render import CONTENT_TYPE as HTML
from myisam_advisor.reports.page.render import ICON_TYPE, icon, policy, render
from myisam_advisor.reports.page.rule_view import RuleListView, RuleView, rule_list_view, rule_view
from myisam_advisor.reports.page.view import empty_view, view_of
from myisam_advisor.texts.json_documents import failure
from myisam_exporter.facts.values import number_of
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.scrapes import cheap_collectors
from myisam_exporter.watching.watch import Watch
from myisam_exporter.web.application import BadRequestError, Route, accepts_gzip, parameters_of, reading_in_time
from myisam_exporter.web.server import Request, Response

JSON = "application/json"
# The plugin waits two seconds.
MUNIN_SECONDS = 1.5
PEAK_SECONDS = 300.0
NOT_YET = "The first look at the server is under way: reload in a moment."
SAFE_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-cache"),
)


@dataclass(slots=True)
class Pages:
    """The routes; `rules` gives those in force."""

    fleet: Fleet
    board: Board
    rules: Callable[[], Sequence[Rule]]
    telemetry_path: str = "/metrics"
    _rendered: dict[tuple[str, bool], tuple[object, bytes]] = field(default_factory=dict)

    def routes(self) -> Mapping[str, Route]:
        """By path."""
        return {
            "/": self._status,
            "/advice.json": self._advice,
            "/munin.json": self._munin,
            "/rules": self._rules,
            "/rules/": self._rules,
            "/favicon.ico": self._icon,
        }

    def warm_up(self) -> None:
        """Compile the page, so that the first who asks does not wait for it."""
        render(empty_view(NOT_YET, links=Links()))

    async def further_page(self, request: Request) -> Response | None:
        """/rules/ID: where the alerts' runbook links lead. A server that is not probed any more has no findings there."""
        identifier = request.path.removeprefix("/rules/")
        rule = next((rule for rule in self.rules() if rule.id == identifier), None)
        if rule is None or not request.path.startswith("/rules/"):
            return None
        return await self._of_rules(
            request, lambda look, links: rule_view(rule, look, links, paths=request.is_identified)
        )

    async def _rules(self, request: Request) -> Response:
        return await self._of_rules(request, lambda look, links: rule_list_view(self.rules(), look, links))

    async def _of_rules(
        self, request: Request, view: Callable[[Look | None, Links], RuleView | RuleListView]
    ) -> Response:
        watch, name = self._watch(request, or_none=True)
        look = self.board.look(watch.label) if watch and not watch.failure else None
        links = self._links(request, name)
        return await self._html(request, lambda: render(view(look, links)).encode("utf-8", "replace"))

    async def _icon(self, request: Request) -> Response:
        return Response(200, icon().encode(), ICON_TYPE, (("Cache-Control", "max-age=86400"), *SAFE_HEADERS[:3]))

    async def _status(self, request: Request) -> Response:
        watch, name = self._watch(request)
        return await self._html(request, lambda: self._page(watch, name, request.is_identified))

    async def _html(self, request: Request, work: Callable[[], bytes]) -> Response:
        body = await asyncio.get_running_loop().run_in_executor(None, work)
        headers = [("Content-Security-Policy", f"{policy()}; frame-ancestors 'none'"), *SAFE_HEADERS]
        return _conditional(request, body, HTML, headers)

    def _links(self, request: Request, name: str) -> Links:
        return Links(base_of(request.path), name, self.telemetry_path)

    async def _advice(self, request: Request) -> Response:
        watch, _ = self._watch(request)
        look = self.board.look(watch.label) if watch else None
        if watch is None or look is None or watch.failure:
            failure = watch.failure if watch else "no server of our own is watched: ask with ?target="
            return _unavailable(failure or NOT_YET)
        body = await asyncio.get_running_loop().run_in_executor(None, _advice_of, look, request.is_identified)
        return _conditional(request, body, JSON, list(SAFE_HEADERS))

    async def _munin(self, request: Request) -> Response:
        watch, _ = self._watch(request)
        if watch is None:
            return _unavailable("no server of our own is watched")
        reading = await reading_in_time(watch, cheap_collectors(), MUNIN_SECONDS)
        look = None if watch.failure else self.board.look(watch.label)
        peaks = {} if reading.failure else watch.peaks(PEAK_SECONDS)
        body = munin_document(
            watch.values(reading),
            look.judgement if look else None,
            peaks,
            without_host_paths(reading.failure),
            self._page_cache_hits(watch.label, look),
            look.facts.interval_seconds if look else None,
        )
        if not request.is_identified:
            body = document_without_paths(body, look.data_directory if look else None)
        return Response(200, _json(body), JSON, SAFE_HEADERS)

    def _page_cache_hits(self, label: str, look: Look | None) -> dict[str, float | None]:
        """The ratio of the last look, and the lowest of those within the plugin's interval."""
        if look is None:
            return {}
        recent = [
            value
            for moment, value in self.board.curves(label).get("mysqld.page_cache_hit_ratio", ())
            if value is not None and moment > look.taken_at - PEAK_SECONDS
        ]
        ratio = look.facts.single("mysqld").get("page_cache_hit_ratio")
        return {
            "page_cache_hit_ratio": number_of(ratio),
            "page_cache_hit_ratio_lowest": min(recent, default=None),
        }

    def _watch(self, request: Request, *, or_none: bool = False) -> tuple[Watch | None, str]:
        """The watch that the request names, or our own; `or_none` where a page has something to say of no server too."""
        wanted = parameters_of(request).get("target", [])
        if len(wanted) > 1:
            raise BadRequestError("one parameter target at most")
        if not wanted:
            return self.fleet.own, ""
        watch = self.fleet.probed(wanted[0])
        if watch is None and or_none:
            return None, ""
        if watch is None:
            raise BadRequestError("unknown target: only servers that are probed have a page")
        return watch, wanted[0]

    def _page(self, watch: Watch | None, name: str, paths: bool) -> bytes:
        """The page's bytes, rendered once for each look, with paths and without."""
        look = self.board.look(watch.label) if watch else None
        failure = watch.failure if watch else ""
        others = self._others(name)
        state = (look.taken_at if look else None, failure, others)
        known = self._rendered.get((name, paths))
        if known is None or known[0] != state:
            known = self._rendered[name, paths] = (state, self._render(watch, name, look, failure, others, paths))
        return known[1]

    def _render(
        self,
        watch: Watch | None,
        name: str,
        look: Look | None,
        failure: str,
        others: Sequence[tuple[str, str]],
        paths: bool,
    ) -> bytes:
        links = Links("./", name, self.telemetry_path)
        if watch is None:
            sentence = "This daemon watches no server of its own; those that are probed are above."
            view = empty_view(sentence, others, links)
        elif look is None:
            view = empty_view(failure or NOT_YET, others, links)
        else:
            curves = self.board.curves(watch.label)
            view = view_of(look, curves, warning=failure, others=others, links=links, paths=paths)
        return render(view).encode("utf-8", "replace")

    def _others(self, name: str) -> tuple[tuple[str, str], ...]:
        """Links to the other servers' pages."""
        names = [one for one in self.fleet.probed_names() if one != name]
        own = [("this machine's server", Links().home())] if name and self.fleet.own else []
        return (*own, *((one, Links().server(one)) for one in names))


def _advice_of(look: Look, paths: bool) -> bytes:
    document = advice_document(look.judgement, look.facts, Shown(moment=look.taken_at)) | {
        "past": past_document(look.past)
    }
    return _json(document if paths else document_without_paths(document, look.data_directory))


def _unavailable(why: str) -> Response:
    return Response(503, _json(failure(without_host_paths(why))), JSON, SAFE_HEADERS)


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _conditional(request: Request, body: bytes, content_type: str, headers: list[tuple[str, str]]) -> Response:
    """The body with an ETag, compressed where that is wanted; nothing where the client has it already (RFC 9110, 13.1.2)."""
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = [*headers, ("ETag", tag), ("Vary", "Accept-Encoding")]
    known = [one.strip() for one in request.headers.get("if-none-match", "").split(",")]
    if "*" in known or tag in known or tag.removeprefix("W/") in known:
        return Response(304, b"", content_type, headers)
    if accepts_gzip(request):
        return Response(200, gzip.compress(body, 5, mtime=0), content_type, [*headers, ("Content-Encoding", "gzip")])
    return Response(200, body, content_type, headers)
