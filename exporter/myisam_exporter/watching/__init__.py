"""One target, all targets, and the beat on which they are looked at."""
