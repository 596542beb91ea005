"""The login file of mysql_config_editor, ~/.mylogin.cnf: an option file of which each line is encrypted, by a key that the file holds.

That keeps the password from eyes that pass, not from who may read the file. Source: manual, "mysql_config_editor"; mysys/my_default.cc
(decrypt, check_file_permissions): four bytes, a key of twenty that is folded to sixteen, then lines, each as its length and AES-128-ECB.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

from myisam_exporter.errors import UserError
from myisam_exporter.files.file_state import remedy_of_opening

UNUSED_BYTES, KEY_BYTES, BLOCK_BYTES = 4, 20, 16
MAXIMUM_BYTES = 1 << 20
MAXIMUM_LINE_BYTES = 4096
# Whoever may read it has the password; the server's own programs refuse such a file too.
REFUSED_MODES = stat.S_IXUSR | stat.S_IRWXG | stat.S_IRWXO
_LENGTH = struct.Struct("<I")


class LoginFileError(UserError):
    """The login file cannot be used."""


def read_login_file(path: Path) -> str:
    """The file's lines as an option file has them. Raises LoginFileError, and FileNotFoundError where there is none."""
    data = _content(path)
    if not UNUSED_BYTES + KEY_BYTES <= len(data) <= MAXIMUM_BYTES:
        raise _damaged(path)
    key = bytearray(BLOCK_BYTES)
    for position, byte in enumerate(data[UNUSED_BYTES : UNUSED_BYTES + KEY_BYTES]):
        key[position % BLOCK_BYTES] ^= byte
    return b"".join(_lines(path, data, bytes(key))).decode("utf-8", "surrogateescape")


def _content(path: Path) -> bytes:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise LoginFileError(f"the login file {path} is not a file: name another (MYSQL_TEST_LOGIN_FILE).")
            if mode & REFUSED_MODES:
                raise LoginFileError(f"others may read the login file {path}, so it is not used: chmod 600 {path}")
            return file.read(MAXIMUM_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as error:
        raise LoginFileError(
            f"cannot read the login file {path}: {error.strerror}. {remedy_of_opening(error)}"
        ) from None


def _lines(path: Path, data: bytes, key: bytes) -> Iterator[bytes]:
    position = UNUSED_BYTES + KEY_BYTES
    while position < len(data):
        if position + _LENGTH.size > len(data):
            raise _damaged(path)
        (length,) = _LENGTH.unpack_from(data, position)
        position += _LENGTH.size
        encrypted = data[position : position + length]
        if not 0 < length <= MAXIMUM_LINE_BYTES or length % BLOCK_BYTES or len(encrypted) < length:
            raise _damaged(path)
        yield _without_padding(path, _decrypted(encrypted, key))
        position += length


def _decrypted(encrypted: bytes, key: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise LoginFileError(
            "login paths need the Python library cryptography: install it (python3-cryptography on Debian, or pip install cryptography), "
            "or put user and password into an option file (--defaults-extra-file)."
        ) from None
    decryptor = Cipher(algorithms.AES(key), modes.ECB()).decryptor()  # noqa: S305 - MySQL's format, and no secret is kept by it
    return decryptor.update(encrypted) + decryptor.finalize()


def _without_padding(path: Path, text: bytes) -> bytes:
    """A line without what fills its last block (PKCS #7)."""
    count = text[-1]
    if not 0 < count <= BLOCK_BYTES or text[-count:] != bytes([count]) * count:
        raise _damaged(path)
    return text[:-count]


def _damaged(path: Path) -> LoginFileError:
    return LoginFileError(f"{path} is not a login file, or a damaged one: make it anew with mysql_config_editor.")
