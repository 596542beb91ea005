"""The rules in force at a site."""
