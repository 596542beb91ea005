"""Metrics, one file a group; found by this folder."""
