"""The live screen: looks again and again, and shows a person what happens now."""
