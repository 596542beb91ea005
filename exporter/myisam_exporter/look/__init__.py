"""All sources at one instant; of two such instants, facts."""
