"""The version, alone in its file: reading it imports nothing."""

__version__ = "0.2.0"
