"""What was proved on copies of the user's own tables: kept, found again, and held against the server of today."""
