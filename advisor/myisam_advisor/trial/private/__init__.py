"""Private servers: temporary, unprivileged, gone with their maker."""
