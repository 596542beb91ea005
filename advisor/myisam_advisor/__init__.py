"""Judges the facts that myisam_exporter gathers, and says what to change."""
