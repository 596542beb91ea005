"""How many bytes a value of a column takes, from what a .frm says of it; and which bytes are no date of a calendar.

Source: sql/field.cc (make_field), strings/decimal.c (decimal_bin_size), sql-common/my_time.c of MySQL 5.6.
"""

from __future__ import annotations

import struct
from datetime import date

from myisam_exporter.files import structure as types

_FIXED = {
    types.TINY: 1, types.SHORT: 2, types.LONG: 4, types.FLOAT: 4, types.DOUBLE: 8, types.LONGLONG: 8, types.INT24: 3, types.YEAR: 1,
    types.TIMESTAMP: 4, types.DATE: 3, types.NEWDATE: 3, types.TIME: 3, types.DATETIME: 8,
}  # fmt: skip
# Bytes without a fraction of a second, and how long the text is without one.
_TIMES = {types.TIMESTAMP2: (4, 19), types.DATETIME2: (5, 19), types.TIME2: (3, 10)}
# MariaDB's own times with a fraction have the old types, and take more: sql/field.cc of MariaDB, Type_handler_..._common::hires_bytes.
_HIGH_RESOLUTION = {
    types.TIMESTAMP: (19, (4, 5, 5, 6, 6, 7, 7)), types.DATETIME: (19, (5, 6, 6, 7, 7, 7, 8)), types.TIME: (10, (3, 4, 4, 5, 5, 5, 6)),
}  # fmt: skip
_FLOAT = struct.Struct("<f")
_ANY_DECIMALS = 31  # sql/field.h, NOT_FIXED_DEC: as many as there are
_DIGITS_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
_DIGITS_A_GROUP = 9
# 0000-00-00 00:00:00 in the newer DATETIME, whose sign is its highest bit.
_ZERO_DATETIME = b"\x80\0\0\0\0"


def bytes_of(kind: int, length: int, decimals: int, *, unsigned: bool) -> int:
    """What the longest value takes, without the bytes of its length."""
    if kind in _HIGH_RESOLUTION and length > _HIGH_RESOLUTION[kind][0]:
        width, sizes = _HIGH_RESOLUTION[kind]
        return sizes[min(max(length - width - 1, 0), 6)]
    if kind in _TIMES:
        size, width = _TIMES[kind]
        return size + (max(length - width - 1, 0) + 1) // 2
    if kind == types.NEWDECIMAL:
        return decimal_bytes(length - (1 if decimals else 0) - (0 if unsigned else 1), decimals)
    if kind == types.BIT:
        return (length + 7) // 8
    if kind in types.BLOBS:
        return types.BLOB_BYTES.get(kind, types.LARGEST_BLOB)
    return _FIXED.get(kind, length)


def decimal_bytes(precision: int, decimals: int) -> int:
    """Of a DECIMAL of so many digits, so many of them behind the point."""
    return sum(
        count // _DIGITS_A_GROUP * 4 + _DIGITS_BYTES[count % _DIGITS_A_GROUP]
        for count in (max(precision - decimals, 0), decimals)
    )


def float_limit(kind: int, length: int, decimals: int) -> float:
    """The largest value of a FLOAT(M,D), where what four bytes make of it is larger, rounded to D digits, too; else 0 (sql/field.cc, truncate_double)."""
    if kind != types.FLOAT or decimals >= _ANY_DECIMALS or length < decimals:
        return 0.0
    limit = 10.0 ** (length - decimals) - 10.0**-decimals
    try:
        (kept,) = _FLOAT.unpack(_FLOAT.pack(limit))
    except OverflowError:
        return 0.0
    return limit if round(kept, decimals) > limit else 0.0


def is_beyond(limit: float, data: bytes) -> bool:
    """Whether a FLOAT in four bytes is beyond the limit that its column has; 0 is none."""
    return limit > 0 and len(data) >= _FLOAT.size and abs(_FLOAT.unpack_from(data)[0]) > limit


def bytes_of_list(kind: int, members: int) -> int:
    """Of an ENUM or SET of so many members."""
    if kind == types.ENUM:
        return 1 if members < 256 else 2
    needed = (members + 7) // 8
    return 8 if needed > 4 else needed


def is_partly_zero_date(kind: int, data: bytes) -> bool:
    """Whether these are the bytes of a date without a month or a day, such as 2010-00-00, and not of 0000-00-00."""
    parts = _date_of(kind, data)
    return parts is not None and not (parts[1] and parts[2]) and not is_zero_date(kind, data)


def is_impossible_date(kind: int, data: bytes) -> bool:
    """Whether these are the bytes of a date that no calendar has, such as 2010-02-30."""
    parts = _date_of(kind, data)
    return parts is not None and is_impossible(*parts)


def is_impossible(year: int, month: int, day: int) -> bool:
    """Whether the month has no such day. To the server the year 0 is no leap year (sql-common/my_time.c, calc_days_in_year)."""
    if not (month and day):
        return False
    try:
        date(year or 1, month, day)
    except ValueError:
        return True
    return False


def _date_of(kind: int, data: bytes) -> tuple[int, int, int] | None:
    """Year, month and day; of MariaDB's own times with a fraction, of before 10.1, which are packed otherwise, nothing."""
    if kind in (types.DATE, types.NEWDATE) and len(data) == _FIXED[types.DATE]:
        packed = int.from_bytes(data, "little")
        return packed >> 9, packed >> 5 & 15, packed & 31
    if kind == types.DATETIME2 and len(data) >= len(_ZERO_DATETIME):
        # The sign, years and months as one number (17 bits), 5 bits of the day, 17 of the time.
        packed = int.from_bytes(data[: len(_ZERO_DATETIME)], "big") >> 17
        return (*divmod(packed >> 5 & 0x1FFFF, 13), packed & 31)
    if kind == types.DATETIME and len(data) == _FIXED[types.DATETIME]:
        packed = int.from_bytes(data, "little") // 1_000_000
        return packed // 10_000, packed // 100 % 100, packed % 100
    return None


def is_zero_date(kind: int, data: bytes) -> bool:
    """Whether these are the bytes of 0000-00-00."""
    zero = _ZERO_DATETIME if kind == types.DATETIME2 else b""
    return bool(data) and (data.startswith(zero) and not any(data[len(zero) :]))
