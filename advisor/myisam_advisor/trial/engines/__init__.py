"""Tables on another engine: converted, measured and killed on private servers."""
