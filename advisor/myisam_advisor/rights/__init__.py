"""The rights of the systemd service: what its user sees, what would let it see more, and giving and taking that."""
