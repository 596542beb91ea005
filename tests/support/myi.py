"""Headers of .MYI files, as MyISAM writes them."""

import struct

POINTERS = 196  # how many bytes one to a row takes, and then one to an index page

def header(options: int = 0, changed: int = 0, keys: tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...] = (), rows: int = 3, algorithm: int = 1) -> bytes:
    """A header as mi_create writes it, with the fields that matter here; all indexes are of one algorithm."""
    state = struct.pack(
        ">4s7H5BxHBB9QQ4I",
        b"\xfe\xfe\x07\x01", options, 0, 176, 100, 0, 0, 0, len(keys), 0, 8, 1, 0, 1, changed, 255,
        rows, 0, rows, 0xFFFF_FFFF_FFFF_FFFF, 2048, 300, 0, 0, 7, 0, 0, 0, 0, 42,
    )  # fmt: skip
    base_position = len(state)
    base = struct.pack(">5Q8I4B", 0, 0, 0, 0, 0, 0, 20, 20, 20, 20, 20, 2, 0, 6, 4, len(keys), 0) + bytes(11)
    base = base.ljust(100, b"\0")
    body = b""
    for flag, parts in keys:
        body += struct.pack(">BBHHHHH", len(parts), algorithm, flag, 1024, 10, 10, 47)
        for kind, part_flag, length in parts:
            body += struct.pack(">6BHHII", kind, 8, 0, 0, 0, 0, part_flag, length, 0, 0)
    whole = bytearray(state + base + body)
    whole[6:8] = len(whole).to_bytes(2, "big")
    whole[12:14] = base_position.to_bytes(2, "big")
    return bytes(whole)


def of_length(data_bytes: int, index_bytes: int = 2048) -> bytes:
    """A header that tells of files of these lengths, which its pointers reach."""
    changed = bytearray(beyond_its_pointers(data_bytes, index_bytes))
    changed[POINTERS : POINTERS + 2] = 8, 7
    return bytes(changed)


def beyond_its_pointers(data_bytes: int, index_bytes: int) -> bytes:
    """A header that tells of files of these lengths, whatever its pointers of 6 and 4 bytes reach."""
    changed = bytearray(header())
    changed[60:76] = struct.pack(">QQ", index_bytes, data_bytes)
    return bytes(changed)
