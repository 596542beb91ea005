"""What a remedy runs, as values: what a statement sets, on what, when it may run, what it locks and logs, and what takes it back."""
