"""Text in and out: numbers and names in sentences, files that people write, files that are replaced whole."""
