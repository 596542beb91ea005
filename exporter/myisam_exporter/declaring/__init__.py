"""How classes of values are declared: what every other room does with its own."""
