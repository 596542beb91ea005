"""The rulebook as data: advice/*.yaml and schema.json (shipped as myisam_advisor.rulebook)."""
