"""What a fact is: how one is declared, and what stands where it is not known."""
