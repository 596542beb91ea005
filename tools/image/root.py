"""The files of the image: Debian's packages unpacked, without what only people at a terminal read, and our own package.

No maintainer script runs: there is no shell in it that they could run in. What they would have done is done here: the list of users, the
authorities of TLS, Python's compiled modules, and for scanners of vulnerabilities what each package is (var/lib/dpkg/status.d, as in
other images without dpkg).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

SUITE = "bookworm"
SUITES = (SUITE, f"{SUITE}-updates", f"{SUITE}-security")
# A number of its own, above those that systems give out by themselves (Debian Policy 9.2.2: 100 to 999, and people from 1000 on), and our port's.
USER, USER_NUMBER = "myisam-advisor", 9942
STATE = "var/lib/myisam-advisor"
# Beside what our package depends on: the authorities of TLS. (The package that makes users is for a running system.)
FURTHER = ("ca-certificates",)
NOT_NEEDED = ("systemd", "systemd-standalone-sysusers")
# Only needed by the scripts of packages, or for people. Licences stay (usr/share/doc/*/copyright).
LEFT_OUT_PACKAGES = (
    "debconf", "dpkg", "mariadb-common", "media-types", "mysql-common", "openssl", "perl-base", "readline-common", "tar",
)  # fmt: skip
LEFT_OUT = (
    "usr/share/locale", "usr/share/man", "usr/share/info", "usr/share/lintian", "usr/share/bug", "usr/share/pixmaps", "usr/share/applications",
    "usr/share/bash-completion", "usr/share/zsh", "usr/share/fish", "usr/share/munin", "usr/share/metainfo", "usr/share/gdb", "usr/share/gcc",
    "usr/share/python3", "usr/share/binfmts", "usr/share/myisam-advisor/myisam-snapshot", "usr/share/myisam-advisor/systemd", "usr/include",
    "usr/lib/systemd", "usr/lib/sysusers.d", "usr/lib/tmpfiles.d", "usr/lib/valgrind", "usr/lib/python3.11/lib2to3", "usr/lib/python3.11/pydoc_data",
    "usr/lib/python3.11/distutils", "usr/lib/python3.11/test", "usr/lib/python3.11/turtle.py", "usr/lib/python3/dist-packages/psutil/tests", "usr/sbin",
    "etc/default", "etc/init.d", "etc/cron.daily", "var/cache", "var/lib/dpkg",
)  # fmt: skip
# usr-is-merged: packages name /bin and /lib still.
MERGED = ("bin", "sbin", "lib", "lib64")
AUTHORITIES = "etc/ssl/certs/ca-certificates.crt"
USERS = "root:x:0:0:root:/:/sbin/nologin\n{user}:x:{number}:{number}:Watches MyISAM tables:/{state}:/sbin/nologin\n"
GROUPS = "root:x:0:\n{user}:x:{number}:\n"
NSSWITCH = "passwd: files\ngroup: files\nhosts: files dns\n"


def needed_by(package: Path) -> list[str]:
    """What is asked of Debian for our own package: its dependencies, the first of alternatives, without their versions."""
    depends = _output("dpkg-deb", "--field", str(package), "Depends")
    names = [alternatives.split("|")[0].split("(")[0].strip().partition(":")[0] for alternatives in depends.split(",")]
    return sorted({*names, *FURTHER} - set(NOT_NEEDED))


def archives() -> list[str]:
    """Where this machine has the suite from, as apt's lines; nothing where it has another one: mmdebstrap then takes Debian's own."""
    # The placeholders are apt's own.
    targets = _output("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)").splitlines()
    return sorted({f"deb {line}" for line in targets if line.split()[1:] in ([suite, "main"] for suite in SUITES)})


def download(names: Sequence[str], folder: Path) -> list[Path]:
    """These packages and all that they depend on, as files whose signatures apt has checked."""
    folder.mkdir()
    subprocess.run(
        [
            "mmdebstrap", "--quiet", "--variant=extract", "--format=null", f"--include={','.join(names)}",
            f'--extract-hook=copy-out /var/cache/apt/archives "{folder}"', SUITE, "/dev/null", *archives(),
        ],
        check=True,
    )  # fmt: skip
    return sorted(folder.glob("**/*.deb"), key=lambda path: path.name)


def make_root(packages: Iterable[Path], root: Path) -> None:
    """Unpack them, and set up what is there."""
    root.mkdir()
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    described: dict[str, str] = {}
    for package in packages:
        name = _output("dpkg-deb", "--field", str(package), "Package").strip()
        if name not in LEFT_OUT_PACKAGES:
            _unpack(package, root)
            described[name] = _output("dpkg-deb", "--field", str(package))
    _join_authorities(root)
    _leave_out(root)
    _describe(root, described)
    _add_users(root)
    _compile(root)


def _unpack(package: Path, root: Path) -> None:
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as reading:
        subprocess.run(
            ["tar", "-x", "-C", str(root), "--keep-directory-symlink", "--no-same-owner"],
            stdin=reading.stdout,
            check=True,
        )
    if reading.returncode:
        raise subprocess.CalledProcessError(reading.returncode, "dpkg-deb")


def _join_authorities(root: Path) -> None:
    """What update-ca-certificates makes of all that the package brings."""
    folder = root / "usr/share/ca-certificates"
    joined = "".join(path.read_text("ascii").rstrip("\n") + "\n" for path in sorted(folder.glob("**/*.crt")))
    (root / AUTHORITIES).parent.mkdir(parents=True, exist_ok=True)
    (root / AUTHORITIES).write_text(joined, "ascii")
    shutil.rmtree(folder)


def _leave_out(root: Path) -> None:
    for name in LEFT_OUT:
        path = root / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in sorted((root / "usr/share/doc").glob("*/**/*")):
        if path.name != "copyright" and (path.is_symlink() or path.is_file()):
            path.unlink()
    for path in sorted((root / "usr/share/doc").glob("*/**/"), reverse=True):
        if not any(path.iterdir()):
            path.rmdir()
    # Character sets and programs of the packages, for none of which there is use: Python, and our own, remain.
    for folder in root.glob("usr/lib/*/gconv"):
        shutil.rmtree(folder)
    for path in (root / "usr/bin").iterdir():
        if not path.name.startswith(("python3", USER)):
            path.unlink()
    (root / "usr/sbin").mkdir()


def _describe(root: Path, described: dict[str, str]) -> None:
    folder = root / "var/lib/dpkg/status.d"
    folder.mkdir(parents=True)
    for name, fields in described.items():
        (folder / name).write_text(fields, "utf-8")


def _add_users(root: Path) -> None:
    (root / "etc/passwd").write_text(USERS.format(user=USER, number=USER_NUMBER, state=STATE))
    (root / "etc/group").write_text(GROUPS.format(user=USER, number=USER_NUMBER))
    (root / "etc/nsswitch.conf").write_text(NSSWITCH)
    # Where runtimes and people mount. None for the server's socket and files: what is not mounted shall not seem to be there.
    for name in ("proc", "sys", "dev", "run", "tmp", "etc/myisam-advisor", "etc/mysql", STATE):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", STATE):
        # Of whoever the container is started as; volumes are made after it.
        (root / name).chmod(0o1777)


def _compile(root: Path) -> None:
    """By the image's own Python: what is compiled at each start would take it a second, and a read-only root keeps nothing."""
    libraries = next(root.glob("usr/lib/*-linux-gnu*"))
    subprocess.run(
        [
            str(next(libraries.glob("ld-linux-*"))), "--library-path", str(libraries), str(next(root.glob("usr/bin/python3.[0-9]*"))),
            "-B", "-m", "compileall", "-f", "-q", "-j", "1", "--invalidation-mode", "unchecked-hash", "-s", str(root), str(root / "usr/lib"),
        ],
        env={"PYTHONHOME": str(root / "usr"), "PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1", "LC_ALL": "C.UTF-8"},
        check=True,
    )  # fmt: skip


def _output(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout
