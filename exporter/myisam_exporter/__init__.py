"""Gathers facts about a MySQL or MariaDB server with MyISAM tables, and exposes them."""
