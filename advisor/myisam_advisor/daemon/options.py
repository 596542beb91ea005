"""What `serve` is asked for. The command line gathers its options into these by their fields' names: it imports nothing else of the daemon to list them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_advisor.catalogue.site import Site
    from myisam_exporter.server.option_files import Further
    from myisam_exporter.server.target import Target
    from myisam_exporter.watching.options import WatchOptions


@dataclass(frozen=True, slots=True)
class WebOptions:
    """Where to serve, for whom, and how much at once."""

    listen_addresses: tuple[str, ...]
    unix_socket: Path | None
    socket_group: str | None
    telemetry_path: str
    external_url: str | None
    route_prefix: str | None
    web_config_file: Path | None
    allowed_hosts: tuple[str, ...]
    enable_lifecycle: bool
    maximum_scrapes: int
    no_process_metrics: bool


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """What is watched, how often, and which tables get series of their own."""

    targets_file: Path | None
    no_own_server: bool
    background_seconds: float
    tables_limit: int
    tables_include: str | None
    tables_exclude: str | None
    precise_page_cache: bool


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """Whether a history is kept, where (None: at the usual place), and how much of it."""

    history_file: Path | None
    no_history: bool
    history_days: float
    history_megabytes: int


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """All of it. `resolve` finds the server that the options name, `load_site` the rules in force: both anew at each call, and both raise UserError."""

    web: WebOptions
    collect: CollectOptions
    history: HistoryOptions
    watch: WatchOptions
    resolve: Callable[[], Target]
    load_site: Callable[[], Site]
    defaults_files: Sequence[Path]
    allow_cleartext: bool
    further: Further
