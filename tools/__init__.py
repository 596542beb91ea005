"""What builds the documentation and the man pages; not shipped."""
