"""The status page: a look at one server, for a person at a browser."""
