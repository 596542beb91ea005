"""A judgement, for somebody."""
