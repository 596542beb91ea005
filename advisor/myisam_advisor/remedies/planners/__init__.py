"""Planners: `plan(row, context)` for what a rule's query cannot express. A module here is a planner; nothing registers it."""
