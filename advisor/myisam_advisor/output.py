"""A report in a file that others read at any moment: it appears whole, or the file stays as it was."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from myisam_exporter.errors import UserError

# node_exporter runs as another user.
READABLE = 0o644


@contextlib.contextmanager
def written_whole(path: Path | None) -> Iterator[None]:
    """What is printed within replaces this file at the end; without a path it goes to standard output.

    Raises UserError when the file cannot be written.
    """
    if path is None:
        yield
        return
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            with contextlib.redirect_stdout(file):
                yield
            file.flush()
            os.fchmod(file.fileno(), READABLE)
        Path(temporary).replace(path)
        temporary = None
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}. Give another --output.") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
