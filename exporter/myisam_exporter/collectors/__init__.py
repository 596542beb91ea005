"""One file per source. A module here with an object named COLLECTOR is a collector; nothing else registers it."""
