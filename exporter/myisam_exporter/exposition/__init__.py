"""Metrics as Prometheus text."""
