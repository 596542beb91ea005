"""Which kinds of statements a running server answers, for as long as a command watches it. Values are in none of it, and nothing is kept."""
