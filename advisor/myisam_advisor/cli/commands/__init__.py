"""One file a command, found by its name."""
