"""Which members an ENUM or SET has, by what a .frm says of them, and what MySQL before 8.0 makes of lists that two columns share.

Columns whose members are written alike have one list (sql/unireg.cc, get_interval_id), in hexadecimal digits where characters have two bytes and more.
Until 8.0 MySQL takes these digits for bytes once for each such column, also where they are bytes by then, and for a column of single bytes that has the
same digits as its members (sql/table.cc, open_binary_frm and unhex_type2): tried on 5.5 and 5.6; 5.7 has the same source. MySQL 8.0 has a dictionary,
MariaDB takes them once (interval_unescaped): tried on 8.0 and 10.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.frm_definition import FrmError

FIRST_BEYOND_ASCII = 128
_DIGITS = b"0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Members:
    """How many a column has; which they are, where a collation could take two for one or the list is misread, else (); and what is misread."""

    count: int
    told: tuple[bytes, ...] = ()
    misread: tuple[bytes, ...] = ()


NO_MEMBERS = Members(0)


class MemberLists:
    """The lists of a table, each worked out once for a collation: thousands of columns may share one of thousands of members.

    `data` is where the lists stand in the file, `columns` are the list (0 is none) and the collation of each. Raises FrmError, as `of` does.
    """

    def __init__(self, data: bytes, columns: Sequence[tuple[int, int]]) -> None:
        self._lists = members_of(data)
        self._sharing = shared_lists(columns)
        self._misread: dict[int, tuple[bytes, ...]] = {}
        self._known: dict[tuple[int, int], Members] = {}

    def of(self, number: int, collation: int) -> Members:
        """The members of a column, by the number of its list, from 1."""
        if not 0 < number <= len(self._lists):
            return NO_MEMBERS
        if number not in self._misread:
            self._misread[number] = misread_members(self._lists[number - 1], self._sharing.get(number, ()))
        if (number, collation) not in self._known:
            members, misread = plain_members(self._lists[number - 1], collation), self._misread[number]
            told = that_may_repeat(members, collation) or (tuple(members) if misread else ())
            self._known[number, collation] = Members(len(members), told, misread)
        return self._known[number, collation]


def members_of(data: bytes) -> list[list[bytes]]:
    """The members of each ENUM or SET; its first byte is what stands between them, behind the last one with a zero. Raises FrmError."""
    found, position = [], 0
    while position < len(data):
        separator = data[position : position + 1]
        end = data.find(separator + b"\0", position + 1)
        if end < 0:
            raise FrmError("the members of an ENUM or SET do not end")
        found.append(data[position + 1 : end].split(separator) if end > position else [])
        position = end + 2
    return found


def plain_members(members: Sequence[bytes], collation: int) -> Sequence[bytes]:
    """As they are in the column's character set: those of two bytes a character and more stand in hexadecimal (sql/table.cc, unhex_type2). Raises FrmError."""
    if character_set(collation)[1] == 1:
        return members
    try:
        return [bytes.fromhex(member.decode("ascii")) for member in members]
    except ValueError:
        raise FrmError("the members of an ENUM or SET are not hexadecimal digits") from None


def that_may_repeat(members: Sequence[bytes], collation: int) -> tuple[bytes, ...]:
    """All of them where a collation could take two for one: they differ in capitals alone, or hold other letters than those of English. Else none."""
    alike = len({member.lower() for member in members}) < len(members)
    return tuple(members) if alike or not all(_is_ascii(member, collation) for member in members) else ()


def _is_ascii(member: bytes, collation: int) -> bool:
    """Whether each character is: of those of two bytes and more the others are zero. Cyrillic letters have no byte beyond ASCII there."""
    charset, width, _ = character_set(collation)
    last_bytes = member[0 if charset == "utf16le" else width - 1 :: width]
    return max(last_bytes, default=0) < FIRST_BEYOND_ASCII and sum(last_bytes) == sum(member)


def misread_members(members: Sequence[bytes], collations: Sequence[int]) -> tuple[bytes, ...]:
    """What MySQL before 8.0 reads of a list as it stands in the file, which columns of these collations share; () where it reads what was meant."""
    times = sum(character_set(collation)[1] > 1 for collation in collations)
    if len(collations) < 2 or not times or not any(members):
        return ()
    return tuple(_unhexed(member, times) for member in members)


def _unhexed(member: bytes, times: int) -> bytes:
    """As the server does it in place: up to a zero byte, what is no digit counts as -1, and the length is halved whatever stood there."""
    text, length = bytearray(member + b"\0\0"), len(member)
    # Nothing is left after so many halves, however many columns share it.
    for _ in range(min(times, length.bit_length())):
        position = 0
        while text[position]:
            text[position // 2] = (_digit(text[position]) * 16 + _digit(text[position + 1])) & 255
            position += 2
        length //= 2
    return bytes(text[:length])


def _digit(letter: int) -> int:
    return _DIGITS.find(bytes((letter,)).lower())


def shared_lists(columns: Sequence[tuple[int, int]]) -> Mapping[int, list[int]]:
    """The collations of the columns of each list, by the number of the list; `columns` are list (0 is none) and collation."""
    found: dict[int, list[int]] = {}
    for number, collation in columns:
        if number:
            found.setdefault(number, []).append(collation)
    return found
