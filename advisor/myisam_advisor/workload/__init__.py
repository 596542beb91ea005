"""Workloads: the statements of a running server or of its logs, as a file of their own; what kind each is, and which tables it touches."""
