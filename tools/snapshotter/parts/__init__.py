"""What `myisam-snapshot` has instead of, or beside, the modules that it takes over; lowered like those, so they may be written in today's Python."""
