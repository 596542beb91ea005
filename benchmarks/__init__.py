"""Programs that measure the project beside its peers. Run by script/bench; not shipped."""
