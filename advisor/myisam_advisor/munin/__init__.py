"""What the munin plugin asks for, and its installation. The plugin itself is plugins/munin/myisam_advisor."""
