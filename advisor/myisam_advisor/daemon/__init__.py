"""The daemon: what it keeps, what it adds to the exporter's metrics, and how it runs."""
