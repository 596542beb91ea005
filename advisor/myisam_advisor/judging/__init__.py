"""Facts and rules in, findings out."""
