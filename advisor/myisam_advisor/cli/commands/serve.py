"""`myisam-advisor serve`: its options, which are named as those of Prometheus's exporters are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from myisam_advisor.cli.options import Command, Duration, ServerOptions, SiteOptions, server_options, site_options
from myisam_exporter.errors import UserError

# Prometheus waits 10 s by default: a query must have failed before that.
SERVE_TIMEOUT_SECONDS = 5


def _daemon_options(command: Command) -> Command:
    """The daemon's own options; their names are those of Prometheus's exporters."""
    options = (
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
            help="UNIX socket to serve on as well, without TLS or login: its permissions say who may ask (the munin plugin).",
        ),
        click.option("--web.socket-group", "socket_group", metavar="GROUP", help="Group of that socket: munin."),
        click.option(
            "--web.telemetry-path", "telemetry_path", default="/metrics", show_default=True, help="Path of the metrics."
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
            help="Name or address by which it is asked over plain HTTP, besides localhost, the host's name and the address asked; "
            "may be given again. A page from elsewhere could otherwise read it (DNS rebinding).",
        ),
        click.option(
            "--web.enable-lifecycle",
            "enable_lifecycle",
            is_flag=True,
            help="Let POST /-/reload come from anybody who may ask, not from logins and root alone.",
        ),
        click.option(
            "--web.max-requests",
            "maximum_scrapes",
            type=click.IntRange(1, 1000),
            default=40,
            show_default=True,
            help="Scrapes at once.",
        ),
        click.option(
            "--web.disable-exporter-metrics", "no_process_metrics", is_flag=True, help="Without process_* of our own."
        ),
        click.option(
            "--config.targets",
            "targets_file",
            type=click.Path(path_type=Path),
            help="YAML list of the servers that /probe may reach.",
        ),
        click.option("--no-own-server", is_flag=True, help="Only serve /probe; watch no server of our own."),
        click.option(
            "--collect.interval",
            "background_seconds",
            type=Duration(),
            default="60s",
            show_default=True,
            help="Between two looks at tables, page cache and advice.",
        ),
        click.option(
            "--collect.tables.limit",
            "tables_limit",
            type=click.IntRange(0),
            default=100,
            show_default=True,
            help="Tables with series of their own; the others are summed.",
        ),
        click.option(
            "--collect.tables.include",
            "tables_include",
            metavar="REGEX",
            help="Only tables whose schema.table it matches.",
        ),
        click.option("--collect.tables.exclude", "tables_exclude", metavar="REGEX", help="Without these tables."),
        click.option(
            "--collect.page-cache.precise",
            "precise_page_cache",
            is_flag=True,
            help="Count page-cache lookups by kernel tracepoints (CAP_PERFMON or root).",
        ),
        click.option(
            "--history", "history_file", type=click.Path(path_type=Path), help="File of the history [default: by user]."
        ),
        click.option("--no-history", is_flag=True, help="Keep no history."),
        click.option(
            "--history-days",
            type=click.FloatRange(0.01, 3650),
            default=7,
            show_default=True,
            help="How long it reaches back.",
        ),
        click.option(
            "--history-megabytes", type=click.IntRange(1), default=256, show_default=True, help="How large it may grow."
        ),
        click.option(
            "--log.level",
            "log_level",
            type=click.Choice(["debug", "info", "warning", "error"]),
            default="info",
            show_default=True,
            help="What to log.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return server_options(command, SERVE_TIMEOUT_SECONDS)


@click.command()
@_daemon_options
@site_options
def serve(server: ServerOptions, site: SiteOptions, **options: Any) -> None:
    """Watch a server and serve metrics, probes of others, and advice; keep a history."""
    import logging

    from myisam_advisor.cli.ending import OneLineErrors, log_what_threads_raise
    from myisam_advisor.daemon.serve import ServeOptions
    from myisam_advisor.daemon.serve import serve as run
    from myisam_advisor.history.paths import history_path
    from myisam_exporter.watching.options import WatchOptions

    if not options["background_seconds"] >= 1:
        raise UserError("--collect.interval must be 1s or more.")
    if not options["telemetry_path"].startswith("/"):
        raise UserError("--web.telemetry-path must begin with a slash.")
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(OneLineErrors("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=options["log_level"].upper(), handlers=[lines])
    log_what_threads_raise()
    run(
        ServeOptions(
            listen_addresses=options["listen_addresses"],
            watch=WatchOptions(
                server.timeout_seconds,
                options["background_seconds"],
                server.page_cache_seconds,
                server.key_caches,
            ),
            resolve=server.target,
            load_site=site.load,
            defaults_files=server.defaults_files,
            allow_cleartext=server.allow_cleartext,
            unix_socket=options["unix_socket"],
            socket_group=options["socket_group"],
            telemetry_path=options["telemetry_path"],
            web_config_file=options["web_config_file"],
            allowed_hosts=options["allowed_hosts"],
            enable_lifecycle=options["enable_lifecycle"],
            targets_file=options["targets_file"],
            maximum_scrapes=options["maximum_scrapes"],
            own_process_metrics=not options["no_process_metrics"],
            watch_own=not options["no_own_server"],
            tables_limit=options["tables_limit"],
            tables_include=options["tables_include"],
            tables_exclude=options["tables_exclude"],
            history_file=None if options["no_history"] else options["history_file"] or history_path(),
            history_days=options["history_days"],
            history_megabytes=options["history_megabytes"],
            precise_page_cache=options["precise_page_cache"],
        )
    )
