"""`myisam-advisor serve`: its options, which are named as those of Prometheus's exporters are."""

from __future__ import annotations

from pathlib import Path

import click

from myisam_advisor.cli.described import WATCH, Described
from myisam_advisor.cli.number_types import Number, WholeNumber
from myisam_advisor.cli.options import (
    Command,
    Duration,
    ServerOptions,
    SiteOptions,
    gathered,
    server_options,
    site_options,
    with_options,
)
from myisam_advisor.daemon.options import CollectOptions, HistoryOptions, ServeOptions, WebOptions
from myisam_exporter.errors import UserError

# Prometheus waits 10 s by default: a query must have failed before that.
SERVE_TIMEOUT_SECONDS = 5


# The daemon's own options; their names are those of Prometheus's exporters.
_WEB = (
    click.option(
        "--web.listen-address",
        "listen_addresses",
        multiple=True,
        default=["127.0.0.1:9942"],
        show_default=True,
        metavar="HOST:PORT",
        help="Address to serve on; may be given again.",
    ),
    click.option(
        "--web.socket",
        "unix_socket",
        type=click.Path(path_type=Path),
        help="UNIX socket to serve on as well, without TLS or login: its permissions decide who may connect (the munin plugin).",
    ),
    click.option(
        "--web.socket-group", "socket_group", metavar="GROUP", help="Group that owns that socket, such as munin."
    ),
    click.option(
        "--web.telemetry-path", "telemetry_path", default="/metrics", show_default=True, help="Path of the metrics."
    ),
    click.option(
        "--web.external-url",
        "external_url",
        metavar="URL",
        help="URL under which clients reach the pages, such as a proxy's; links in alerts and dashboards use it "
        "[default: the address that a scrape asks].",
    ),
    click.option(
        "--web.route-prefix",
        "route_prefix",
        metavar="PATH",
        help="Path below which everything is served [default: that of --web.external-url]; / if a proxy removes the path.",
    ),
    click.option(
        "--web.config.file",
        "web_config_file",
        type=click.Path(path_type=Path),
        help="TLS and basic authentication, in exporter-toolkit's format.",
    ),
    click.option(
        "--web.allowed-host",
        "allowed_hosts",
        multiple=True,
        metavar="NAME",
        help="Further host name that requests over plain HTTP may use, besides localhost, the host's own name and the address asked; "
        "may be given again. Other names are refused, so that no foreign page can read this one (DNS rebinding).",
    ),
    click.option(
        "--web.enable-lifecycle",
        "enable_lifecycle",
        is_flag=True,
        help="Accept POST /-/reload from anyone who can connect, not only from logged-in users and root.",
    ),
    click.option(
        "--web.max-requests",
        "maximum_scrapes",
        type=WholeNumber(1, 1000),
        default=40,
        show_default=True,
        help="Concurrent scrapes.",
    ),
    click.option(
        "--web.disable-exporter-metrics",
        "no_process_metrics",
        is_flag=True,
        help="Omit the daemon's own process_* metrics.",
    ),
)
_TARGETS = (
    click.option(
        "--config.targets",
        "targets_file",
        type=click.Path(path_type=Path),
        help="YAML list of the servers that /probe may reach.",
    ),
    click.option("--no-own-server", is_flag=True, help="Serve only /probe, and watch no server."),
)
_COLLECT = (
    click.option(
        "--collect.interval",
        "background_seconds",
        type=Duration(),
        default="60s",
        show_default=True,
        help="Time between two looks at tables and page cache, each followed by advice.",
    ),
    click.option(
        "--collect.tables.limit",
        "tables_limit",
        type=WholeNumber(0),
        default=100,
        show_default=True,
        help="Number of tables with their own time series; the rest are summed.",
    ),
    click.option(
        "--collect.tables.include",
        "tables_include",
        metavar="REGEX",
        help="Only export tables whose schema.table matches.",
    ),
    click.option("--collect.tables.exclude", "tables_exclude", metavar="REGEX", help="Leave these tables out."),
    click.option(
        "--collect.page-cache.precise",
        "precise_page_cache",
        is_flag=True,
        help="Count page-cache lookups by kernel tracepoints (CAP_PERFMON or root).",
    ),
)
_HISTORY = (
    click.option(
        "--history",
        "history_file",
        type=click.Path(path_type=Path),
        help="History file [default: history.sqlite in /var/lib/myisam-advisor (root, the service) or ~/.local/state/myisam-advisor].",
    ),
    click.option("--no-history", is_flag=True, help="Do not keep a history."),
    click.option(
        "--history-days",
        type=Number(0.01, 3650),
        default=7,
        show_default=True,
        help="Days to keep the history.",
    ),
    click.option(
        "--history-megabytes",
        type=WholeNumber(1),
        default=256,
        show_default=True,
        help="Maximum size of the history, in MiB.",
    ),
)
_LOG = (
    click.option(
        "--log.level",
        "log_level",
        type=click.Choice(["debug", "info", "warn", "warning", "error"]),
        default="info",
        show_default=True,
        help="Least severe level to log.",
    ),
    click.option(
        "--log.format",
        "log_format",
        type=click.Choice(["text", "logfmt", "json"]),
        default="text",
        show_default=True,
        help="Log format.",
    ),
)


def _daemon_options(command: Command) -> Command:
    for kind, parameter in ((WebOptions, "web"), (CollectOptions, "collect"), (HistoryOptions, "history")):
        command = gathered(kind, parameter)(command)
    return server_options(with_options(command, (*_WEB, *_TARGETS, *_COLLECT, *_HISTORY, *_LOG)), SERVE_TIMEOUT_SECONDS)


@click.command(
    cls=Described,
    task=WATCH,
    examples=(
        ("myisam-advisor serve", "Metrics, the page and advice at http://127.0.0.1:9942/."),
        (
            "myisam-advisor serve --web.listen-address :9942 --web.config.file web.yaml",
            "On all addresses, with TLS and logins.",
        ),
    ),
)
@_daemon_options
@site_options
def serve(
    server: ServerOptions,
    site: SiteOptions,
    web: WebOptions,
    collect: CollectOptions,
    history: HistoryOptions,
    log_level: str,
    log_format: str,
) -> None:
    """Watch a server and serve its metrics and advice, probe others on request, and keep a history."""
    from myisam_advisor.cli.log_lines import begin_log, log_what_threads_raise
    from myisam_advisor.daemon.serve import serve as run
    from myisam_exporter.watching.options import WatchOptions

    if history.no_history and history.history_file is not None:
        raise click.UsageError("--no-history keeps none: leave out --history, or --no-history.")
    if web.socket_group is not None and web.unix_socket is None:
        raise click.UsageError("--web.socket-group is the group of --web.socket: give both.")
    if not collect.background_seconds >= 1:
        raise UserError("--collect.interval must be 1s or more.")
    if not web.telemetry_path.startswith("/"):
        raise UserError("--web.telemetry-path must begin with a slash.")
    begin_log(log_level, log_format)
    log_what_threads_raise()
    server.own_password.typed()
    run(
        ServeOptions(
            web=web,
            collect=collect,
            history=history,
            watch=WatchOptions(
                server.timeout_seconds,
                collect.background_seconds,
                server.page_cache_seconds,
                server.key_caches,
            ),
            resolve=server.target,
            load_site=site.load,
            defaults_files=server.defaults_files,
            allow_cleartext=server.allow_cleartext,
            further=server.further(),
        )
    )
