"""The munin plugin, as it ships in the wheel: `myisam-advisor munin install` links to it."""
