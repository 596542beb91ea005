"""How often advice is right: faults provoked, every adviser asked, every piece of advice measured. Run by `script/bench advice`; not shipped."""
