"""Login files as mysql_config_editor writes them."""

import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

KEY = bytes(range(20))


def encrypted(text: str) -> bytes:
    """As my_default.cc writes it."""
    key = bytearray(16)
    for position, byte in enumerate(KEY):
        key[position % 16] ^= byte
    parts = [b"\0" * 4, KEY]
    for line in text.splitlines(keepends=True):
        count = 16 - len(line.encode()) % 16
        encryptor = Cipher(algorithms.AES(bytes(key)), modes.ECB()).encryptor()
        cipher = encryptor.update(line.encode() + bytes([count]) * count) + encryptor.finalize()
        parts += [struct.pack("<I", len(cipher)), cipher]
    return b"".join(parts)
