"""What the exporter answers: /metrics, /probe, the health checks, reload, and a landing page. Any other path is 404."""

from __future__ import annotations

import asyncio
import html
import logging
import platform
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field, replace
from urllib.parse import parse_qs, urlencode

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.exposition.reading import Reading
from myisam_exporter.exposition.text import (
    CONTENT_TYPE,
    OPEN_METRICS_TYPE,
    Page,
    joined,
    page_of,
    page_of_text,
    wants_open_metrics,
)
from myisam_exporter.metrics.base import Metric, Value
from myisam_exporter.version import __version__
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.watch import Watch, selectable
from myisam_exporter.web.access import Access
from myisam_exporter.web.public_address import PublicAddress
from myisam_exporter.web.scrape_slots import Asked, ScrapeSlots
from myisam_exporter.web.server import Request, Response, each_once

MAXIMUM_SCRAPES = 40
# Pages being made at once, of one path a quarter: with those that wait, and all scrapes, fewer than one peer may have connections.
MAXIMUM_PAGES = 8
DEFAULT_DEADLINE_SECONDS = 9.5
# Left of Prometheus's own timeout for rendering and the way back.
DEADLINE_MARGIN_SECONDS = 0.25
MINIMUM_DEADLINE_SECONDS = 0.1
# Readings under way at once: one a scrape, and as many that nobody waits for any more.
READINGS_PER_SCRAPE = 2
# Threads that render what was read, and nothing else: a page takes some milliseconds.
RENDERERS = 4
MAXIMUM_PARAMETERS = 100
# What all paths beside the routes are called where turns are counted.
FURTHER = "further pages"
TIMEOUT_HEADER = "x-prometheus-scrape-timeout-seconds"
_log = logging.getLogger(__name__)

OWN_METRICS = (
    Metric(
        "exporter_build_info", "gauge", "Always 1; the exporter's version, and Python's.", ("version", "python_version")
    ),
    Metric("exporter_targets", "gauge", "Servers watched: the own one and those probed lately."),
    Metric("exporter_scrapes_in_progress", "gauge", "Scrapes being answered now, this one included."),
    Metric("exporter_config_last_reload_successful", "gauge", "1 when the last reload of the configuration succeeded."),
    Metric("exporter_config_last_reload_success_timestamp_seconds", "gauge", "When the configuration was last read."),
)
# Of every page, so that what is known of a probed server leads to its pages too.
WEB_INFO = Metric(
    "exporter_web_info",
    "gauge",
    "Always 1; where this server's pages are: below external_url (--web.external-url, else the address that this scrape asked), with query at the end.",
    ("external_url", "query"),
)
Route = Callable[[Request], Awaitable[Response]]
FurtherPage = Callable[[Request], Awaitable[Response | None]]


class BadRequestError(Exception):
    """A request that cannot be answered; the message says why."""


async def _no_page(request: Request) -> Response | None:
    return None


@dataclass(slots=True)
class Exporter:
    """The application.

    `reload` reads the configuration anew and gives what puts it into force, or raises UserError when it is broken; `further_routes`
    answer paths that are not ours, or `/` in our place; `further_page` answers any other path, or gives None. All paths are those
    below the prefix of `public_address`.
    """

    fleet: Fleet
    access: Access
    reload: Callable[[], Callable[[], None]]
    further_page: FurtherPage = _no_page
    further_routes: Mapping[str, Route] = field(default_factory=dict)
    telemetry_path: str = "/metrics"
    maximum_scrapes: int = MAXIMUM_SCRAPES
    own_process_metrics: bool = True
    public_address: PublicAddress = field(default_factory=PublicAddress)
    _slots: ScrapeSlots = field(init=False)
    _pages: ScrapeSlots = field(default_factory=lambda: ScrapeSlots(MAXIMUM_PAGES))
    _reload_successful: bool = True
    _reloaded_at: float = field(default_factory=time.time)
    _process_page: Callable[[], Page] | None = None
    _readings: set[Future[Reading]] = field(default_factory=set)
    _renderer: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(RENDERERS, thread_name_prefix="render")
    )

    def __post_init__(self) -> None:
        """The slots are made of what was given."""
        self._slots = ScrapeSlots(self.maximum_scrapes)

    async def handle(self, request: Request) -> Response:
        """The answer to one request."""
        admitted = await self.access.admit(request)
        response = admitted if isinstance(admitted, Response) else await self._found(admitted)
        headers = each_once(response.headers, self.access.gate.settings.headers)
        return Response(response.status, response.body, response.content_type, headers)

    def reload_configuration(self) -> str:
        """Read the configuration anew; why that failed, or nothing. What was read before stays in force then."""
        try:
            put_into_force = self.reload()
            self.access.gate.reload()
            put_into_force()
        except Exception as error:  # whatever it is: whoever waits for the reload, systemd among them, hears of its end
            self._reload_successful = False
            if not isinstance(error, UserError):
                _log.exception("reload failed")
                return "internal error: see the log"
            _log.error("reload failed: %s", error)
            return str(error)
        self._reload_successful, self._reloaded_at = True, time.time()
        _log.info("configuration reloaded")
        return ""

    async def _found(self, request: Request) -> Response:
        path = self.public_address.inner_path(request)
        if path is not None:
            try:
                return await self._routed(replace(request, path=path))
            except BadRequestError as error:
                return _text(400, str(error))
        if self.public_address.leads_here(request.path) and request.method in ("GET", "HEAD"):
            return Response(302, headers=(("Location", f"{self.public_address.prefix}/"),))
        return _text(404, "not found")

    async def _routed(self, request: Request) -> Response:
        routes: Mapping[str, tuple[str, Route]] = {
            "/": ("GET", self._landing),
            self.telemetry_path: ("GET", self._metrics),
            "/probe": ("GET", self._probe),
            "/-/healthy": ("GET", self._healthy),
            "/-/ready": ("GET", self._ready),
            "/-/reload": ("POST", self._reload),
            **{path: ("GET", self._in_turn(path, route)) for path, route in self.further_routes.items()},
        }
        if request.path not in routes:
            return await self._in_turn(FURTHER, self._further)(request)
        method, route = routes[request.path]
        allowed = ("POST", "PUT") if method == "POST" else ("GET", "HEAD")
        if request.method not in allowed:
            return Response(405, f"{request.path} takes {method}\n".encode(), headers=(("Allow", ", ".join(allowed)),))
        return await route(request)

    def _in_turn(self, name: str, route: Route) -> Route:
        """The route, of whose answers so many are made at once: a connection that is answered keeps its place, so a crowd would take all of them."""

        async def answered(request: Request) -> Response:
            asked = Asked(name, request.peer.group)
            if not await self._pages.take(asked, DEFAULT_DEADLINE_SECONDS):
                return _try_again(b"too many pages are asked for at once, try again later\n")
            try:
                return await route(request)
            finally:
                self._pages.give_back(asked)

        return answered

    async def _further(self, request: Request) -> Response:
        page = await self.further_page(request) if request.method in ("GET", "HEAD") else None
        return page or _text(404, "not found")

    async def _landing(self, request: Request) -> Response:
        path = html.escape(f".{self.telemetry_path}", quote=True)
        body = (
            "<!doctype html><html lang=en><meta charset=utf-8><title>myisam-advisor</title>"
            f"<h1>myisam-advisor {html.escape(__version__)}</h1><p>MyISAM, seen from both sides: "
            "the key cache inside the server, the page cache outside it."
            f'<p><a href="{path}">Metrics</a></html>\n'
        )
        return Response(200, body.encode(), "text/html; charset=utf-8")

    async def _healthy(self, request: Request) -> Response:
        return _text(200, "OK")

    async def _ready(self, request: Request) -> Response:
        return _text(200, "OK")

    async def _reload(self, request: Request) -> Response:
        refused = self.access.refuse_reload(request)
        if refused is not None:
            return refused
        failure = await asyncio.get_running_loop().run_in_executor(None, self.reload_configuration)
        if failure and not request.is_identified:
            failure = "the configuration cannot be used and is as it was: the log says why"  # which names files
        return _text(500, failure) if failure else _text(200, "OK")

    async def _metrics(self, request: Request) -> Response:
        parameters = parameters_of(request)
        if "target" in parameters:
            raise BadRequestError("this path is for the exporter's own server: ask /probe?target=...")
        watch = self.fleet.own
        if watch is None:
            return self._own_page(parameters, request)
        return await self._scrape(watch, parameters, request, with_own=True)

    async def _probe(self, request: Request) -> Response:
        parameters = parameters_of(request)
        wanted, modules = parameters.get("target", []), parameters.get("auth_module", [])
        if len(wanted) != 1 or len(modules) > 1:
            raise BadRequestError("one parameter target is wanted, and at most one auth_module")
        targets = self.fleet.targets
        listed = targets.find(wanted[0])
        if listed is None:
            raise BadRequestError("unknown target: list it in the file that --config.targets names")
        module = modules[0] if modules else listed.auth_module
        if module not in listed.modules:
            # The same whether there is such a section or not.
            raise BadRequestError("the list of targets does not let this target have that auth_module")
        return await self._scrape(self.fleet.watch_probed(listed, module), parameters, request, with_own=False)

    async def _scrape(
        self, watch: Watch, parameters: Mapping[str, list[str]], request: Request, *, with_own: bool
    ) -> Response:
        selected = _selected(parameters, watch.names())
        loop = asyncio.get_running_loop()
        seconds = _deadline_seconds(request)
        ends_at = loop.time() + seconds
        asked_by = Asked(watch.label, request.peer.group)
        if not await self._slots.take(asked_by, seconds):
            return _try_again(b"too many scrapes at once, try again later\n")
        try:
            if not self._may_read():
                return _try_again(b"too many scrapes at once, try again later\n")
            flight = watch.scrape(selected)
            self._readings.add(flight)
            reading = await before_deadline(watch, flight, max(ends_at - loop.time(), 0.0))
            own = [
                *(self._own_pages() if with_own else ()),
                *self._whereabouts(request, "" if with_own else watch.label),
            ]
            names = parameters.get("name[]", ())
            gzipped, open_metrics = accepts_gzip(request), accepts_open_metrics(request)
            rendering = loop.run_in_executor(
                self._renderer, watch.exposition, reading, selected, names, gzipped, own, open_metrics
            )
            body = await asyncio.wait_for(rendering, max(ends_at - loop.time(), 0.0) + DEADLINE_MARGIN_SECONDS)
        except asyncio.TimeoutError:
            return _try_again(b"the metrics were not ready in time, try again later\n")
        finally:
            self._slots.give_back(asked_by)
        return _exposition(body, gzipped, open_metrics)

    def _may_read(self) -> bool:
        """Whether another reading may begin: one goes on when whoever asked for it has left, and counts until it ends."""
        self._readings = {flight for flight in self._readings if not flight.done()}
        return len(self._readings) < READINGS_PER_SCRAPE * self.maximum_scrapes

    def _own_pages(self) -> list[Page]:
        values = [
            Value("exporter_build_info", 1, (__version__, platform.python_version())),
            Value("exporter_targets", self.fleet.size),
            Value("exporter_scrapes_in_progress", len(self._slots)),
            Value("exporter_config_last_reload_successful", int(self._reload_successful)),
            Value("exporter_config_last_reload_success_timestamp_seconds", self._reloaded_at),
        ]
        pages = [page_of(OWN_METRICS, values)]
        if self.own_process_metrics:
            pages.append(self._process_metrics())
        return pages

    def _whereabouts(self, request: Request, target: str = "") -> list[Page]:
        """Where the pages of our own server are, or of the one that was probed."""
        url = self.public_address.of(request)
        query = f"?{urlencode({'target': target})}" if target else ""
        return [page_of((WEB_INFO,), [Value(WEB_INFO.name, 1, (url, query))])] if url else []

    def _process_metrics(self) -> Page:
        """CPU, memory and descriptors of this process, by prometheus_client; only beside the own server's metrics."""
        if self._process_page is None:
            from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

            registry = CollectorRegistry()
            ProcessCollector(registry=registry)
            self._process_page = lambda: page_of_text(generate_latest(registry))
        return self._process_page()

    def _own_page(self, parameters: Mapping[str, list[str]], request: Request) -> Response:
        """What there is to say where no server is watched but those probed."""
        _selected(parameters, selectable(self.fleet.followers))
        pages = [*self._own_pages(), *self._whereabouts(request)]
        names = parameters.get("name[]", ())
        pages = [page.restricted(names) for page in pages] if names else pages
        gzipped, open_metrics = accepts_gzip(request), accepts_open_metrics(request)
        return _exposition(joined(pages, gzipped, open_metrics), gzipped, open_metrics)


def _selected(parameters: Mapping[str, list[str]], known: frozenset[str]) -> frozenset[str]:
    asked = frozenset(parameters.get("collect[]", ()))
    if asked - known:
        raise BadRequestError(f"unknown collect[]: there are {', '.join(sorted(known))}")
    return asked or known


async def reading_in_time(watch: Watch, selected: frozenset[str], seconds: float) -> Reading:
    """A reading of what is selected, within these seconds, or one that says there is none."""
    return await before_deadline(watch, watch.scrape(selected), seconds)


async def before_deadline(watch: Watch, under_way: Future[Reading], seconds: float) -> Reading:
    """The reading when it ends within these seconds, or one that says there is none."""
    flight = asyncio.wrap_future(under_way)
    try:
        return await asyncio.wait_for(asyncio.shield(flight), seconds)
    except asyncio.TimeoutError:
        # The reading goes on, bounded by its own timeouts: a client's haste must not cost others the connection.
        flight.add_done_callback(lambda done: done.cancelled() or done.exception())
        return watch.no_reading("no answer in time")


def parameters_of(request: Request) -> Mapping[str, list[str]]:
    """The query string's parameters. Raises BadRequestError when it cannot be read."""
    try:
        return parse_qs(request.query, keep_blank_values=True, max_num_fields=MAXIMUM_PARAMETERS, errors="strict")
    except ValueError:
        raise BadRequestError("the query string cannot be read, or has too many parameters") from None


def _deadline_seconds(request: Request) -> float:
    """What Prometheus allows, less a margin."""
    try:
        seconds = float(request.headers.get(TIMEOUT_HEADER, "")) - DEADLINE_MARGIN_SECONDS
    except ValueError:
        return DEFAULT_DEADLINE_SECONDS
    if not seconds < float("inf"):  # NaN and infinity
        return DEFAULT_DEADLINE_SECONDS
    return max(seconds, MINIMUM_DEADLINE_SECONDS)


def accepts_gzip(request: Request) -> bool:
    """Whether the client takes a compressed answer."""
    for part in request.headers.get("accept-encoding", "").split(","):
        coding, _, quality = part.strip().partition(";")
        if coding.strip() in ("gzip", "*"):
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def accepts_open_metrics(request: Request) -> bool:
    """Whether the client is to have OpenMetrics."""
    return wants_open_metrics(request.headers.get("accept", ""))


def _exposition(body: bytes, gzipped: bool, open_metrics: bool) -> Response:
    headers = (("Content-Encoding", "gzip"),) if gzipped else ()
    content_type = OPEN_METRICS_TYPE if open_metrics else CONTENT_TYPE
    return Response(200, body, content_type, (*headers, ("Vary", "Accept, Accept-Encoding")))


def _try_again(why: bytes) -> Response:
    return Response(503, why, headers=(("Retry-After", "1"),))


def _text(status: int, text: str) -> Response:
    return Response(status, f"{text}\n".encode("utf-8", "backslashreplace"))
