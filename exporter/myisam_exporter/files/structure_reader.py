"""The structures of a database's tables, read from its .frm and .sdi files; no table is opened for it.

A file that cannot be read, or says nothing that could be right, is told of with its reason, and the others are read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files.file_names import OLD_NAME_PREFIX, decode_table
from myisam_exporter.files.file_state import refuse_exhaustion
from myisam_exporter.files.frm_definition import FrmError
from myisam_exporter.files.frm_structure import parse_structure
from myisam_exporter.files.sdi_structure import MAXIMUM_FILE_BYTES, SdiError, parse_sdi
from myisam_exporter.files.structure import Structure
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.outside.numbers import whole_number

DEFINITION, SERIALISED = ".frm", ".sdi"
VIEW = b"TYPE=VIEW"


@dataclass(frozen=True, slots=True)
class FoundStructure:
    """One table or view, or a file that should tell of one. Without a structure, `problem` says why there is none."""

    table_name: str
    structure: Structure | None
    problem: str = ""
    is_view: bool = False


def read_structures(path: str, owner: int | None, wanted: Callable[[str], bool]) -> list[FoundStructure]:
    """Those of one database whose tables' names are `wanted`. Raises OSError where the directory cannot be read."""
    files = ForeignFiles(owner)
    directory = files.open_directory(path)
    try:
        listed = sorted(os.listdir(directory))
        found = [(file, one) for file in listed if (one := _from_file(files, directory, file, wanted)) is not None]
    finally:
        os.close(directory)
    return _one_of_each(found)


def _one_of_each(found: Sequence[tuple[str, FoundStructure]]) -> list[FoundStructure]:
    """Each table once: a copy of a .sdi file names the table that it was copied from, and the server looks at neither."""
    files: dict[str, str] = {}
    kept: dict[str, FoundStructure] = {}
    for file, one in found:
        name = one.table_name
        if name not in files or _likeness(file, name) > _likeness(files[name], name):
            files[name], kept[name] = file, one
    return list(kept.values())


def _likeness(file: str, table: str) -> tuple[bool, int]:
    """How likely a .sdi file is the table's own: its name begins as the table's, and then has a number that grows."""
    stem, _, number = file.removesuffix(SERIALISED).rpartition("_")
    named = decode_table(stem)
    return named is not None and table.startswith(named[0].removeprefix(OLD_NAME_PREFIX)), whole_number(number) or 0


def _from_file(files: ForeignFiles, directory: int, file: str, wanted: Callable[[str], bool]) -> FoundStructure | None:
    if file.endswith(DEFINITION):
        named = decode_table(file.removesuffix(DEFINITION))
        if named is None or named[1] is not None or not wanted(named[0]):
            return None
        return _read(files, directory, file, named[0], _of_frm)
    if file.endswith(SERIALISED):
        # The name in the file is the table's; that of the file is shortened, and has a number.
        named = decode_table(file.removesuffix(SERIALISED).rpartition("_")[0])
        found = _read(files, directory, file, named[0] if named else file, _of_sdi)
        return found if wanted(found.table_name) else None
    return None


def _read(
    files: ForeignFiles, directory: int, file: str, name: str, parse: Callable[[int, str], FoundStructure]
) -> FoundStructure:
    try:
        descriptor = files.open(file, directory)
    except OSError as error:
        refuse_exhaustion(error)
        return FoundStructure(name, None, f"its {file[-4:]} file cannot be read ({error.strerror})")
    try:
        return parse(descriptor, name)
    except (FrmError, SdiError) as error:
        return FoundStructure(name, None, f"its {file[-4:]} file is damaged: {error}")
    except OSError as error:
        refuse_exhaustion(error)
        return FoundStructure(name, None, f"its {file[-4:]} file cannot be read ({error.strerror})")
    finally:
        os.close(descriptor)


def _of_frm(descriptor: int, name: str) -> FoundStructure:
    if os.pread(descriptor, len(VIEW), 0) == VIEW:
        return FoundStructure(name, None, "it is a view", is_view=True)
    return FoundStructure(name, parse_structure(lambda position, length: os.pread(descriptor, length, position)))


def _of_sdi(descriptor: int, name: str) -> FoundStructure:
    data = os.pread(descriptor, MAXIMUM_FILE_BYTES + 1, 0)
    if len(data) > MAXIMUM_FILE_BYTES:
        raise SdiError(f"it is larger than {MAXIMUM_FILE_BYTES} bytes")
    try:
        _, table, structure = parse_sdi(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise SdiError("it is not text") from None
    return FoundStructure(table, structure)
