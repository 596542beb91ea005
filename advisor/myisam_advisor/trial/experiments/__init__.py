"""One file an experiment, each a published measurement made runnable."""
