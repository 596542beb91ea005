"""The tables that experiments work on: made up, or copied from the user's own."""
