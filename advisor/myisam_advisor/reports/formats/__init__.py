"""One file a form of the report, found by its name."""
