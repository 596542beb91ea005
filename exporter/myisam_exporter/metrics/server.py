"""Who the server is, and since when."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.server import SERVER, ServerIdentity
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.metrics.base import Group, Metric, Scene, Value


class ServerMetrics(Group[ServerIdentity]):
    """Identity and uptime."""

    samples = (SERVER,)
    metrics = (
        Metric("server_info", "gauge", "Always 1; the labels say what server this is.", ("flavour", "version")),
        Metric("server_uptime_seconds", "gauge", "Seconds since the server started: Uptime."),
        Metric("server_files_visible", "gauge", "1 when the server's own data directory is readable here, else 0."),
    )

    def values(self, pair: Pair[ServerIdentity], scene: Scene) -> Iterable[Value]:
        """From the server's sample."""
        server = pair.after
        yield Value("server_info", 1, (server.flavour, server.version))
        yield Value("server_uptime_seconds", server.uptime_seconds)
        yield Value("server_files_visible", int(not isinstance(server.location.data_directory, Unknown)))


GROUP = ServerMetrics()
