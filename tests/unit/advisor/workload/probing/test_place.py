"""Where a probe goes, by a server's binary: real ones, and made ones that are broken or unknown."""

import io
import struct
from pathlib import Path

import pytest

from myisam_advisor.workload.probing import place
from myisam_advisor.workload.probing.elf import Elf, NoElfError
from myisam_exporter.errors import UserError
from tools.fetched_servers import FETCHED_SERVERS, FURTHER_SERVERS, find_server

KNOWN = "_Z16dispatch_command19enum_server_commandP3THDPcjb"
CODE_AT = 0x200


def made(name: str = KNOWN, code: bytes = b"\x55\x48\x89\xe5", machine: int = 62, kind: int = 2) -> bytes:
    """A program with one exported function."""
    names = b"\0" + name.encode() + b"\0"
    note = struct.pack("<III", 4, 4, 3) + b"GNU\0" + b"\xab\xcd\xef\x01"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x10 | kind, 0, 1, 0x400000 + CODE_AT, 4)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 0x1000, 0x1000, 0x1000)
    at = 64 + len(segment)
    places = [(11, at, len(symbols), 1), (3, at + len(symbols), len(names), 0), (7, at + len(symbols) + len(names), len(note), 0)]
    body = segment + symbols + names + note
    code_gap = bytes(CODE_AT - 64 - len(body)) + code.ljust(8, b"\x90")
    sections = b"".join(struct.pack("<IIQQQQIIQQ", 0, number, 0, 0, offset, size, link, 0, 0, 0) for number, offset, size, link in places)
    sections_at = 64 + len(body) + len(code_gap)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, machine, 1, 0, 64, sections_at, 0, 64, 56, 1, 64, len(places), 0)
    return head + body + code_gap + sections


def found(program: bytes, folder: Path) -> place.Place:
    (folder / "7").mkdir()
    (folder / "7" / "exe").write_bytes(program)
    return place.place_of(7, folder)


@pytest.mark.parametrize("kind", [*FETCHED_SERVERS, *FURTHER_SERVERS])
def test_each_real_server_has_a_place(kind: str, tmp_path: Path) -> None:
    server = find_server(kind)
    if server is None:
        pytest.skip(f"{kind} was not fetched")
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "exe").symlink_to(Path(server.mysqld).resolve())
    told = place.place_of(7, tmp_path)
    with Path(server.mysqld).open("rb") as file:
        assert Elf(file).read(told.offset, 1)[0] in {0x41, *range(0x50, 0x58)}


def test_arguments_follow_from_the_name_and_a_landing_pad_is_passed_over(tmp_path: Path) -> None:
    told = found(made(code=b"\xf3\x0f\x1e\xfa\x55"), tmp_path)
    assert (told.offset, told.layout.text, told.build_id) == (CODE_AT + 4, "dx", "abcdef01")


def test_the_text_of_newer_servers_is_in_a_union(tmp_path: Path) -> None:
    told = found(made("_Z16dispatch_commandP3THDPK8COM_DATA19enum_server_command", b"\x41\x57"), tmp_path)
    assert (told.offset, told.layout.text, told.layout.union) == (CODE_AT, "", "si")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (made("_Z16dispatch_commandP3THDPw"), "unknown build.*abcdef01.*_Z16dispatch_commandP3THDPw.*LAYOUTS"),
        (made("main"), r"process 7 \(which is gone\) is not a server: .*Name the server's own socket"), (made(kind=1), "is not a server"),
        (made(code=b"\x48\x89\x5c\x24"), "begins with 48895c24, no push"), (made(machine=183), "another processor"),
        (b"", "too long"), (b"#!/bin/sh\n".ljust(100), "not an ELF"), (made()[:-1], "outside of the file"),
        (made()[:40] + struct.pack("<Q", 1 << 62) + made()[48:], "outside of the file|no known form"),
        (made()[:60] + b"\xff\xff" + made()[62:], "no known form"),
    ],
    ids=["unknown", "another", "no function", "no push", "arm", "empty", "script", "cut off", "far", "many"],
)  # fmt: skip
def test_what_is_not_known_is_refused_with_the_reason(program: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        found(program, tmp_path)


@pytest.mark.parametrize(("comm", "said"), [("mysqld", "unknown build.*functions dispatch_command: none"), ("proxysql", r"process 7 \(proxysql\) is not a server")])
def test_who_has_no_such_function_is_a_server_by_its_name_alone(comm: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "comm").write_text(f"{comm}\n", "ascii")
    (tmp_path / "7" / "exe").write_bytes(made("main"))
    with pytest.raises(UserError, match=said):
        place.place_of(7, tmp_path)


def test_no_byte_of_a_broken_program_does_harm() -> None:
    program = made()
    for at in range(len(program)):
        for value in (0, 0x7F, 0xFF):
            try:
                elf = Elf(io.BytesIO(program[:at] + bytes([value]) + program[at + 1 :]))
                list(elf.functions(place.PREFIX))
                elf.build_id()
            except NoElfError:
                pass


def test_what_a_loader_has_loaded_is_found(tmp_path: Path) -> None:
    (tmp_path / "7" / "map_files").mkdir(parents=True)
    (tmp_path / "7" / "exe").write_bytes(made("main"))
    (tmp_path / "7" / "maps").write_bytes(b"400000-500000 r-xp 00000000 00:01 7   /usr/sbin/mysqld (deleted)\n600000-700000 r-xp 0 00:01 8 /lib/libc.so\n")
    (tmp_path / "7" / "map_files" / "400000-500000").write_bytes(made())
    assert place.place_of(7, tmp_path).binary.endswith("map_files/400000-500000")


def test_an_unknown_build_that_a_loader_has_loaded_is_named(tmp_path: Path) -> None:
    (tmp_path / "7" / "map_files").mkdir(parents=True)
    (tmp_path / "7" / "exe").write_bytes(made("main"))
    (tmp_path / "7" / "maps").write_bytes(b"400000-500000 r-xp 00000000 00:01 7   /usr/sbin/mysqld\n")
    (tmp_path / "7" / "map_files" / "400000-500000").write_bytes(made("_Z16dispatch_commandP3THDPw"))
    with pytest.raises(UserError, match=r"unknown build.*_Z16dispatch_commandP3THDPw"):
        place.place_of(7, tmp_path)


def test_a_program_that_has_no_name_any_more_is_a_replaced_one(tmp_path: Path) -> None:
    told = found(made(), tmp_path)
    assert not told.is_replaced
    exe = Path(told.binary)
    exe.unlink()
    exe.symlink_to("/usr/sbin/mysqld (deleted)")
    assert told.is_replaced


def test_a_process_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        place.place_of(7, tmp_path)
