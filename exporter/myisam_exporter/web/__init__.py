"""HTTP: who may ask, and what is answered."""
