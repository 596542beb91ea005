"""What somebody would try who had taken over the service: run by its own Python, under its own unit. Prints one JSON document.

Usage: intruder.py PID FILE... : PID is another user's process; the secret files are tried by name, by that process's root, and by handle.
After the first round it says so in STATE/ready and waits for STATE/go, so that what is hidden at the start can be replaced meanwhile.
"""

import ctypes
import errno
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

STATE = Path("/var/lib/myisam-advisor")
WAIT_SECONDS = 20
LIBC = ctypes.CDLL(None, use_errno=True)
# Numbers of asm/unistd.h: the older ones differ by machine.
OLDER = {"x86_64": {"kcmp": 312, "userfaultfd": 323, "open_by_handle_at": 304}, "aarch64": {"kcmp": 272, "userfaultfd": 282, "open_by_handle_at": 265}}
CALLS = {"process_madvise": 440, "pidfd_getfd": 438, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, **OLDER[platform.machine()]}


def outcome(attempt: Callable[[], object]) -> str:
    """`done`, `empty`, or the name of the error."""
    try:
        return "empty" if attempt() == b"" else "done"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))


def call(function: Callable[..., int], *arguments: object) -> None:
    """A function of libc's. Raises OSError with its errno."""
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def read(path: str) -> bytes:
    """Some bytes of a file."""
    with open(path, "rb") as file:
        return file.read(64)


def opened(path: str, flags: int = os.O_RDONLY) -> None:
    """Open, and neither read nor change anything."""
    os.close(os.open(path, flags))


def own_memory(function: Callable[..., int]) -> None:
    """process_vm_readv and its sister on this process itself: what only a filter refuses."""
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    call(function, os.getpid(), vector, ctypes.c_ulong(1), vector, ctypes.c_ulong(1), ctypes.c_ulong(0))


def main() -> None:
    """Try everything, twice where files may have been replaced."""
    pid, files = sys.argv[1], sys.argv[2:]
    tried = {f"first {file}": outcome(lambda file=file: read(file)) for file in files}  # type: ignore[misc]
    tried |= {f"root {file}": outcome(lambda file=file: read(f"/proc/{pid}/root{file}")) for file in files}  # type: ignore[misc]
    tried |= {f"process {name}": outcome(lambda name=name: opened(f"/proc/{pid}/{name}")) for name in ("mem", "environ", "maps")}  # type: ignore[misc]
    tried["process mem written"] = outcome(lambda: opened(f"/proc/{pid}/mem", os.O_RDWR))
    tried["process ptrace"] = outcome(lambda: call(LIBC.ptrace, 0x4206, int(pid), None, None))  # PTRACE_SEIZE
    tried["own process_vm_readv"] = outcome(lambda: own_memory(LIBC.process_vm_readv))
    tried["own process_vm_writev"] = outcome(lambda: own_memory(LIBC.process_vm_writev))
    # With arguments that the kernel would answer EBADF, EINVAL or EFAULT to: EPERM is the filter's.
    tried |= {f"own {name}": outcome(lambda number=number: call(LIBC.syscall, number, -1, -1, 0, -1, 0)) for name, number in CALLS.items()}  # type: ignore[misc]
    tables = sorted(str(path) for path in Path("/var/lib/mysql").glob("*/*.MYD"))
    tried["tables seen"] = "done" if tables else "ENOENT"
    tried["tables written"] = " ".join({outcome(lambda file=file: opened(file, os.O_WRONLY)) for file in tables})  # type: ignore[misc]
    tried["tables written by the root of the process"] = " ".join({outcome(lambda file=file: opened(f"/proc/{pid}/root{file}", os.O_WRONLY)) for file in tables})  # type: ignore[misc]
    tried["root written"] = outcome(lambda: Path("/intruder").touch())
    (STATE / "ready").touch()
    deadline = time.monotonic() + WAIT_SECONDS
    while not (STATE / "go").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    tried |= {f"second {file}": outcome(lambda file=file: read(file)) for file in files}  # type: ignore[misc]
    (STATE / "tried.json").write_text(json.dumps(tried))


if __name__ == "__main__":
    main()
