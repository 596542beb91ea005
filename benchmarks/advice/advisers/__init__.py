"""The advisers, each a file of its own with `ADVISER`."""
