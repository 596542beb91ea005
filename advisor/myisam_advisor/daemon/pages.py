"""What the daemon answers besides the exporter: the status page, the advice as JSON, the munin plugin's document, the rules' pages.

Paths of this machine are for who logged in, or may use the UNIX socket; see docs/decisions/020-who-may-ask.md.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from email.utils import formatdate

from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.daemon.board import Board
from myisam_advisor.munin.document import document as munin_document
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.reports.formats.json import document as advice_document
from myisam_advisor.reports.one_table import table_names
from myisam_advisor.reports.page.host_paths import document_without_paths, without_host_paths
from myisam_advisor.reports.page.links import Links, base_of
from myisam_advisor.reports.page.look import Look
from myisam_advisor.reports.page.render import CONTENT_TYPE as HTML
from myisam_advisor.reports.page.render import ICON_TYPE, Page, aged, icon, policy, render
from myisam_advisor.reports.page.rule_view import RuleListView, RuleView, rule_list_view, rule_view
from myisam_advisor.reports.page.table_list import LONGEST_SEARCH, SORTS, WORST, Chosen, TableListView, table_list_view
from myisam_advisor.reports.page.table_page import NoTableView, TablePageView, table_page_view
from myisam_advisor.reports.page.view import View, cleaner, empty_view, view_of
from myisam_advisor.texts.json_documents import failure
from myisam_advisor.top.document import document_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
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
# A look that is so late is said to be missed.
STALE_INTERVALS = 3
NOT_YET = "The first look at the server is still running: reload in a moment."
NO_SERVER = "This daemon watches no server of its own. Each that is probed is listed above, from its first probe on."
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
    # A day of samples takes up to a second to read: one page after another, and no other page waits behind them.
    _history: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="history"))

    def routes(self) -> Mapping[str, Route]:
        """By path."""
        return {
            "/": self._status,
            "/advice.json": self._advice,
            "/munin.json": self._munin,
            "/top.json": self._top,
            "/rules": self._rules,
            "/rules/": self._rules,
            "/tables": self._tables,
            "/table": self._table,
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
        return await self._html(request, look, lambda: render(view(look, links)).encode("utf-8", "replace"))

    async def _tables(self, request: Request) -> Response:
        chosen = _chosen(_single(request, "search"), _single(request, "sort") or WORST, _single(request, "page") or "1")

        def view(watch: Watch, look: Look, links: Links) -> TableListView:
            clean, _ = cleaner(look, request.is_identified)
            return table_list_view(look, chosen, links, clean(watch.failure))

        return await self._of_tables(request, view)

    async def _table(self, request: Request) -> Response:
        name = _single(request, "schema"), _single(request, "table")

        def view(watch: Watch, look: Look, links: Links) -> TablePageView | NoTableView:
            curves = self.board.table_curves(watch.label, look, name) if name in table_names(look.facts) else {}
            return table_page_view(look, name, curves, links, warning=watch.failure, paths=request.is_identified)

        return await self._of_tables(request, view, self._history)

    async def _of_tables(
        self,
        request: Request,
        view: Callable[[Watch, Look, Links], Page],
        executor: ThreadPoolExecutor | None = None,
    ) -> Response:
        """A page about tables, made in a thread of `executor`; without a look, what is missing."""
        watch, name = self._watch(request)
        look = self.board.look(watch.label) if watch else None
        links = self._links(request, name)

        def page() -> Page:
            if watch is None:
                return empty_view(NO_SERVER, self._others(name), links)
            return view(watch, look, links) if look else empty_view(watch.failure or NOT_YET, self._others(name), links)

        shown = await asyncio.get_running_loop().run_in_executor(executor, page)
        status = 503 if isinstance(shown, View) else 404 if isinstance(shown, NoTableView) else 200
        return await self._html(request, look, lambda: render(shown).encode("utf-8", "replace"), status)

    async def _icon(self, request: Request) -> Response:
        return Response(200, icon().encode(), ICON_TYPE, (("Cache-Control", "max-age=86400"), *SAFE_HEADERS[:3]))

    async def _status(self, request: Request) -> Response:
        watch, name = self._watch(request)
        look = self.board.look(watch.label) if watch else None
        return await self._html(request, look, lambda: self._page(watch, name, request.is_identified))

    async def _html(
        self, request: Request, look: Look | None, work: Callable[[], bytes], status: int = 200
    ) -> Response:
        """A page with its age, which is no part of what its ETag stands for: the look is."""
        body = await asyncio.get_running_loop().run_in_executor(None, work)
        security = ("Content-Security-Policy", f"{policy(is_served=True)}; frame-ancestors 'none'")
        headers = [security, *SAFE_HEADERS]
        sent = body
        if look is not None:
            now = time.time()
            stale_after = STALE_INTERVALS * self.fleet.options.background_seconds
            sent = aged(body, max(now - look.taken_at, 0.0), stale_after)
            # By these two the page's script knows the age, also where nothing else changed (304).
            headers += [("Date", _http_date(now)), ("Last-Modified", _http_date(look.taken_at))]
        if status != 200:
            return Response(status, sent, HTML, headers)
        return _conditional(request, sent, HTML, headers, stands_for=body)

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

    async def _top(self, request: Request) -> Response:
        """For `top --daemon`: who may read all, for there are paths and names in it that others need not know."""
        watch, _ = self._watch(request)
        if not request.is_identified:
            return Response(403, _json(failure("log in, or ask over the UNIX socket")), JSON, SAFE_HEADERS)
        moment = self.board.moment(watch.label) if watch else None
        if watch is None or moment is None or watch.failure:
            why = watch.failure if watch else "no server of our own is watched"
            return _unavailable(why or NOT_YET)
        return _conditional(request, _json(document_of(moment, watch.label)), JSON, list(SAFE_HEADERS))

    async def _munin(self, request: Request) -> Response:
        watch, _ = self._watch(request)
        if watch is None:
            return _unavailable("no server of our own is watched")
        reading = await reading_in_time(watch, cheap_collectors(), MUNIN_SECONDS)
        # Down means down: nothing of an earlier look either.
        look = None if watch.failure or reading.failure else self.board.look(watch.label)
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
            body = (
                document_without_paths(body, look.data_directory, look.odd_paths)
                if look
                else document_without_paths(body, None)
            )
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
            known = (state, self._render(watch, name, look, failure, others, paths))
            watched = {"", *self.fleet.probed_names()}
            kept = {key: page for key, page in list(self._rendered.items()) if key[0] in watched}
            self._rendered = {**kept, (name, paths): known}
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
            view = empty_view(NO_SERVER, others, links)
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
    document = advice_document(look.judgement, look.facts, Shown(moment=look.taken_at, past=look.past))
    return _json(document if paths else document_without_paths(document, look.data_directory, look.odd_paths))


def _single(request: Request, name: str) -> str:
    """A parameter that may be given once, or is empty. Raises BadRequestError for more."""
    values = parameters_of(request).get(name, [""])
    if len(values) > 1:
        raise BadRequestError(f"one parameter {name} at most")
    return values[0]


def _chosen(search: str, sort: str, page: str) -> Chosen:
    """What is wanted of the list. Raises BadRequestError naming what cannot be."""
    if len(search) > LONGEST_SEARCH:
        raise BadRequestError(f"search may have {LONGEST_SEARCH} characters")
    if sort not in SORTS:
        raise BadRequestError(f"unknown sort: there are {', '.join(SORTS)}")
    # Digits of other scripts are digits to Python.
    if not (page.isascii() and page.isdigit() and 1 <= len(page) <= 9 and int(page) > 0):
        raise BadRequestError("page is a number from 1 up")
    return Chosen(search, sort, int(page))


def _unavailable(why: str) -> Response:
    return Response(503, _json(failure(without_host_paths(why))), JSON, SAFE_HEADERS)


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _http_date(seconds: float) -> str:
    """RFC 9110, 5.6.7."""
    return formatdate(seconds, usegmt=True)


def _conditional(
    request: Request, body: bytes, content_type: str, headers: list[tuple[str, str]], stands_for: bytes | None = None
) -> Response:
    """The body with an ETag, compressed where that is wanted; nothing where the client has it already (RFC 9110, 13.1.2).

    Bodies that stand for the same are weakly the same, and have one tag.
    """
    tag = f'W/"{hashlib.sha256(stands_for or body).hexdigest()[:32]}"'
    headers = [*headers, ("ETag", tag), ("Vary", "Accept-Encoding")]
    known = [one.strip() for one in request.headers.get("if-none-match", "").split(",")]
    if "*" in known or tag in known or tag.removeprefix("W/") in known:
        return Response(304, b"", content_type, headers)
    if accepts_gzip(request):
        return Response(200, gzip.compress(body, 5, mtime=0), content_type, [*headers, ("Content-Encoding", "gzip")])
    return Response(200, body, content_type, headers)
