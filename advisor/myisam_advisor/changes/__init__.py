"""From findings to one change script that a person reviews: steps in a safe order, what each costs, and the way back."""
