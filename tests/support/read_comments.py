"""A script as somebody reads it: the words of its comments, wherever their lines end."""


def read(script: str) -> str:
    """All lines in one, without the marks of comments."""
    return " ".join(" ".join(line.removeprefix("-- ").removeprefix("--") for line in script.splitlines()).split())
