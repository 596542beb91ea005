"""Where a container's program lies that an upgrade put another in the place of: in the layer below, of which the process still runs it.

A container's files are layers (overlayfs). What an upgrade touches is copied into the uppermost one, and from then on the kernel takes the process's
link to its program for that copy, in which nothing runs: a probe would stand in a file that nobody executes.

Sources: proc(5), mountinfo; Documentation/filesystems/overlayfs.rst.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from myisam_exporter.outside.bounded_reading import KERNEL_TEXT_BYTES, first_bytes

DELETED = b" (deleted)"
_ESCAPED = re.compile(rb"\\([0-7]{3})")
_LAYER_OPTIONS = (b"lowerdir", b"lowerdir+")
_MAXIMUM_LAYERS = 256


def named_below(binary: str, process: Path) -> Iterator[str]:
    """Files of this name and number in the layers of the mount that the program was started from.

    Args:
        binary: the kernel's link to the program.
        process: its folder in /proc.
    """
    try:
        name = os.readlink(os.fsencode(binary)).removesuffix(DELETED)  # noqa: PTH115 - in bytes: no name is too odd
        status = Path(binary).stat()
        mounts = first_bytes(process / "mountinfo", KERNEL_TEXT_BYTES).splitlines()
    except OSError:
        return
    device = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}".encode("ascii")
    for words in map(bytes.split, mounts):
        # Options of the mount, then a dash, the kind, the source, and the options of all mounts of that one.
        if len(words) < 10 or words[2] != device or words[-3] != b"overlay" or words[-4] != b"-":
            continue
        root, point = (_plain(word).rstrip(b"/") for word in words[3:5])
        if name.startswith(point + b"/"):
            inner = root + name[len(point) :]
            yield from (file for layer in _layers(words[-1]) if (file := _same(layer + inner, status.st_ino)))


def _layers(options: bytes) -> list[bytes]:
    """The layers of an overlay's options: names of the machine's, whatever the container sees."""
    found: list[bytes] = []
    for option in options.split(b","):
        key, _, value = option.partition(b"=")
        if key in _LAYER_OPTIONS:
            found += value.split(b":")
    return [_plain(layer) for layer in found if layer.startswith(b"/")][:_MAXIMUM_LAYERS]


def _same(path: bytes, number: int) -> str:
    """The name, where a file with this number has it."""
    try:
        status = os.lstat(path)
    except OSError:
        return ""
    return os.fsdecode(path) if stat.S_ISREG(status.st_mode) and status.st_ino == number else ""


def _plain(word: bytes) -> bytes:
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), word)
