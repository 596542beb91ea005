"""Files that a rebuild makes beside a table, and leaves there where its server ends before it does.

Source: storage/myisam/mi_check.c: DATA_TMP_EXT, INDEX_TMP_EXT. A table whose files are links is rebuilt where they lead to
(share->data_file_name; MY_RESOLVE_SYMLINKS of the index file), where nobody looks here.
"""

from __future__ import annotations

from typing import NamedTuple

from myisam_exporter.files.file_names import FileNames
from myisam_exporter.files.file_state import refuse_exhaustion
from myisam_exporter.outside.foreign_files import ForeignFiles

REBUILD_ENDINGS = frozenset({".TMD", ".TMM"})


class RebuildFile(NamedTuple):
    """A file of a rebuild, and when it was written last; None for `file` of a table that is rebuilt in another directory."""

    schema_name: str
    table_name: str
    file: str | None
    modified: float | None


def found_rebuild_files(
    files: ForeignFiles, names: FileNames, directory: int, schema: str, file: str
) -> list[RebuildFile]:
    """The file as one of a rebuild; nothing where it is a temporary table's. Another's, or one that is gone by now, tells no time."""
    named = names.of(file[:-4])
    if named is None:
        return []
    try:
        modified = files.status(file, directory).st_mtime
    except OSError as error:
        refuse_exhaustion(error)
        modified = None
    return [RebuildFile(schema, named.table, file, modified)]
