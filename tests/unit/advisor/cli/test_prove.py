"""`prove` on the command line: what does not fit is named, and nothing is recorded."""

import pytest

from tests.support.program import run


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "add --yes"), (["--seconds", "0.5", "--yes"], "--seconds is from 1 to 3600"), (["--budget", "0", "--yes"], "--budget more than 0"),
        (["--copy-limit", "much", "--yes"], "is not a size"), (["--yes", "--socket", "/nonexistent/s"], "/nonexistent/s"), (["--yes", "--format", "xml"], "xml"),
        (["--from", "tea"], "tea"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(words: list[str], says: str) -> None:
    done = run("prove", *words)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
