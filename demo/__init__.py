"""The demonstration. Run by script/demo; not shipped."""
