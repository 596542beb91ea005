"""Statements of a running server as the kernel sees them: a probe at the function that every statement goes through, no setting changed."""
