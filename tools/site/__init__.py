"""The documents as a site of plain files: `script/docs` (docs/decisions/032)."""
