"""What a finding would have a person do: typed commands, what they do to a server, and the gate that they pass."""
