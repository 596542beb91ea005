"""The facts as SQL."""
