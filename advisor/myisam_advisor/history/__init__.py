"""What a daemon recorded: written by it, read by commands."""
