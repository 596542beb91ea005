"""`myisam-snapshot`: one file for hosts with an old Python, made of this project's own modules (docs/decisions/030-snapshots-of-old-hosts.md)."""
