"""What of a data directory is not looked into, or could not be read, and why."""

from __future__ import annotations

from typing import NamedTuple

from myisam_exporter.files.file_state import refuse_exhaustion
from myisam_exporter.outside.foreign_files import ForeignFileError, ForeignFiles, OtherOwnerError

NOT_READ = "it cannot be read"  # said where reading failed: nothing is known of what is in it
SIZE_NOT_READ = "its size cannot be read"


class LeftOut(NamedTuple):
    """What lies in a data directory and is not looked into, and why; `is_table` where it may be a table of the server's all the same."""

    name: str
    why: str
    is_table: bool
    has_failed: bool = False  # the disk did, or what serves it: no right that we lack, and no damage of a table


def left_out(name: str, error: ForeignFileError) -> LeftOut:
    """Another user's file may be a table that the server reads; what is no file never is."""
    return LeftOut(name, str(error.strerror), isinstance(error, OtherOwnerError))


def failed(name: str, error: OSError, what: str = NOT_READ) -> LeftOut:
    """What could not be read though we may: nothing is known of it."""
    return LeftOut(name, f"{what}: {error.strerror}", is_table=True, has_failed=True)


def size_of(files: ForeignFiles, file: str, directory: int | None) -> int:
    """0 where it is gone since the listing, not the server's, or in a directory that we may not enter. Raises OSError where the disk fails."""
    try:
        return files.status(file, directory).st_size
    except (FileNotFoundError, ForeignFileError, PermissionError):
        return 0
    except OSError as error:
        refuse_exhaustion(error)
        raise
