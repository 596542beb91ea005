"""Copies of tables under a newer version of the server: what it says of them, and what it refuses."""
