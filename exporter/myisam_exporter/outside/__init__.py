"""What comes from outside, through one bounded door for each kind: files, documents, numbers in text, the time."""
