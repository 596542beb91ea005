"""Leaving MyISAM: what another engine makes of a table, from its files alone."""
