"""The OCI image: what is in it, and how it is written."""
