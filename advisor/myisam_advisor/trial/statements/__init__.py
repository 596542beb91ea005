"""The user's own statements, sent to the private server as they were recorded."""
