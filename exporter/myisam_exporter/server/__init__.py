"""The server: where it is, over which connection it is asked, and as whom."""
