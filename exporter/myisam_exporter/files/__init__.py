"""MyISAM on disk: headers, names, directories. Nothing is asked of the server."""
