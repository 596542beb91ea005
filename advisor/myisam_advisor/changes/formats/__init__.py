"""One file a form of the plan, found by its name."""
